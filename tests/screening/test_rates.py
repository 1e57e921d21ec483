"""How often ordinary notes are rejected and unseen secrets found, on texts that are new in every run.

The seed is printed with a failure; `SCREENING_SEED=<number>` repeats its run.
"""

import os
import random
import secrets
from collections.abc import Iterable

import pytest

from app.screening.scanner import find_private
from tests.screening.agent_notes import agent_notes
from tests.screening.generators import named_credentials
from tests.screening.unseen_secrets import BARE_SENTENCES, CONTEXT_SENTENCES, unseen_secrets

COUNT = 4_000
"""Texts of each kind: at the rates measured (0.01 %, 96 %, 99.8 %), chance does not reach a limit."""


@pytest.fixture(scope="module")
def seed() -> int:
    number = int(os.environ.get("SCREENING_SEED") or secrets.randbelow(10**9))
    print(f"SCREENING_SEED={number}")  # noqa: T201  # pytest shows it with a failure
    return number


def list_misses(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if find_private(text) is None]


def test_fewer_than_one_ordinary_note_in_two_hundred_is_rejected(seed: int) -> None:
    notes = list(agent_notes(random.Random(seed), COUNT))
    rejections = [(finding.rule, note) for note in notes if (finding := find_private(note))]
    assert len(rejections) < 0.005 * COUNT, (seed, rejections)


def test_three_in_four_bare_unseen_secrets_are_found(seed: int) -> None:
    texts = list_misses(unseen_secrets(random.Random(seed), COUNT, BARE_SENTENCES))
    assert len(texts) <= 0.25 * COUNT, (seed, texts[:50])


def test_more_than_nine_in_ten_unseen_secrets_in_context_are_found(seed: int) -> None:
    texts = list_misses(unseen_secrets(random.Random(seed), COUNT, CONTEXT_SENTENCES))
    assert len(texts) <= 0.08 * COUNT, (seed, texts[:50])


def test_nine_in_ten_named_credentials_are_found(seed: int) -> None:
    texts = [text for _, text in named_credentials(random.Random(seed))]
    assert len(list_misses(texts)) <= 0.1 * len(texts), (seed, list_misses(texts)[:50])


def test_the_generated_notes_differ_from_each_other(seed: int) -> None:
    notes = list(agent_notes(random.Random(seed), COUNT))
    assert len(set(notes)) > 0.99 * COUNT
    assert max(map(len, notes)) <= 500
