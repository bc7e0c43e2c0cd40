"""The exercise of deeper/09_since_2023: what three configurations ask of a class, and of its cache."""

from mha_course.exercises import ValueExercise

CONFIGURATIONS = {  # numbers and names as in the files of gpt-oss 120B, MiniCPM3 4B and Qwen3-Next 80B
    "A": """
        36 layers, layer_types: 18 sliding_attention, 18 full_attention; sliding_window 128
        hidden_size 2880, num_attention_heads 64, num_key_value_heads 8, head_dim 64
        weights: q_proj (4096, 2880), k_proj (512, 2880), v_proj (512, 2880), o_proj (2880, 4096), sinks (64)
    """,
    "B": """
        62 layers; hidden_size 2560, num_attention_heads 40, num_key_value_heads 40
        kv_lora_rank 256, qk_nope_head_dim 64, qk_rope_head_dim 32, v_head_dim 64
        weights: q_a_proj (768, 2560), q_a_layernorm (768), q_b_proj (3840, 768),
        kv_a_proj_with_mqa (288, 2560), kv_a_layernorm (256), kv_b_proj (5120, 256), o_proj (2560, 2560)
    """,
    "C": """
        48 layers, layer_types: 36 linear_attention, 12 full_attention
        hidden_size 2048, num_attention_heads 16, num_key_value_heads 2, head_dim 256
        weights: q_proj (8192, 2048), k_proj (512, 2048), v_proj (512, 2048), o_proj (2048, 4096),
        q_norm (256), k_norm (256)
    """,
}


def _counted(number, right):
    """Say what a wrong number of a word's cached numbers would be a layer."""
    layers = {18 * 1024: 18, 62 * 288: 62, 12 * 1024: 12}[round(float(right))]
    return f"is {number / layers:,.6g} for each of {layers} layers that keep every word: what does one keep?"


reading = ValueExercise(
    "D9.7 ★★ · 10 min · Read three configurations",
    task="""
    The cell above shows parts of three published configurations, and the weights of a layer with full
    attention. What must the class of page 09 learn, beside rotary positions? Choose from `"groups"`,
    `"window"`, `"norm"` (of queries and keys, head by head), `"sinks"`, `"latent"`, `"gate"` and `"delta"`.
    And how many numbers does each further word of a long text add to the cache, over all layers?
    """,
    describe=_counted,
    stub="""
reading = {
    "A needs": ...,  # a set, such as {"groups", "gate"}
    "A adds": ...,
    "B needs": ...,
    "B adds": ...,
    "C needs": ...,
    "C adds": ...,
}
""",
    mistakes=[
        ({"A adds": 36 * 1024}, "“A adds” counts all 36 layers: what does a layer with a window drop?"),
        ({"A adds": 18 * 512}, "“A adds” holds keys or values, not both."),
        (
            {"B adds": 62 * 40 * 160},
            "“B adds” keeps keys and values of 40 heads: from what are they computed?",
        ),
        ({"B adds": 62 * 256}, "“B adds” leaves out the part that turns: kv_a_proj_with_mqa has 288 rows."),
        ({"C adds": 48 * 1024}, "“C adds” counts all 48 layers: what does linear attention keep of a word?"),
        (
            {"A needs": "sinks"},
            "“A needs”: one weight has a number for each head: what score could that be?",
        ),
        ({"A needs": "window"}, "“A needs”: look at layer_types: does every layer see every word?"),
        ({"B needs": "groups"}, "“B needs”: are there fewer heads of keys than of queries?"),
        (
            {"B needs": "norm"},
            "“B needs”: what do its two norms normalise, a head or what heads are made from?",
        ),
        ({"C needs": "gate"}, "“C needs”: 16 heads of 256 ask. What are the other rows of q_proj for?"),
        ({"C needs": "norm"}, "“C needs”: two weights have the width of one head: whose?"),
        ({"C needs": "delta"}, "“C needs”: only 12 layers have this attention. What are the other 36?"),
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
    "A adds": 18 * 2 * 8 * 64,  # layers · keys and values · heads · width
    "B needs": {"latent"},
    "B adds": 62 * (256 + 32),  # layers · (latent + the part that turns)
    "C needs": {"groups", "norm", "gate", "delta"},
    "C adds": 12 * 2 * 2 * 256,
}
""",
)
