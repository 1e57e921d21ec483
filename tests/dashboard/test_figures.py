"""Figures: shares, their intervals, charts, and how numbers are written."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import clock
from app.dashboard.charts import GAP, MAX_LABELS, MIN_PART, BarChart, DayBar, spark_points
from app.dashboard.figures import Difference, Share, duration, thousands, time_span


@pytest.mark.parametrize(
    ("count", "of", "interval"),
    [(8, 10, (0.490, 0.943)), (0, 10, (0.0, 0.278)), (10, 10, (0.722, 1.0)), (81, 263, (0.255, 0.366))],
)
def test_intervals_are_those_of_wilson(count: int, of: int, interval: tuple[float, float]) -> None:
    # The last one is an example of Newcombe (1998).
    assert Share(count, of).interval == pytest.approx(interval, abs=0.0006)


@given(st.integers(1, 10_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_contains_its_share(counts: tuple[int, int]) -> None:
    share = Share(*counts)
    low, high = share.interval
    assert 0 <= low <= share.value + 1e-9
    assert share.value - 1e-9 <= high <= 1


@pytest.mark.parametrize(
    ("share", "text", "coverage"),
    [(Share(8, 10), "80 %", "8 of 10"), (Share(8, 9), "–", "8 of 9"), (Share(1234, 2468), "50 %", "1234 of 2468")],
)
def test_a_share_is_shown_from_ten_observations_on(share: Share, text: str, coverage: str) -> None:
    assert (share.text, share.coverage_text) == (text, coverage)


def test_nothing_observed_is_no_share() -> None:
    assert (Share(0, 0).text, Share(0, 0).interval) == ("–", (0.0, 1.0))


@pytest.mark.parametrize(("milliseconds", "text"), [(None, "–"), (84.6, "85 ms"), (999, "999 ms"), (1234, "1.2 s")])
def test_durations_have_a_unit(milliseconds: float | None, text: str) -> None:
    assert duration(milliseconds) == text


def test_thousands_are_apart() -> None:
    assert [thousands(number) for number in (0, 9999, 10_000, 1234567)] == ["0", "9999", "10,000", "1,234,567"]


def chart(*bars: dict[str, int], last_on: date = date(2026, 11, 2)) -> BarChart:
    days = [last_on - timedelta(days=number) for number in reversed(range(len(bars)))]
    return BarChart("Reviews", "reviews", [DayBar(*day) for day in zip(days, bars, strict=True)])


def test_bars_stand_on_each_other_and_the_highest_fills_the_chart() -> None:
    (first_bar, first), (_, second) = chart({"success": 3, "failure": 1}, {"success": 2}).columns
    assert first_bar.title == "1 Nov: 3 success, 1 failure"
    assert [(part.y, part.height) for part in first] == [(25.0 + GAP, 75.0 - GAP), (0.0, 25.0)]
    assert [(part.y, part.height) for part in second] == [(50.0, 50.0)]


def test_a_part_of_few_is_seen_and_fits_into_the_chart() -> None:
    ((_, (success, failure)),) = chart({"success": 9_999, "failure": 1}).columns
    assert (failure.y, failure.height) == (0.0, MIN_PART)
    assert success.y + success.height == 100.0


def test_a_chart_of_nothing_has_no_height() -> None:
    empty_chart = chart({"success": 0})
    ((_, parts),) = empty_chart.columns
    assert [part.height for part in parts] == [0.0]
    assert empty_chart.top == chart().top == 0
    assert spark_points([]) == ""
    assert spark_points([0, 2]) == "0.0,21.0 96.0,1.0"


@pytest.mark.parametrize("count", [1, 7, 14, 30, 90, 180, 365])
def test_a_few_days_are_named_today_among_them(count: int) -> None:
    labels = chart(*[{"success": 1}] * count, last_on=clock.now().date()).labels
    assert labels[0].text == "today"
    assert min(count, MAX_LABELS) // 2 < len(labels) <= MAX_LABELS
    past = chart(*[{"success": 1}] * count)
    assert (past.labels[0].text, past.today) == ("2 Nov", None)


@pytest.mark.parametrize(
    ("counts", "baseline", "interval"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_intervals_of_differences_are_those_of_newcombe(
    counts: tuple[int, int], baseline: tuple[int, int], interval: tuple[float, float]
) -> None:
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II: method 10.
    assert Difference(Share(*counts), Share(*baseline)).interval == pytest.approx(interval, abs=0.00006)


def test_a_difference_is_shown_where_both_have_ten_observations() -> None:
    assert Difference(Share(8, 10), Share(5, 9)).text == "–"
    assert Difference(Share(8, 9), Share(5, 10)).text == "–"
    assert Difference(Share(8, 10), Share(5, 10)).text == "+30 points"
    assert Difference(Share(5, 10), Share(8, 10)).text == "−30 points"
    assert Difference(Share(5, 10), Share(5, 10)).text == "0 points"


def test_a_difference_is_certain_where_its_interval_leaves_zero_out() -> None:
    assert Difference(Share(9, 10), Share(3, 10)).is_certain
    assert Difference(Share(3, 10), Share(9, 10)).is_certain
    assert not Difference(Share(6, 10), Share(5, 10)).is_certain
    assert not Difference(Share(9, 9), Share(0, 9)).is_certain


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "under 1 min"), (60, "1 min"), (7_199, "119 min"), (7_200, "2 h"), (172_799, "47 h"), (172_800, "2 days")],
)
def test_a_span_of_time_is_in_whole_units(seconds: int, text: str) -> None:
    assert time_span(timedelta(seconds=seconds)) == text
