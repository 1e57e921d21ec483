"""A job that runs at most once at a time in a process."""

import threading

import pytest

from app.core.single_run import SingleRun


def test_a_call_meanwhile_returns_and_makes_the_function_run_once_more() -> None:
    is_running, release = threading.Event(), threading.Event()
    calls: list[int] = []

    def work() -> None:
        calls.append(threading.get_ident())
        is_running.set()
        release.wait(10)

    run = SingleRun(work)
    thread = threading.Thread(target=run)
    thread.start()
    assert is_running.wait(10)
    for _ in range(3):
        run()
    assert len(calls) == 1
    release.set()
    thread.join(10)
    assert calls == [thread.ident, thread.ident]


def test_a_failure_is_raised_and_the_next_call_runs() -> None:
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError

    run = SingleRun(work)
    with pytest.raises(ZeroDivisionError):
        run()
    run()
    assert len(calls) == 2
