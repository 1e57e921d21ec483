"""The gallery: every component of pages on one page, in a development copy only."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from wtforms import StringField
from wtforms.validators import DataRequired

from app.core.database.pages import Count
from app.core.errors import NotFound
from app.core.settings import current_settings
from app.dashboard.charts import BarChart, DayBar
from app.dashboard.figures import Share
from app.dashboard.forms import WriteForm
from app.dashboard.lists import FilterForm, ListPage, choice_filter, text_filter
from app.dashboard.pages import Page, PageBlueprint
from app.outcomes.rules import OUTCOMES

gallery = PageBlueprint("gallery")

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FIRST_DAY = date(2026, 11, 8)


class ExampleFilters(FilterForm):
    """Filters as a list has them."""

    operation = text_filter("Operation", 200)
    outcome = choice_filter("Outcome", OUTCOMES)


class ExampleForm(WriteForm):
    """A form with a field that is right and one that is wrong."""

    name = StringField("Name")
    days = StringField("Days", [DataRequired("Enter a number of days.")])


@gallery.page("", "gallery/page.html")
def show_gallery() -> Page:
    """Show every component."""
    if not current_settings().is_development:
        raise NotFound
    form = ExampleForm(name="Shop")
    form.validate()
    return Page({**_lists(), "form": form, "moment": NOON})


def _lists() -> dict[str, Any]:
    bars = [
        DayBar(
            FIRST_DAY + timedelta(days=day), {"success": 40 + day * 7 % 19, "partial": day % 5, "failure": day * 5 % 12}
        )
        for day in range(14)
    ]
    return {
        "chart": BarChart("Reviews by day", "reviews", bars),
        "empty_chart": BarChart("Fetches by day", "fetches", []),
        "shares": {"Success": Share(81, 96), "Rarely reviewed": Share(3, 4)},
        "filters_form": ExampleFilters(data={"outcome": "failure"}),
        "list": ListPage(
            range(3),
            "#next",
            "#first",
            export_urls={"csv": "#csv", "ndjson": "#ndjson"},
            count=Count(2_001, is_complete=False, limit=2_000),
        ),
    }
