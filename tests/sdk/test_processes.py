"""Telemetry in real processes: forks, exits and a second of heavy traffic."""

import os
import subprocess
import sys
import textwrap
import time
from collections import Counter

import pytest

from tests.sdk.endpoint import KEY, Endpoint, Reply, closed_port


def run(url: str, script: str) -> "subprocess.CompletedProcess[str]":
    """Run a script that has a client named `feedback`."""
    preamble = "from agent_feedback import AgentFeedback\nfeedback = AgentFeedback(flush_interval=0.05)\n"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", preamble + textwrap.dedent(script)],
        env={**os.environ, "AGENT_FEEDBACK_KEY": KEY, "AGENT_FEEDBACK_URL": url},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )


def senders(endpoint: Endpoint) -> Counter[str]:
    return Counter(event["from"] for event in endpoint.events)


def test_the_end_of_the_interpreter_sends_queued_events(endpoint: Endpoint) -> None:
    result = run(
        endpoint.url,
        """
        feedback.telemetry._options = feedback.options._replace(flush_interval=60)
        for number in range(120):
            feedback.telemetry.put({"from": "main"})
        """,
    )
    assert senders(endpoint) == {"main": 120}
    assert (result.stdout, result.stderr) == ("", "")


def test_an_exception_that_ends_the_process_still_sends_queued_events(endpoint: Endpoint) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run(endpoint.url, "feedback.telemetry.put({'from': 'main'})\nraise SystemExit(3)")
    assert senders(endpoint) == {"main": 1}


def test_a_process_ends_soon_though_the_service_is_unavailable() -> None:
    started_at = time.monotonic()
    result = run(f"http://127.0.0.1:{closed_port()}", "feedback.telemetry.put({'from': 'main'})")
    assert time.monotonic() - started_at < 15
    assert "could not be delivered" in result.stderr
    assert "Traceback" not in result.stderr


def test_forked_workers_send_their_own_and_nothing_twice(endpoint: Endpoint) -> None:
    run(
        endpoint.url,
        """
        import os, sys
        put = feedback.telemetry.put
        for number in range(30):  # some of these are waiting, or on their way, while the workers begin
            put({"from": "parent"})
        children = []
        for worker in range(3):
            child = os.fork()
            if not child:
                assert not feedback.telemetry.counters
                for number in range(60):
                    put({"from": f"worker {worker}"})
                sys.exit(0 if feedback.telemetry.shutdown() == 0 else 1)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        put({"from": "parent"})
        """,
    )
    assert senders(endpoint) == {"parent": 31, "worker 0": 60, "worker 1": 60, "worker 2": 60}


def test_a_fork_while_another_thread_puts_does_not_lock_the_worker(endpoint: Endpoint) -> None:
    run(
        endpoint.url,
        """
        import os, signal, threading
        stop_event = threading.Event()
        def busy():
            while not stop_event.wait(0.0001):
                feedback.telemetry.put({"from": "parent"})
        thread = threading.Thread(target=busy)
        thread.start()
        for worker in range(20):
            child = os.fork()
            if not child:
                signal.alarm(5)
                feedback.telemetry.put({"from": "worker"})
                os._exit(0 if feedback.flush(4) else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop_event.set()
        thread.join()
        """,
    )
    assert senders(endpoint)["worker"] == 20


def test_sending_imports_nothing_that_a_fork_could_leave_half_done(endpoint: Endpoint) -> None:
    result = run(
        endpoint.url,
        """
        import sys
        earlier_modules = set(sys.modules)
        feedback.telemetry.put({"from": "main"})
        feedback.shutdown()
        print(set(sys.modules) - earlier_modules)
        """,
    )
    assert senders(endpoint) == {"main": 1}
    assert result.stdout.strip() == "set()"


def test_a_worker_of_a_parent_that_has_shut_down_sends_its_own_events(endpoint: Endpoint) -> None:
    run(
        endpoint.url,
        """
        import os, sys
        feedback.shutdown()
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
        else:
            feedback.telemetry.put({"from": "worker"})
            sys.exit(feedback.shutdown())
        """,
    )
    assert senders(endpoint) == {"worker": 1}


def test_five_thousand_events_in_a_second_lose_none(endpoint: Endpoint) -> None:
    result = run(
        endpoint.url,
        """
        import time
        started_at = time.monotonic()
        for number in range(5000):
            wait_s = started_at + number / 5000 - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            feedback.start("/orders/:id").finish(status_code=200, duration_ms=1.5)
        assert time.monotonic() - started_at < 10
        assert feedback.flush()
        print(dict(feedback.telemetry.counters))
        """,
    )
    assert result.stdout.strip() == str({"queued": 5000, "sent": 5000})
    assert len({event["interactionId"] for event in endpoint.events}) == 5000


def test_the_key_is_in_no_log_even_of_debug(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(401)
    result = run(
        endpoint.url,
        """
        import logging
        logging.basicConfig(level=logging.DEBUG)
        feedback.telemetry.put({"from": "main"})
        feedback.shutdown()
        print(feedback, feedback.options, vars(feedback), vars(feedback.telemetry))
        """,
    )
    assert "status 401" in result.stderr
    assert "conformance_secret" not in result.stderr + result.stdout
