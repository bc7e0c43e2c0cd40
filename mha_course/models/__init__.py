"""Trained models: ``tiny``, which page 10 opens up, and ``real``, which page 11 loads."""

from mha_course.models.real import (
    ModelMissing,
    attention_of_layer,
    heads_off,
    load_minilm,
    sentence_vector,
    tendencies,
)
from mha_course.models.tiny import (
    HELD_OUT_DISTANCES,
    TRAINING_DISTANCES,
    accuracy,
    as_numbers,
    as_text,
    head_scores,
    new_model,
    positions_after_copies,
    predictable,
    repeated_sequences,
    share_right,
    train,
    trained_model,
)

__all__ = [
    "HELD_OUT_DISTANCES", "TRAINING_DISTANCES", "ModelMissing", "accuracy", "as_numbers", "as_text",
    "attention_of_layer", "head_scores", "heads_off", "load_minilm", "new_model", "positions_after_copies",
    "predictable", "repeated_sequences", "sentence_vector", "share_right", "tendencies", "train",
    "trained_model",
]  # fmt: skip
