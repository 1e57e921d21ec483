"""Counters of several processes on a real server, and without it."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from app.cli.dev.valkey import EmbeddedValkey
from app.core.limits import counters as counters_module
from app.core.limits.counters import Counter, SharedCounters
from app.core.limits.rules import Cost, Policy, limit_policy
from app.core.limits.server import CounterServer, storage_url
from config.limits import parse_limit
from tests.conftest import Servers
from tests.journeys.stack import wait_until
from tests.limits.conftest import MakeCounters, Timer


def policy(text: str = "3/minute", name: str = "key", *, is_first_unit_shared: bool = True) -> Policy:
    return limit_policy(name, parse_limit(text), is_first_unit_shared=is_first_unit_shared)


def spend(counters: SharedCounters, times: int, cost: Cost | None = None) -> int:
    """Spend a cost so often, and return how often that was allowed."""
    return sum(counters.spend(cost or Cost(policy(), "anybody")) is None for _ in range(times))


def test_as_many_as_allowed_pass_and_the_next_window_begins_anew(make_counters: MakeCounters, timer: Timer) -> None:
    counters = make_counters()
    assert spend(counters, 5) == 3
    timer.now += 36.9
    assert spend(counters, 1) == 0
    timer.now += 0.1
    assert spend(counters, 5) == 3


def test_subjects_and_policies_are_counted_apart(make_counters: MakeCounters) -> None:
    counters = make_counters()
    costs = [Cost(policy(name=name), subject) for name in ("key", "address") for subject in ("a", "b")]
    assert [spend(counters, 4, cost) for cost in costs] == [3, 3, 3, 3]


def test_what_one_counter_refuses_costs_the_others_nothing(make_counters: MakeCounters) -> None:
    counters = make_counters()
    small, large = Cost(policy("1/minute"), "a"), Cost(policy("2/minute", "workspace"), "b")
    assert counters.spend(small, large) is None
    refusals = [counters.spend(small, large) for _ in range(3)]
    assert [refusal.policy.name if refusal else None for refusal in refusals] == ["key"] * 3
    assert spend(counters, 2, large) == 1


def test_threads_together_get_no_more_than_the_limit(make_counters: MakeCounters) -> None:
    counters, cost = make_counters(), Cost(policy("100/minute"), "anybody")
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: spend(counters, 50, cost), range(8)))
    assert sum(allowed) == 100


def test_a_cost_is_paid_whole_or_not_at_all(make_counters: MakeCounters) -> None:
    counters, batch = make_counters(), policy("10/minute")
    assert [spend(counters, 1, Cost(batch, "a", units)) for units in (6, 5, 4, 1)] == [1, 0, 1, 0]


def test_without_a_server_a_process_counts_for_itself(timer: Timer) -> None:
    one, other = SharedCounters(None, timer), SharedCounters(None, timer)
    assert (spend(one, 5), spend(other, 5)) == (3, 3)
    timer.now += 60
    assert spend(one, 5) == 3


def test_processes_know_of_each_other_once_they_have_shared(make_counters: MakeCounters) -> None:
    one, other = make_counters(), make_counters()
    assert spend(one, 2) == 2
    one.share()
    assert spend(other, 1) == 1
    other.share()
    assert spend(other, 5) == 0
    # One more by what it knew; then it asks, and learns of the others.
    assert spend(one, 5) == 1
    assert spend(one, 5) == 0


def test_a_refusal_asks_the_server_so_that_no_process_gives_more_than_the_whole(make_counters: MakeCounters) -> None:
    processes = [make_counters() for _ in range(3)]
    allowed = [spend(process, 4) for process in processes]
    # Each accepts what it knows of; the first look at the server ends it.
    assert allowed == [3, 3, 3]
    assert [spend(process, 1) for process in processes] == [0, 0, 0]


def test_a_single_use_is_kept_in_its_process_where_the_policy_says_so(make_counters: MakeCounters) -> None:
    one, other = make_counters(), make_counters()
    cost = Cost(policy("2/minute", is_first_unit_shared=False), "a")
    for process in (one, other):
        assert spend(process, 1, cost) == 1
        process.share()
    assert spend(one, 1, cost) == 1
    one.share()
    assert spend(other, 1, cost) == 1
    other.share()
    assert spend(one, 1, cost) == spend(other, 1, cost) == 0


def test_a_thread_shares_by_itself(make_counters: MakeCounters) -> None:
    one, other = make_counters(), make_counters()
    assert spend(one, 3) == 3
    wait_until(lambda: other.find_exhausted(Cost(policy(), "anybody")) or spend(other, 1) == 0, 5)


def test_looking_counts_nothing(make_counters: MakeCounters) -> None:
    counters, cost = make_counters(), Cost(policy(), "anybody")
    assert [counters.find_exhausted(cost) for _ in range(5)] == [None] * 5
    assert spend(counters, 5) == 3
    assert isinstance(counters.find_exhausted(cost), Counter)


def test_the_server_holds_digests_that_expire(make_counters: MakeCounters, servers: Servers) -> None:
    client = redis.Redis.from_url(storage_url(servers.broker_url).replace("redis+unix", "unix"))
    before = set(client.scan_iter("agent-feedback-limits:*"))
    counters = make_counters()
    spend(counters, 1, Cost(policy(), "203.0.113.77"))
    counters.share()
    (key,) = set(client.scan_iter("agent-feedback-limits:*")) - before
    assert b"203.0.113" not in key
    assert 0 < client.ttl(key) <= 60
    client.close()


def test_a_process_remembers_no_more_counters_than_it_may(
    make_counters: MakeCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters_module, "MAX_COUNTERS", 10)
    counters = make_counters()
    for subject in range(100):
        spend(counters, 1, Cost(policy(), subject))
    assert len(counters._counters) == 10


@pytest.fixture
def lonely(own_valkey: EmbeddedValkey, digest_key: bytes, timer: Timer) -> SharedCounters:
    return SharedCounters(CounterServer(own_valkey.url, digest_key), timer)


def test_nothing_is_refused_or_delayed_while_the_server_is_away(
    own_valkey: EmbeddedValkey, lonely: SharedCounters, timer: Timer, caplog: pytest.LogCaptureFixture
) -> None:
    assert spend(lonely, 2) == 2
    own_valkey.stop(signal.SIGKILL)
    began = time.monotonic()
    assert spend(lonely, 500) == 500
    assert time.monotonic() - began < 0.4
    assert caplog.text.count("limits are not shared") == 1
    own_valkey.start()
    timer.now += 60
    lonely._paused_until = 0.0
    assert spend(lonely, 5) == 3


def test_a_frozen_server_is_asked_once_a_second(own_valkey: EmbeddedValkey, lonely: SharedCounters) -> None:
    assert spend(lonely, 3) == 3
    assert own_valkey.process
    own_valkey.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert spend(lonely, 50) == 50
        assert time.monotonic() - began < 0.45
    finally:
        own_valkey.process.send_signal(signal.SIGCONT)


def test_a_server_that_lost_its_data_begins_anew(own_valkey: EmbeddedValkey, lonely: SharedCounters) -> None:
    assert spend(lonely, 3) == 3
    lonely.share()
    own_valkey.stop(signal.SIGKILL)
    own_valkey.start()
    # What the server had confirmed stays refused in this process until the window ends.
    assert spend(lonely, 1) == 0
