"""What the language models of 2026 have in their attention, counted from the model files of transformers."""

import re

# What a file has, by a pattern: in its classes called …Attention, those for pictures and sound left out.
IN_ATTENTION = {
    "grouped heads": r"num_key_value_groups = ",
    "QK-norm": r"self\.(?:[qk]_norm|[qk]_layernorm|query_layernorm|key_layernorm|qk_norm)\(",
    "latent keys and values": r"kv_lora_rank",
    "output gate": r"attn_output\w* \* .*sigmoid|sigmoid\(\w+\) \* attn_output|\* gate\.unsqueeze",
    "sinks": r"self\.sinks? = |self\.sink_proj\(",
    "sparse selection": r"[Ii]ndexer",
    "soft cap": r"soft_?cap",
}
ANYWHERE = {
    "window layers": r"sliding_window|sliding_attention",
    "delta or state-space layers": r"^class \w+(?:DeltaNet|DeltaAttention|Mamba\w*)\(",
}
FOUND = {  # by `census`, in transformers 5.24.0
    "all": (
        "apertus1p5 axk1 axk2 bailing_hybrid beam cohere2_moe cohere_compass deepseek_v4 dory "
        "dots3_note exaone_moe flint gemma4 gemma4_unified glm_moe_dsa granite_swa granitemoe_swa "
        "hrm_text hy_v3 hy_v4 hyperclovax inkling inkling2 inkling2_loop kimi_linear kolibri1 "
        "laguna lara_mini lfm3 mellum mimo_v2_flash minicpm3 minimax_m3_vl mistral4 olmo_hybrid "
        "qwen4_exp solar_open youtu zaya"
    ),
    "window layers": (
        "beam cohere2_moe cohere_compass deepseek_v4 dory dots3_note exaone_moe flint gemma4 "
        "gemma4_unified granite_swa granitemoe_swa inkling inkling2 inkling2_loop kolibri1 laguna "
        "lara_mini lfm3 mellum mimo_v2_flash zaya"
    ),
    "delta or state-space layers": "bailing_hybrid kimi_linear lara_mini olmo_hybrid qwen4_exp",
    "grouped heads": (
        "apertus1p5 beam cohere2_moe cohere_compass deepseek_v4 dory exaone_moe flint gemma4 "
        "gemma4_unified granite_swa granitemoe_swa hrm_text hy_v3 hyperclovax inkling inkling2 "
        "inkling2_loop kolibri1 laguna lara_mini lfm3 mellum mimo_v2_flash minimax_m3_vl "
        "olmo_hybrid qwen4_exp solar_open zaya"
    ),
    "QK-norm": (
        "apertus1p5 beam dory exaone_moe flint gemma4 gemma4_unified hy_v3 inkling kolibri1 "
        "laguna lara_mini lfm3 mellum minimax_m3_vl olmo_hybrid qwen4_exp zaya"
    ),
    "latent keys and values": (
        "axk1 axk2 bailing_hybrid dots3_note glm_moe_dsa hy_v4 kimi_linear minicpm3 mistral4 youtu"
    ),
    "output gate": ("axk2 bailing_hybrid beam dots3_note hrm_text hy_v4 laguna lfm3 qwen4_exp"),
    "sinks": ("deepseek_v4 flint granite_swa granitemoe_swa hy_v4 inkling2 inkling2_loop mimo_v2_flash"),
    "sparse selection": "axk2 deepseek_v4 dots3_note glm_moe_dsa hy_v4 minimax_m3_vl qwen4_exp",
    "soft cap": "",
    "none of these but groups": "hyperclovax solar_open",
}


def census(folder, year=2026):
    """Return what is found in the model files of a year: dict of what -> names of files, in one text.

    ``folder`` is transformers' folder ``models``, a path. A language model of that year is a file
    ``modeling_….py`` whose header says "Copyright" and the year, and which defines a class of attention for
    text and one called ``…ForCausalLM``. An option counts, even where a published model does without it.
    With latent keys and values, groups are not counted. Raises ``ValueError`` where no file is of that year.
    Used in deeper/09_since_2023.
    """
    found = {what: [] for what in ["all", *ANYWHERE, *IN_ATTENTION, "none of these but groups"]}
    for path in sorted(folder.glob("*/modeling_*.py")):
        text, name = path.read_text(encoding="utf-8"), path.stem.removeprefix("modeling_")
        attention = "".join(_classes_of_attention(text))
        is_of_year = re.search(rf"Copyright.*\b{year}\b", text[:3000])
        if not (is_of_year and attention and re.search(r"^class \w+ForCausalLM\(", text, re.MULTILINE)):
            continue
        has = [what for what, pattern in ANYWHERE.items() if re.search(pattern, text, re.MULTILINE)]
        has += [what for what, pattern in IN_ATTENTION.items() if re.search(pattern, attention)]
        has = [what for what in has if what != "grouped heads" or "latent keys and values" not in has]
        for what in ["all", *(has if has != ["grouped heads"] else [*has, "none of these but groups"])]:
            found[what].append(name)
    if not found["all"]:
        raise ValueError(f"no model file of {year} is in {folder}.")
    return {what: " ".join(names) for what, names in found.items()}


def _classes_of_attention(text):
    for lines in re.split(r"^(?=\S)", text, flags=re.MULTILINE):  # each part begins at the left
        if re.match(r"class (?!\w*(?:Vision|Audio|Indexer))\w*Attention\(", lines):
            yield lines
