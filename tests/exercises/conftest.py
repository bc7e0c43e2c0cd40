"""Lets a test make exercises of its own without adding them to those of the course."""

import pytest

from mha_helpers.exercises import framework


@pytest.fixture
def only_these_exercises(monkeypatch):
    monkeypatch.setattr(framework, "_registry", {})
