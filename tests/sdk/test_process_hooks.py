"""What the package has a process call when it forks; the effect in real processes is in test_processes.py."""

import gc
import os
from collections.abc import Callable

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.process_hooks import call_after_fork

from tests.sdk.endpoint import KEY


def test_a_system_without_forks_needs_no_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "register_at_fork")
    assert AgentFeedback(KEY, endpoint="https://feedback.example.com", mode="ask_once").options.is_enabled


def test_a_hook_does_not_keep_its_object_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Cache:
        def reset(self) -> None:
            calls.append("reset")

    hooks: list[Callable[[], None]] = []

    def register(*, after_in_child: Callable[[], None]) -> None:
        hooks.append(after_in_child)

    monkeypatch.setattr(os, "register_at_fork", register)
    cache = Cache()
    call_after_fork(cache.reset)
    hooks[0]()
    del cache
    gc.collect()
    hooks[0]()
    assert calls == ["reset"]
