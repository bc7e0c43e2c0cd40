"""What the training of deeper/10's models keeps; what they must be able to do is in tests/core/test_models.py."""

import torch

from mha_course.models import tiny
from tools import train_tiny_model


def test_parameters_are_kept_at_the_steps_of_the_models_that_are_shipped(tmp_path, monkeypatch):
    def train(model, distances, steps, seed):
        assert seed == train_tiny_model.SEED
        for step in range(steps + 1):
            yield step, 0.5
            model.positions.data.fill_(step + 1)
            model.guess.weight.data.fill_(len(distances))

    shipped = {run: (tiny.checkpoint_steps(run), tiny.trained_model(run, 0)) for run in tiny.RUNS}
    monkeypatch.setattr(tiny, "train", train)
    monkeypatch.setattr(tiny, "CHECKPOINTS", tmp_path)
    train_tiny_model.main()
    for run, (steps, start) in shipped.items():
        kept = torch.load(tmp_path / tiny.file_of(run))
        assert kept["steps"].tolist() == list(steps) and kept["positions"].dtype == torch.float16
        assert kept["positions"][1:, 0, 0].tolist() == list(steps[1:])
        assert torch.allclose(kept["positions"][0].float(), start.positions, atol=0.01)
        assert (kept["guess.weight"][1:] == len(tiny.RUNS[run])).all()
