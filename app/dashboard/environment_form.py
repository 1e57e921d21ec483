"""The form for the settings of an environment: what agents are told in each mode, and what a retention removes."""

from dataclasses import dataclass
from datetime import timedelta

from wtforms import BooleanField, IntegerField, RadioField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length, NumberRange

from app.accounts.rules import MAX_NAME_LENGTH
from app.consent import contract
from app.consent.rules import Basis, State
from app.core import clock
from app.core.settings import current_settings
from app.dashboard.forms import WriteForm
from app.dashboard.rules import MODE_LABELS
from app.evidence import queries as evidence
from app.products.models import Environment
from app.products.rules import RETENTION_DAYS, Mode
from app.reports import queries as reports
from app.summaries import queries as summaries

MAX_COUNTED_REPORTS = 10_000
"""Reports have no day counts; more of them are shown as `more than 10,000`."""

_DAYS = NumberRange(RETENTION_DAYS.start, RETENTION_DAYS.stop - 1)


class EnvironmentForm(WriteForm):
    """The settings of an environment."""

    name = StringField("Name", [InputRequired(), Length(max=MAX_NAME_LENGTH)])
    mode = RadioField("Mode", choices=[SelectChoice(str(mode), label) for mode, label in MODE_LABELS.items()])
    retention_days = IntegerField("Days that feedback is kept", [InputRequired(), _DAYS])
    evidence_retention_days = IntegerField("Days that evidence of AI traffic is kept", [InputRequired(), _DAYS])
    is_confirmed = BooleanField()


@dataclass(frozen=True, slots=True)
class ModePreview:
    """What agents are told in a mode: the instruction, and the question that they ask, if any."""

    mode: Mode
    label: str
    instruction: str | None
    question: str | None
    further_question: str | None = None
    """Asked instead where the product names no customer."""


def mode_previews() -> list[ModePreview]:
    """Return what agents are told in each mode."""
    name = current_settings().service_name
    once, always = contract.question(Basis.SUBJECT, name), contract.question(Basis.INTERACTION, name)
    ready, required = contract.instruction(State.FEEDBACK_READY), contract.instruction(State.CONSENT_REQUIRED)
    texts: dict[Mode, tuple[str | None, str | None, str | None]] = {
        Mode.NEVER_ASK: (ready, None, None),
        Mode.ASK_ONCE: (required, once, always),
        Mode.ASK_ALWAYS: (required, always, None),
        Mode.OFF: (None, None, None),
    }
    return [ModePreview(mode, label, *texts[mode]) for mode, label in MODE_LABELS.items()]


@dataclass(frozen=True, slots=True)
class Removal:
    """How much is older than a new retention; None for what stays."""

    interactions: int | None = None
    reviews: int | None = None
    reports: int | None = None
    evidence: int | None = None

    @property
    def has_more_reports(self) -> bool:
        """Whether there are more reports than were counted."""
        return self.reports is not None and self.reports > MAX_COUNTED_REPORTS


def is_shorter(form: EnvironmentForm, environment: Environment) -> bool:
    """Tell whether the form shortens a retention."""
    return bool(
        form.retention_days.data < environment.retention_days
        or form.evidence_retention_days.data < environment.evidence_retention_days
    )


def removal_of(form: EnvironmentForm, environment: Environment) -> Removal:
    """Count what is older than the retention of the form, by whole days (UTC)."""
    interactions = reviews = report_count = event_count = None
    if form.retention_days.data < environment.retention_days:
        before = clock.now() - timedelta(days=form.retention_days.data)
        interactions, reviews = summaries.count_before(environment.id, before.date())
        report_count = reports.count_before(environment.id, before, MAX_COUNTED_REPORTS + 1)
    if form.evidence_retention_days.data < environment.evidence_retention_days:
        before = clock.now() - timedelta(days=form.evidence_retention_days.data)
        event_count = evidence.count_before(environment.id, before.date())
    return Removal(interactions, reviews, report_count, event_count)
