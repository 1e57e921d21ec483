"""Journeys run against real processes; most of them share one set."""

from collections.abc import Iterator

import pytest

from tests.journeys.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("a stack")) as running:
        yield running
