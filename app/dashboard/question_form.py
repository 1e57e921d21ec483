"""The form of a question: how it is read, checked by the catalog's own rules, and shown again with its problems."""

from datetime import datetime
from typing import Any

from wtforms import BooleanField, HiddenField, StringField, TextAreaField

from app.catalog.entries import Entry
from app.catalog.models import FieldDefinition
from app.catalog.rules import (
    CANONICAL_TYPES,
    MAX_KEY_LENGTH,
    MAX_LABEL_LENGTH,
    MAX_OPERATIONS,
    MAX_TYPE_LENGTH,
    MAX_VALUES,
)
from app.catalog.schemas import FieldPathSchema, NewField, NewFieldSchema
from app.core.errors import ApiError, Problem, Unprocessable
from app.core.wire.schemas import Schema, camel
from app.dashboard.forms import WriteForm

EMPTY = {
    "key": "Write two parts with a dot, such as shoes.size.",
    "label": "Write the question, such as: Shoe size.",
    "type": f"Write a category, such as {CANONICAL_TYPES[1]}.",
    "allowed_values": "Write at least one answer.",
}
"""What to do about a field that is empty."""

WRONG_FORM = {
    "key": "Write two parts with a dot, such as shoes.size, in lowercase letters, digits and underscores.",
    "type": "Write words in lowercase with underscores between them, such as customer_goal.",
    "allowed_values": "write words in lowercase with underscores between them, such as size_42, and no bare number.",
    "operations": "write a path or a name without spaces, such as /orders/:id.",
}
"""What to do about a field, or about a line of it, whose text has another form."""

LINES = ("allowed_values", "operations")
"""Fields that are lists, one entry a line."""


class QuestionForm(WriteForm):
    """A question of the product's own."""

    key = StringField("Key", render_kw={"maxlength": MAX_KEY_LENGTH, "autocapitalize": "none", "spellcheck": "false"})
    label = StringField("Question", render_kw={"maxlength": MAX_LABEL_LENGTH})
    type = StringField("Category", render_kw={"maxlength": MAX_TYPE_LENGTH, "list": "types", "autocapitalize": "none"})
    allowed_values = TextAreaField("Answers", render_kw={"rows": 6, "spellcheck": "false"})
    operations = TextAreaField("Only in these operations", render_kw={"rows": 3, "spellcheck": "false"})
    targeted_advertising_safe = BooleanField("May also be used for targeted advertising")
    enabled = BooleanField("Ask it")
    version = HiddenField()

    hints = {
        "key": "A name in two parts, such as shoes.size. Programs know the question by it, so it never changes.",
        "label": "What the agent reads, such as: Shoe size.",
        "type": f"One of {', '.join(CANONICAL_TYPES)}, or a word of your own in lowercase with underscores.",
        "allowed_values": f"One a line, up to {MAX_VALUES}, in lowercase with underscores: size_42, no bare number.",
        "operations": f"One a line, up to {MAX_OPERATIONS}, such as /orders/:id. Empty: in every operation.",
        "targeted_advertising_safe": "Without this, it is asked for product personalization alone.",
        "enabled": "Without this it is retired: it stays here, and no agent sees it.",
    }

    @property
    def other_problems(self) -> list[str]:
        """What is wrong with the form as a whole."""
        return [str(error) for error in self.form_errors]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Everything that is wrong, each with the label of its field, or none."""
        named = [(field.label.text, str(error)) for field in self for error in field.errors]
        return [*(("", sentence) for sentence in self.other_problems), *named]

    def read(self) -> tuple[str, NewField]:
        """Return the key and the question as the API would load them, or raise `Unprocessable` with every problem."""
        problems: list[Problem] = []
        key = _accept(FieldPathSchema(), {"key": (self.key.data or "").strip()}, problems)
        new_field = _accept(NewFieldSchema(), self._document(), problems)
        if problems:
            raise Unprocessable(problems=problems)
        return key["key"], new_field

    def _document(self) -> dict[str, Any]:
        operations = _lines(self.operations.data)
        return {
            "label": self.label.data or "",
            "type": (self.type.data or "").strip(),
            "allowedValues": _lines(self.allowed_values.data),
            "targetedAdvertisingSafe": self.targeted_advertising_safe.data,
            "enabled": self.enabled.data,
            **({"operations": operations} if operations else {}),
        }

    def read_version(self) -> datetime | None:
        """Return the version of the question that the form was filled from; None where it is missing or forged."""
        try:
            return datetime.fromisoformat(self.version.data or "")
        except ValueError:
            return None

    def show_error(self, error: ApiError) -> None:
        """Show each problem of an error at its field, and the others above the form."""
        inputs = {f"/{camel(name)}": name for name in self.hints}
        for problem in error.problems:
            pointer, _, position = problem.pointer[1:].partition("/")
            name = inputs.get(f"/{pointer}")
            if name is None:
                self.form_errors.append(problem.message)
            else:
                self[name].errors = [*self[name].errors, self._sentence(problem, name, position)]
        if not error.problems:
            self.form_errors.append(str(error))

    def _sentence(self, problem: Problem, name: str, position: str) -> str:
        """Say what to do about a problem of a field, or of one of its lines."""
        sentence = problem.message
        if problem.code == "length" and not (self[name].data or "").strip():
            sentence = EMPTY.get(name, sentence)
        elif problem.code == "length" and name in LINES and not position:
            sentence = f"Write at most {problem.limits['max']} lines."
        elif problem.code == "pattern":
            sentence = WRONG_FORM.get(name, sentence)
        return f"Line {int(position) + 1}: {sentence}" if position.isdecimal() else sentence


def field_values(field: FieldDefinition) -> dict[str, Any]:
    """Return what the form of a stored question is filled with."""
    return {
        **{name: getattr(field, name) for name in ("key", "label", "type", "targeted_advertising_safe", "enabled")},
        **{name: "\n".join(getattr(field, name) or ()) for name in LINES},
        "version": field.updated_at.isoformat(),
    }


def entry_values(entry: Entry | None) -> dict[str, Any]:
    """Return what the form of a new question is filled with, which may begin as a built-in one."""
    if entry is None:
        return {"enabled": True, "type": CANONICAL_TYPES[1]}
    return {
        "key": entry.key,
        "label": entry.label,
        "type": entry.type,
        "allowed_values": "\n".join(entry.allowed_values),
        "targeted_advertising_safe": entry.targeted_advertising_safe,
        "enabled": True,
    }


def _accept(schema: Schema, document: dict[str, Any], problems: list[Problem]) -> Any:
    """Return what a schema loads, or None and add its problems."""
    try:
        return schema.accept(document)
    except ApiError as error:
        problems += error.problems
        return None


def _lines(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]
