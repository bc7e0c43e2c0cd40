"""What the training of page 10's models keeps, and what it says of today's models beside the shipped ones."""

from types import SimpleNamespace

import torch

from mha_course.models import tiny
from tools import train_tiny_model


def test_some_steps_are_kept_and_what_the_models_do_is_printed(tmp_path, monkeypatch, capsys):
    def train(model, distances, steps, seed):
        for step in range(steps + 1):
            yield step, 0.5
            model.positions.data.fill_(step + 1)
        model.right = 0.9 if distances is tiny.RUNS["varying"] else 0.8

    def accuracy(model, _, distances):
        return getattr(model, "right", 1.0) - sum({*distances.tolist()}) / 100  # 8 + 11 + 14, or 12

    own = {"CHECKPOINTS": tmp_path, "train": train, "accuracy": accuracy}
    monkeypatch.setattr(train_tiny_model, "tiny", SimpleNamespace(**vars(tiny) | own))
    train_tiny_model.main()
    said = [line for line in capsys.readouterr().out.splitlines() if "shipped" in line]
    assert said == [
        *("varying: held out 0.570, shipped 0.670", "varying: at 12 0.780, shipped 0.880"),
        *("fixed: held out 0.470, shipped 0.670", "fixed: at 12 0.680, shipped 0.880"),
    ]
    for run, steps in train_tiny_model.KEPT.items():
        assert steps == tiny.checkpoint_steps(run)  # of the models that are shipped
        kept = torch.load(tmp_path / f"{run}.pt")["positions"]
        assert kept.dtype == torch.float16 and kept[1:, 0, 0].tolist() == list(steps[1:])
        assert torch.allclose(kept[0].float(), tiny.trained_model(run, 0).positions, atol=0.01)
