"""What exercise 11.1 compares: the tensors of one layer, under the names of a BERT and under ours."""

from mha_course.exercises import FunctionExercise, compare, numbers


def random_state(d_model):
    """Return a state dict with the names of a BERT and random numbers."""
    square = ("self.query", "self.key", "self.value", "output.dense")
    sizes = {f"attention.{name}": (d_model, d_model) for name in square}
    sizes |= {"intermediate.dense": (4 * d_model, d_model), "output.dense": (d_model, 4 * d_model)}
    sizes |= {"attention.output.LayerNorm": (d_model,), "output.LayerNorm": (d_model,)}
    state = {}
    for layer in range(5):
        for name, shape in sizes.items():
            for kind, size in (("weight", shape), ("bias", shape[:1])):
                state[f"encoder.layer.{layer}.{name}.{kind}"] = numbers(*size, seed=len(state))
    return state


class Loading(FunctionExercise):
    """An exercise whose result is a dict of tensors out of a state dict, and of nothing else."""

    def _broken_rule(self, answer, cases, outcomes):
        asked = self.reference(*cases[0].args)
        new = [name for name in outcomes[0].value if name not in asked]
        return f"there is “{new[0]}”, too: `load_state_dict` refuses what is new." if new else None

    def _words(self, answer, cases, outcomes, first, difference):
        """Say of the first wrong tensor under which name it stands in the state dict."""
        (state, layer), got = cases[first].args, outcomes[first].value
        rights = self.reference(state, layer).items() if isinstance(got, dict) else ()
        wrong = [ours for ours, right in rights if ours in got and compare.difference(got[ours], right)]
        for name, tensor in state.items() if wrong else ():
            if not compare.difference(got[wrong[0]], tensor):
                return f"For layer {layer}, “{wrong[0]}” holds {name}: is that the tensor it needs?"
        return super()._words(answer, cases, outcomes, first, difference)
