"""The fast decoder accepts a strict subset of what marshmallow accepts, with equal values: for every body there is."""

import json
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.blueprints import API_MOUNTS
from app.core.errors import ApiError, BadRequest, DuplicateKey, TooManyMembers, Unprocessable
from app.core.http.blueprint import Blueprint
from app.core.wire.decoder import BodyDecoder, fast_struct
from app.core.wire.fields import Choice, Flag, Identifier, Instant, Integer, Number, Text
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.outcomes.schemas import OutcomeSchema

DECODERS = [
    decoder for mount in API_MOUNTS if isinstance(mount.blueprint, Blueprint) for decoder in mount.blueprint.decoders
]
FAST = [decoder for decoder in DECODERS if decoder._fast_decoder is not None]

UUID = "9b2f6d0e-3c41-4d7a-8a55-0f6e2c1b7d90"
INSTANTS = [
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.1234567+02:00",
    "0001-01-01T00:00:00+15:59",
    "9999-12-31T23:59:59-23:59",
]
texts = st.one_of(
    st.text(max_size=20),
    st.text("ab 1_:.-\t\n\x00é\x1c\u200b\u3164\u2003", max_size=12),
    st.sampled_from([*INSTANTS, UUID, UUID.upper().replace("-", ""), "2026-01-31 12:00:00Z", "2026-W05-6T12:00:00Z"]),
    st.sampled_from(["It worked as documented.", "It  worked as\u00a0documented. ", "203.0.113.7", "2001:db8::1"]),
)
numbers = st.one_of(st.integers(-1, 700), st.floats(allow_nan=False, allow_infinity=False), st.integers())
values = st.one_of(texts, numbers, st.booleans(), st.none(), st.lists(texts, max_size=2))


@cache
def matching_texts(pattern: str) -> list[str]:
    """Return texts that match: generated once and not for each body, since each takes Hypothesis milliseconds."""
    matches: list[str] = []

    @settings(max_examples=60, deadline=None)
    @given(st.from_regex(pattern, fullmatch=False))
    def collect(text: str) -> None:
        matches.append(text)

    collect()
    return matches


def valid_values(field: Any) -> st.SearchStrategy[Any]:
    """Return values of which many fit a field."""
    if isinstance(field, Nested):
        return objects(field.schema)
    if isinstance(field, List):
        return st.lists(valid_values(field.inner), min_size=field.min_length, max_size=max(2, field.min_length))
    if isinstance(field, Choice):
        return st.sampled_from(field.allowed)
    if isinstance(field, Flag):
        return st.booleans()
    if isinstance(field, Instant):
        return st.sampled_from(INSTANTS)
    if isinstance(field, Integer):
        minimum, maximum = int(field.minimum or 0), int(field.maximum if field.maximum is not None else 700)
        return st.sampled_from([minimum, maximum, min(maximum, max(minimum, 200))])
    if isinstance(field, Number):
        return st.sampled_from([0, 1, 0.5])
    if isinstance(field, Identifier):
        return st.just(UUID)
    assert isinstance(field, Text)
    if field.pattern:
        return st.sampled_from(matching_texts(field.pattern)).map(lambda text: text[: field.max_length])
    return st.sampled_from(["It worked as documented.", "203.0.113.7", "ExampleAgent/1.0"])


def mostly(fitting_values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return these values, and any other once in 41 times."""
    return st.integers(0, 40).flatmap(lambda choice: values if choice == 7 else fitting_values)


def objects(schema: Any) -> st.SearchStrategy[Any]:
    """Return objects of a schema: mostly members that fit, sometimes others."""
    members = {field.data_key: mostly(valid_values(field)) for field in schema.fields.values()}
    required = {field.data_key for field in schema.fields.values() if field.required}
    return st.fixed_dictionaries(
        {key: member for key, member in members.items() if key in required},
        optional={key: member for key, member in members.items() if key not in required},
    )


def name(decoder: BodyDecoder) -> str:
    return type(decoder.schema).__name__


def test_every_body_of_the_service_is_here() -> None:
    assert len(DECODERS) >= 13


@pytest.mark.parametrize("decoder", FAST, ids=name)
def test_what_the_fast_decoder_accepts_marshmallow_accepts_with_equal_values(decoder: BodyDecoder) -> None:
    accepted = 0

    @settings(max_examples=400, deadline=None)
    @given(objects(decoder.schema))
    def compare(body: Any) -> None:
        nonlocal accepted
        fast = decoder._decode_fast(json.dumps(body).encode())
        if fast is not None:
            accepted += 1
            assert msgspec.to_builtins(fast) == msgspec.to_builtins(decoder.schema.accept(body))

    compare()
    # Chance decides how many; none would mean that nothing was compared.
    assert accepted > 3


@pytest.mark.parametrize("decoder", FAST, ids=name)
def test_one_changed_value_is_judged_alike(decoder: BodyDecoder) -> None:
    keys = sorted(str(field.data_key) for field in decoder.schema.fields.values())

    @settings(max_examples=150, deadline=None)
    @given(objects(decoder.schema), st.sampled_from(keys), values)
    def compare(body: Any, key: str, value: Any) -> None:
        changed = {**body, key: value}
        fast = decoder._decode_fast(json.dumps(changed).encode())
        if fast is not None:
            assert msgspec.to_builtins(fast) == msgspec.to_builtins(decoder.schema.accept(changed))

    compare()


def accept_note(note: str) -> str:
    """Return a note as the decoder accepts it, on whichever way."""
    body = json.dumps({"outcome": "success", "note": note}).encode()
    return str(BodyDecoder(OutcomeSchema()).decode(body, lambda _: None).note)


INVISIBLE = ("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u115f", "\u3164", "\u2800", "\U000e0041")


@pytest.mark.parametrize("character", [*INVISIBLE, " ", "\u00a0", "\u3000", "\u0301"])
def test_a_text_without_a_visible_character_is_refused(character: str) -> None:
    with pytest.raises(Unprocessable):
        accept_note(character * 12)


@pytest.mark.parametrize("note", ["Всё работает.", "検索は成功しました。", "👍" * 8, "¡¿" * 4, "e\u0301" * 8])
def test_a_visible_text_of_any_script_is_accepted(note: str) -> None:
    assert accept_note(note) == note


@pytest.mark.parametrize("character", ["\x1c", "\x1d", "\x1e", "\x1f", "\x00", "\x7f"])
def test_a_control_character_is_no_white_space(character: str) -> None:
    for note in (f"It worked{character}as documented.", f"{character}It worked as documented.{character}"):
        with pytest.raises(Unprocessable):
            accept_note(note)


@pytest.mark.parametrize("character", ["\t", "\n", "\v", "\f", "\r", "\u0085", "\u00a0", "\u2028", "\u205f", "\u3000"])
def test_unicode_white_space_becomes_one_space(character: str) -> None:
    note = f"{character}It{character * 3}worked as documented.{character}"
    assert accept_note(note) == "It worked as documented."


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"outcome": "success", "note": "short"}, Unprocessable),
        ({"outcome": "success", "note": "short", "extra": 1}, BadRequest),
    ],
)
def test_a_wrong_shape_outweighs_a_wrong_value(body: dict[str, Any], kind: type[ApiError]) -> None:
    with pytest.raises(kind):
        OutcomeSchema().accept(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"outcome": "success", "outcome": "failure", "note": "It worked as documented."}',
        b'{"outcome": "success", "\\u006futcome": "failure", "note": "It worked as documented."}',
        b'{"outcome": "success", "note": "It worked as documented.", "note": "It did not work as documented."}',
    ],
)
def test_a_repeated_key_is_an_error(body: bytes) -> None:
    decoder = BodyDecoder(OutcomeSchema())
    with pytest.raises(DuplicateKey):
        decoder.decode(body, lambda _: None)
    assert BodyDecoder(OutcomeSchema(), has_unique_keys=False).decode(body, lambda _: None)


def test_a_key_that_stands_in_a_text_is_not_repeated() -> None:
    body = b'{"outcome": "success", "note": "The \\"outcome\\" and the \\"note\\" were there."}'
    assert BodyDecoder(OutcomeSchema()).decode(body, lambda _: None).outcome == "success"


class Narrow(Payload, frozen=True):
    """A record with one member too few."""

    outcome: str


class Defaulted(Payload, frozen=True):
    """A record in which a required member has a default."""

    outcome: str
    note: str = "none"


@pytest.mark.parametrize("payload", [Narrow, Defaulted])
def test_a_record_that_differs_from_its_schema_stops_the_start(payload: type[Payload]) -> None:
    schema: type[Schema] = type("DifferingSchema", (OutcomeSchema,), {"loads_into": payload})
    with pytest.raises(TypeError, match="note"):
        BodyDecoder(schema())
    with pytest.raises(TypeError, match="note"):
        fast_struct(schema())


@pytest.mark.parametrize(
    "document",
    [
        {f"key{number}": 1 for number in range(11)},
        {"a": [{}] * 10},
        {"a": [[0, 0], [0, 0], {"b": 0, "c": [0] * 4}]},
    ],
)
def test_a_body_with_more_members_than_allowed_is_refused_before_anything_looks_at_it(document: object) -> None:
    looks: list[object] = []
    with pytest.raises(TooManyMembers, match="10 together"):
        BodyDecoder(OutcomeSchema(), max_members=10).decode(json.dumps(document).encode(), looks.append)
    assert looks == []


def test_as_many_members_as_allowed_are_looked_at() -> None:
    looks: list[object] = []
    document = {"a": [{}] * 9}
    with pytest.raises(BadRequest) as refusal:
        BodyDecoder(OutcomeSchema(), max_members=10).decode(json.dumps(document).encode(), looks.append)
    assert (refusal.value.slug, looks) == ("bad_request", [document])
