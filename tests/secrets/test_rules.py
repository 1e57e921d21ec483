"""When a pepper can be removed."""

from datetime import UTC, date, datetime, timedelta

from app.core.rotation import PepperUse
from app.secrets.rules import Need, plan_removal

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HANDLES = PepperUse("handles", "handles would be invalid", needed_for=timedelta(hours=2))
REFERENCES = PepperUse("references", "{count} references would name nobody", needed_for=timedelta(days=90))
KEYS = PepperUse("keys", "{count} keys would be invalid")


def test_a_pepper_that_nothing_needs_can_be_removed_now() -> None:
    removal = plan_removal([], NOW)
    assert (removal.removable_on, removal.reason) == (NOW.date(), "It can be removed now.")
    assert plan_removal([Need(HANDLES, None, NOW)], NOW) == removal


def test_the_last_end_decides_and_each_loss_is_told() -> None:
    needs = [Need(REFERENCES, 7, NOW + timedelta(days=90)), Need(HANDLES, None, NOW + timedelta(hours=2))]
    removal = plan_removal(needs, NOW)
    assert removal.removable_on == date(2026, 8, 31)
    assert removal.reason == (
        "It can be removed on 2026-08-31. Before that day handles would be invalid; 7 references would name nobody."
    )


def test_what_has_no_end_is_told_apart() -> None:
    assert plan_removal([Need(KEYS, 2, None)], NOW).reason == (
        "It can be removed now, except that 2 keys would be invalid."
    )
    removal = plan_removal([Need(KEYS, 2, None), Need(HANDLES, None, NOW + timedelta(hours=2))], NOW)
    assert removal.reason.startswith("It can be removed on 2026-06-02, except that 2 keys would be invalid. Before")
