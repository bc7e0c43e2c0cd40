"""The exercise of deeper/09_since_2023: what three configurations ask of a class, and of its cache."""

from mha_course.exercises import ValueExercise

CONFIGURATIONS = {  # numbers and names as in the files of gpt-oss 120B, MiniCPM3 4B and Qwen3-Next 80B
    "A": """
    36 layers, layer_types: 18 sliding_attention, 18 full_attention; sliding_window 128
    hidden_size 2880, num_attention_heads 64, num_key_value_heads 8, head_dim 64
    weights: q_proj (4096, 2880), k_proj (512, 2880), v_proj (512, 2880), o_proj (2880, 4096), sinks (64)""",
    "B": """
    62 layers; hidden_size 2560, num_attention_heads 40, num_key_value_heads 40
    kv_lora_rank 256, qk_nope_head_dim 64, qk_rope_head_dim 32, v_head_dim 64
    weights: q_a_proj (768, 2560), q_a_layernorm (768), q_b_proj (3840, 768),
    kv_a_proj_with_mqa (288, 2560), kv_a_layernorm (256), kv_b_proj (5120, 256), o_proj (2560, 2560)""",
    "C": """
    48 layers, layer_types: 36 linear_attention, 12 full_attention
    hidden_size 2048, num_attention_heads 16, num_key_value_heads 2, head_dim 256
    weights: q_proj (8192, 2048), k_proj (512, 2048), v_proj (512, 2048), o_proj (2048, 4096),
    q_norm (256), k_norm (256)""",
}


_SIGNS = {  # of each choice, what shows whether it belongs
    "groups": "are there fewer heads of keys than of queries?",
    "window": "does layer_types name layers that see near words alone?",
    "norm": "is there a norm as wide as one head, or only of what heads are made from?",
    "sinks": "has a weight one number for each head, and what score could that be?",
    "latent": "are keys made from a short row, or from the word itself?",
    "gate": "are there more rows than heads · width where queries are made?",
    "delta": "does layer_types name layers with a table in place of a cache?",
}


def _asked_about(got, right):
    """Ask about a choice that is missing or too many, or about what a wrong pair leaves open."""
    if isinstance(right, set):
        choice = next(each for each in _SIGNS if each in got ^ right)
        return f"is not right yet about “{choice}”: {_SIGNS[choice]}"
    if got[0] != right[0]:
        which = "is there a kind in which nothing grows with a long text, and how many are of another?"
        return f"says {got[0]:,.6g} for the layers, which come first: {which}"
    latent = "of a word the cache needs the latent and one turned row: how wide are these?"
    heads = "for how many heads, and how wide, must it keep them?"
    return f"keeps {got[1]:,.6g} numbers in a layer: {latent if right[1] == 288 else heads}"


reading = ValueExercise(
    "D9.7 ★★ · 12 min · Read three configurations",
    task="""
    The cell above shows parts of three published configurations, and the weights of a layer with full
    attention. What must the class of page 09 learn, beside rotary positions? Choose from `"groups"`,
    `"window"`, `"norm"` (of queries and keys, head by head), `"sinks"`, `"latent"`, `"gate"` and `"delta"`.
    And in how many layers does each further word of a long text make the cache larger, by how many numbers
    in each? Answer with a set, such as `{"groups", "gate"}`, and with a pair, (layers, numbers).
    """,
    describe=_asked_about,
    mistakes=[
        ({"A grows": (18, 512)}, "“A grows” holds keys or values, not both."),
        ({"C grows": (12, 512)}, "“C grows”: are keys and values both in it, each as wide as head_dim?"),
        ({"B grows": (62, 6400)}, "“B grows” counts what 40 heads have: from what is it computed?"),
        ({"B grows": (62, 256)}, "“B grows” leaves out what turns: kv_a_proj_with_mqa has 288 rows."),
    ],
    praise="A configuration says the sizes; sinks and norms show in the names of weights, a gate in a shape.",
    hints=[
        "Compare num_key_value_heads with num_attention_heads, and each weight's rows with heads · width.",
        "A layer with a window forgets a word for each new one; linear attention keeps one table for all.",
        "With groups a layer keeps 2 · key heads · width numbers a word, with a latent kv_lora_rank + rope.",
    ],
    solution="""
reading = {
    "A needs": {"groups", "window", "sinks"},
    "A grows": (18, 2 * 8 * 64),  # keys and values · heads · width
    "B needs": {"latent"},
    "B grows": (62, 256 + 32),  # latent + the part that turns
    "C needs": {"groups", "norm", "gate", "delta"},
    "C grows": (12, 2 * 2 * 256),
}
""",
)
