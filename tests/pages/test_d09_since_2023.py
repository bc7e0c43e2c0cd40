"""The classes of deeper/09_since_2023 are the modules of transformers, and its tables come from there."""

import inspect
import re
from pathlib import Path

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from mha_course.d09_since_2023 import FOUND, census
from mha_course.d09_since_2023.exercises import CONFIGURATIONS
from mha_helpers import causal_mask
from tools.notebook import ROOT
from tools.page import Page

PAGE = Page(ROOT / "notebooks" / "deeper" / "09_since_2023.ipynb")
N, D_MODEL, HEADS, KEY_HEADS, D_K = 7, 24, 4, 2, 6
SIZES = {
    "hidden_size": D_MODEL, "num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS, "head_dim": D_K,
    "num_hidden_layers": 2, "vocab_size": 10, "intermediate_size": 8, "attn_implementation": "eager",
    "rope_parameters": {"rope_type": "default", "rope_theta": 100_000.0}, "attention_bias": False,
}  # fmt: skip
NAMES = {"w_q": "q_proj", "w_k": "k_proj", "w_v": "v_proj", "w_o": "o_proj"}


@pytest.fixture(scope="module")
def transformers():  # here, so that its two seconds are spent where it is asked
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def page():
    """What the cells with definitions leave behind, by name."""
    names = {"torch": torch}
    for cell in PAGE.code:
        defines = re.search(r"^(class|def|from|window) ?", cell.source, re.MULTILINE)
        if defines and "exercises." not in cell.source:
            exec(re.sub(r"\n\n\ntorch\.manual_seed.*", "", cell.source, flags=re.DOTALL), names)
    return names


@torch.no_grad()
def judged(module, rotary, config, mask):
    """Return random words, and what a module of transformers makes of them with random numbers."""
    torch.manual_seed(1)
    judge = module(config, 0).eval()
    for number in judge.parameters():
        number.copy_(torch.randn(number.shape) / number.shape[-1] ** 0.5 + (number.dim() == 1))
    x = torch.randn(2, N, D_MODEL)
    positions = rotary(config)(x, torch.arange(N)[None])
    added = torch.zeros(N, N).masked_fill(~mask, -torch.inf)[None, None]
    return judge.state_dict(), x, judge(x, position_embeddings=positions, attention_mask=added)


def neighbours(weight):
    """Order the rows of each head for turning neighbours, where transformers turns halves."""
    return weight.unflatten(0, (-1, 2, D_K // 2)).transpose(1, 2).flatten(0, 2)


def loaded(layer, state, turned, extra):
    """Load a layer of the page from a state of transformers; ``turned`` names what is rotated."""
    numbers = {f"{own}.weight": state[f"{theirs}.weight"] for own, theirs in NAMES.items()}
    numbers |= {name: state[name] for name in extra}
    layer.load_state_dict({name: neighbours(v) if name in turned else v for name, v in numbers.items()})
    return layer.requires_grad_(False)


ROTATED = ("w_q.weight", "w_k.weight", "q_norm.weight", "k_norm.weight")


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("window", [N, 3])
def test_qk_norm_is_that_of_qwen3(transformers, page, window):
    qwen3 = transformers.models.qwen3.modeling_qwen3
    mask = causal_mask(N).triu(1 - window)
    config = transformers.Qwen3Config(**SIZES)
    state, x, theirs = judged(qwen3.Qwen3Attention, qwen3.Qwen3RotaryEmbedding, config, mask)
    layer = loaded(page["QKNorm"](D_MODEL, HEADS, KEY_HEADS), state, ROTATED, ROTATED[2:])
    close(layer(x, mask), theirs)
    assert not torch.allclose(layer.q_norm.weight, torch.ones(D_K), atol=0.1)  # the gains were loaded


def test_sinks_are_those_of_gpt_oss_and_rows_add_up_to_less_than_1(transformers, page):
    gpt_oss = transformers.models.gpt_oss.modeling_gpt_oss
    config, mask = transformers.GptOssConfig(**SIZES), causal_mask(N)
    state, x, theirs = judged(gpt_oss.GptOssAttention, gpt_oss.GptOssRotaryEmbedding, config, mask)
    layer = loaded(page["Sinks"](D_MODEL, HEADS, KEY_HEADS), state, ROTATED, ["sinks"])
    close(layer(x, mask), theirs)
    assert (layer(x, mask)[1].sum(dim=-1) < 0.99).all()


@pytest.mark.parametrize("name", ["LatentAttention", "Absorbed"])
def test_latent_attention_is_that_of_deepseek_v3_also_when_no_key_is_made(transformers, page, name):
    deepseek = transformers.models.deepseek_v3.modeling_deepseek_v3
    sizes = {"qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "kv_lora_rank": 10, "v_head_dim": 5}
    sizes |= {"q_lora_rank": None, "head_dim": 4, "num_key_value_heads": HEADS}
    config, mask = transformers.DeepseekV3Config(**SIZES | sizes), causal_mask(N)
    state, x, theirs = judged(deepseek.DeepseekV3Attention, deepseek.DeepseekV3RotaryEmbedding, config, mask)
    names = {"w_q": "q_proj", "w_down": "kv_a_proj_with_mqa", "norm": "kv_a_layernorm", "w_up": "kv_b_proj"}
    names["w_o"] = "o_proj"
    layer = page[name](D_MODEL, HEADS, nope=8, rope=4, latent=10, d_v=5).requires_grad_(False)
    layer.load_state_dict({f"{own}.weight": state[f"{theirs}.weight"] for own, theirs in names.items()})
    close(layer(x, mask), theirs[0])
    assert sum(part.shape[-1] for part in layer.kept(x)) == 14


def test_windows_and_what_is_learned_through_layers_are_those_of_a_model_of_transformers(transformers, page):
    types = ["sliding_attention", "sliding_attention", "full_attention"]
    more = {"num_hidden_layers": 3, "layer_types": types, "sliding_window": 3, "num_local_experts": 2}
    torch.manual_seed(0)
    model = transformers.GptOssModel(transformers.GptOssConfig(**SIZES | more, num_experts_per_tok=2)).eval()
    x = torch.randn(1, 12, D_MODEL, requires_grad=True)
    result = model(inputs_embeds=x, output_attentions=True, output_hidden_states=True)
    for weights, mask in zip(result.attentions, [page["window"]] * 2 + [page["full"]], strict=True):
        assert torch.equal(weights[0, 0] > 0, mask)
    for count, stack in ((2, [page["window"]] * 2), (3, [page["window"]] * 2 + [page["full"]])):
        output = result.hidden_states[count] if count < 3 else result.last_hidden_state
        moved = torch.autograd.grad(output[0, -1].sum(), x, retain_graph=True)[0][0].abs().sum(dim=-1) > 0
        assert torch.equal(moved, page["learned"](stack)[-1] > 0)


def test_what_the_models_of_2026_have_is_counted_in_the_files_of_transformers(transformers):
    if f"transformers=={transformers.__version__}\n" not in (ROOT / "constraints.txt").read_text():
        pytest.skip("each version of transformers has other models")
    folder = Path(inspect.getfile(transformers)).parent / "models"
    assert census(folder) == FOUND


def test_the_configurations_of_the_exercise_are_the_published_ones(transformers):
    models = transformers.models
    for name, config, module, layer in (
        ("A", transformers.GptOssConfig(), models.gpt_oss.modeling_gpt_oss.GptOssAttention, 1),
        ("B", transformers.MiniCPM3Config(), models.minicpm3.modeling_minicpm3.MiniCPM3Attention, 0),
        ("C", transformers.Qwen3NextConfig(), models.qwen3_next.modeling_qwen3_next.Qwen3NextAttention, 3),
    ):
        said, types = CONFIGURATIONS[name], getattr(config, "layer_types", None) or []
        for key, value in re.findall(r"(\w+(?:_\w+)+) (\d+)\b(?! \w+_attention)", said):
            assert getattr(config, key) == int(value), key
        assert f"{config.num_hidden_layers} layers" in said
        assert name == "B" or all(f"{types.count(kind)} {kind}" in said for kind in types)
        with torch.device("meta"):
            weights = module(config, layer).named_parameters()
        shapes = {each.removesuffix(".weight"): [*w.shape] for each, w in weights if "bias" not in each}
        shown = dict(re.findall(r"(\w+) \(([\d, ]+)\)", said))
        assert shown == {each: ", ".join(map(str, shape)) for each, shape in shapes.items()}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_the_line_for_flex_attention_is_a_window_of_3():
    [line] = re.findall(r"lambda b, h, i, j: [^,]*(?=, …)", PAGE.text)
    q, k, v = torch.randn(3, 1, 2, 16, 8)
    blocks = create_block_mask(eval(line), None, None, 16, 16, device="cpu")
    mask = causal_mask(16).triu(-2)
    close(flex_attention(q, k, v, block_mask=blocks), scaled_dot_product_attention(q, k, v, attn_mask=mask))
