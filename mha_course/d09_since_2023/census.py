"""What the language models of 2026 have in their attention, counted from the model files of transformers."""

import re

# What a file may have, each with a mark. In its classes called …Attention, pictures and sound left out:
OF_ATTENTION = r"class (?!\w*(?:Vision|Audio|Indexer))\w*Attention\("
IN_ATTENTION = {
    "grouped heads": ("g", r"num_key_value_groups = "),
    "QK-norm": ("n", r"self\.(?:[qk]_norm|[qk]_layernorm|query_layernorm|key_layernorm|qk_norm)\("),
    "latent keys and values": ("l", r"kv_lora_rank"),
    "output gate": ("o", r"attn_output\w* \* .*sigmoid|sigmoid\(\w+\) \* attn_output|\* gate\.unsqueeze"),
    "sinks": ("s", r"self\.sinks? = |self\.sink_proj\("),
    "sparse selection": ("i", r"[Ii]ndexer"),
    "soft cap": ("c", r"soft_?cap"),
}
ANYWHERE = {
    "window layers": ("w", r"sliding_window|sliding_attention"),
    "delta or state-space layers": ("d", r"^class \w+(?:DeltaNet|DeltaAttention|Mamba\w*)\("),
}
# Of `census`, in transformers 5.24.0: the name of each file, and the marks of what it has.
IN_TRANSFORMERS = """
    apertus1p5:gn axk1:l axk2:loi bailing_hybrid:dlo beam:wgno cohere2_moe:wg cohere_compass:wg
    deepseek_v4:wgsi dory:wgn dots3_note:wloi exaone_moe:wgn flint:wgns gemma4:wgn gemma4_unified:wgn
    glm_moe_dsa:li granite_swa:wgs granitemoe_swa:wgs hrm_text:go hy_v3:gn hy_v4:losi hyperclovax:g
    inkling:wgn inkling2:wgs inkling2_loop:wgs kimi_linear:dl kolibri1:wgn laguna:wgno lara_mini:wdgn
    lfm3:wgno mellum:wgn mimo_v2_flash:wgs minicpm3:l minimax_m3_vl:gni mistral4:l olmo_hybrid:dgn
    qwen4_exp:dgnoi solar_open:g youtu:l zaya:wgn
"""


def _listed(marks):
    """Return what is found, from the marks of each file: dict of what -> names of files, in one text."""
    found = {"all": [*marks]}
    for what, (mark, _) in (ANYWHERE | IN_ATTENTION).items():
        found[what] = [name for name, has in marks.items() if mark in has]
    found["none of these but groups"] = [name for name, has in marks.items() if has == "g"]
    return {what: " ".join(names) for what, names in found.items()}


FOUND = _listed(dict(each.split(":") for each in IN_TRANSFORMERS.split()))


def census(folder):
    """Return what is found in the model files of 2026: dict of what -> names of files, in one text.

    ``folder`` is transformers' folder ``models``, a path. A language model of that year is a file
    ``modeling_….py`` whose header says "Copyright" and 2026, and which defines a class of attention for
    text and one called ``…ForCausalLM``. An option counts, even where a published model does without it.
    With latent keys and values, groups are not counted. Used in deeper/09_since_2023.
    """
    marks = {}
    for path in sorted(folder.glob("*/modeling_*.py")):
        text, name = path.read_text(encoding="utf-8"), path.stem.removeprefix("modeling_")
        parts = re.split(r"^(?=\S)", text, flags=re.MULTILINE)  # each begins at the left
        attention = "".join(part for part in parts if re.match(OF_ATTENTION, part))
        is_of_year = re.search(r"Copyright.*\b2026\b", text[:3000])
        if not (is_of_year and attention and re.search(r"^class \w+ForCausalLM\(", text, re.MULTILINE)):
            continue
        has = [mark for mark, pattern in ANYWHERE.values() if re.search(pattern, text, re.MULTILINE)]
        has += [mark for mark, pattern in IN_ATTENTION.values() if re.search(pattern, attention)]
        marks[name] = "".join(has).replace("g", "" if "l" in has else "g")
    return _listed(marks)
