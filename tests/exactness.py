"""Counts that have to be exact: after every step of a model, and beside everything that changes them."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from flask import Flask
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SEED = 20261121
MAX_DURATION_S = 60


def run_machine(machine: type[RuleBasedStateMachine], *, max_examples: int, step_count: int) -> None:
    """Run the same examples of a state machine each time."""
    machine_settings = settings(
        max_examples=max_examples,
        stateful_step_count=step_count,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        # Shrinking a failure would take minutes of real statements.
        phases=(Phase.generate,),
    )
    run_state_machine_as_test(machine, settings=machine_settings)


def run_together(app: Flask, senders: Sequence[Callable[[], Any]], jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run each sender once and each job again and again until they have ended; return what the senders returned."""
    stop_event = threading.Event()

    def repeat(run: Callable[[], Any]) -> int:
        run_count = 0
        while not stop_event.is_set():
            with app.app_context():
                run()
            run_count += 1
        return run_count

    with ThreadPoolExecutor(len(senders) + len(jobs)) as pool:
        sender_futures = [pool.submit(sender) for sender in senders]
        job_futures = [pool.submit(repeat, job) for job in jobs]
        unfinished_futures = wait(sender_futures, MAX_DURATION_S).not_done
        stop_event.set()
        assert not unfinished_futures
        assert all(future.result() > 0 for future in job_futures)
        return [future.result() for future in sender_futures]
