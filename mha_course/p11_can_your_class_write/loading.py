"""What exercise 11.1 compares: the matrices of one layer, under the names of the file and under ours."""

from mha_course.exercises import FunctionExercise, compare, numbers


def random_state(num_heads, key_heads, d_k):
    """Return a dict with the names of a GGUF file and random numbers, for twelve layers."""
    d_model, shared = num_heads * d_k, key_heads * d_k
    sizes = {"attn_q": (d_model, d_model), "attn_k": (shared, d_model), "attn_v": (shared, d_model)}
    sizes |= {"attn_output": (d_model, d_model), "attn_norm": (d_model,), "ffn_norm": (d_model,)}
    sizes |= {"ffn_gate": (3 * d_model, d_model), "ffn_down": (d_model, 3 * d_model)}
    state = {}
    for layer in range(12):
        for name, size in sizes.items():
            state[f"blk.{layer}.{name}.weight"] = numbers(*size, seed=len(state))
    return state


class Loading(FunctionExercise):
    """An exercise whose result is a dict of tensors out of a state dict, and of nothing else."""

    def _broken_rule(self, answer, cases, outcomes):
        asked = self.reference(*cases[0].args)
        new = [name for name in outcomes[0].value if name not in asked]
        return f"there is “{new[0]}”, too: `load_state_dict` refuses what is new." if new else None

    def _words(self, answer, cases, outcomes, first, difference):
        """Say of the first wrong tensor under which name it stands in the file."""
        (state, *rest), got = cases[first].args, outcomes[first].value
        rights = self.reference(state, *rest).items() if isinstance(got, dict) else ()
        wrong = [ours for ours, right in rights if ours in got and compare.difference(got[ours], right)]
        rows = len(state[f"blk.{rest[0]}.attn_k.weight"])
        if wrong and getattr(got[wrong[0]], "shape", (0,))[0] == rows < len(state["blk.0.attn_q.weight"]):
            return f"“{wrong[0]}” has the rows of the key heads alone: how many heads share each of them?"
        for name, tensor in state.items() if wrong else ():
            if not compare.difference(got[wrong[0]], tensor):
                return f"For layer {rest[0]}, “{wrong[0]}” holds {name}: is that the tensor it needs?"
        return super()._words(answer, cases, outcomes, first, difference)
