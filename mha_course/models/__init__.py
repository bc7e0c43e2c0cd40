"""Trained models: ``tiny``, which deeper/10 opens up, and ``language``, which writes on page 11."""

from mha_course.models.language import (
    SharedKeyAttention,
    attention_inputs,
    heads_off,
    load_language_model,
    rotate,
)
from mha_course.models.tiny import (
    HELD_OUT_DISTANCES,
    TRAINING_DISTANCES,
    accuracy,
    as_numbers,
    as_text,
    head_scores,
    new_tiny_model,
    positions_after_copies,
    predictable,
    repeated_sequences,
    share_right,
    train_tiny_model,
    trained_model,
)
