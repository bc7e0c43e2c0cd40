"""What the training of page 10's models keeps, and when it says that today's models are other ones."""

from types import SimpleNamespace

import pytest
import torch

from mha_course.models import tiny
from tools import train_tiny_model


@pytest.mark.parametrize(("learned", "differs"), [(0.99, 0), (0.97, 1)])
def test_some_steps_are_kept_and_what_the_models_do_is_compared(tmp_path, monkeypatch, learned, differs):
    def train(model, distances, steps, seed):
        for step in range(steps + 1):
            yield step, 0.5
            model.positions.data.fill_(step + 1)
        model.right = learned if distances is tiny.RUNS["varying"] else 1.0

    def accuracy(model, _, distances):
        tried.append({*distances.tolist()})
        return getattr(model, "right", 1.0)

    tried = []
    own = {"CHECKPOINTS": tmp_path, "train": train, "accuracy": accuracy}
    monkeypatch.setattr(train_tiny_model, "tiny", SimpleNamespace(**vars(tiny) | own))
    assert train_tiny_model.main(["--check"]) == differs and not list(tmp_path.iterdir())
    assert tried == [{*tiny.HELD_OUT_DISTANCES}, {*tiny.HELD_OUT_DISTANCES}, {12}, {12}] * 2
    train_tiny_model.main([])
    for run, steps in train_tiny_model.KEPT.items():
        assert steps == tiny.checkpoint_steps(run)  # of the models that are shipped
        kept = torch.load(tmp_path / f"{run}.pt")["positions"]
        assert kept.dtype == torch.float16 and kept[1:, 0, 0].tolist() == list(steps[1:])
        assert torch.allclose(kept[0].float(), tiny.trained_model(run, 0).positions, atol=0.01)
