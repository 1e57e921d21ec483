"""The fast decoder accepts a strict subset of what marshmallow accepts, with equal values."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.decoder import fast_struct
from app.core.errors import BadRequest, Refusal, Unprocessable
from app.core.schema import One, Schema
from app.evidence.schemas import EvidenceBatchSchema
from app.outcomes.schemas import OutcomeSchema
from app.telemetry.schemas import TelemetryBatchSchema

SCHEMAS: list[Schema] = [OutcomeSchema(), TelemetryBatchSchema(), EvidenceBatchSchema()]

FULL_EVENT = {
    "interactionId": "9b2f6d0e-3c41-4d7a-8a55-0f6e2c1b7d90",
    "surface": "http_json",
    "operation": "/orders/:id",
    "classification": "unclassified",
    "occurredAt": "2026-01-31T12:00:00.1234567+02:00",
    "statusCode": 200,
    "durationMs": 12,
    "customerRef": "account_42",
    "runtimeHint": "ExampleAgent/1.0",
    "runtimeHintSource": "http",
    "sessionRef": "visit:7",
    "sessionSource": "customer",
    "confirmationMethod": "mcp",
}


FULL_EVIDENCE = {
    "eventId": "event:2001-db8.7",
    "observedAt": "2026-01-31T12:00:00.1234567+02:00",
    "method": "GET",
    "responseStatus": 304,
    "agentToken": "Claude-User",
    "networkEvidence": {"method": "published_ip_range"},
    "referrerHost": None,
}
FULL_BATCH = {
    "schemaVersion": 1,
    "source": {"kind": "cdn_log", "provider": "example-cdn", "sourceId": "source_0001"},
    "events": [FULL_EVIDENCE],
}

VALID = {
    **FULL_EVENT,
    **FULL_EVIDENCE,
    **FULL_BATCH["source"],
    "schemaVersion": 1,
    "outcome": "partial",
    "note": "It worked as documented.",
}

texts = st.one_of(
    st.text(max_size=20),
    st.text("ab 1_:.-\t\n\x00é\x1c\u200b\u3164\u2003", max_size=12),
    st.sampled_from(
        [
            "success",
            "http_json",
            "mcp",
            "confirmed",
            "/orders/:id",
            "2026-01-31T12:00:00Z",
            "2026-01-31T12:00:00.1234567+02:00",
            "2026-01-31 12:00:00Z",
            "2026-W05-6T12:00:00Z",
            "2026-01-31t12:00:00z",
            "9b2f6d0e-3c41-4d7a-8a55-0f6e2c1b7d90",
            "9B2F6D0E3C414D7A8A550F6E2C1B7D90",
            "deadbeef:cafe",
            "2001:db8::1",
            "203.0.113.7",
            "203.0.113.7:80",
            "1700000000.123",
            "It worked as documented.",
            "It  worked as\u00a0documented. ",
        ]
    ),
)
numbers = st.one_of(st.integers(-1, 700), st.floats(allow_nan=False, allow_infinity=False), st.integers())
values = st.one_of(texts, numbers, st.booleans(), st.none(), st.lists(texts, max_size=2))


def bodies(schema: Schema) -> st.SearchStrategy[Any]:
    def objects(inner: Schema) -> st.SearchStrategy[Any]:
        members = {}
        for field in inner.fields.values():
            nested = getattr(field, "inner", None)
            if isinstance(field, One):
                members[field.data_key] = st.one_of(objects(nested), st.none(), texts)
            else:
                kind = st.lists(objects(nested), min_size=1, max_size=2) if nested else _likely(field)
                members[field.data_key] = kind
        required = {key: kind for key, kind in members.items() if _required(inner, key)}
        return st.fixed_dictionaries(required, optional={k: v for k, v in members.items() if k not in required})

    return objects(schema)


def _required(schema: Schema, key: str) -> bool:
    return any(field.data_key == key and field.required for field in schema.fields.values())


def _likely(field: Any) -> st.SearchStrategy[Any]:
    """Mostly values that fit, so that whole bodies are accepted often enough to compare."""
    fitting = st.sampled_from(getattr(field, "allowed", None) or [VALID[field.data_key]])
    return st.integers(0, 15).flatmap(lambda dice: values if dice == 0 else fitting)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: type(schema).__name__)
def test_what_the_fast_decoder_accepts_marshmallow_accepts_with_equal_values(schema: Schema) -> None:
    fast = msgspec.json.Decoder(fast_struct(schema))
    seen = {"accepted": 0}

    @settings(max_examples=1500, deadline=None)
    @given(bodies(schema))
    def compare(body: Any) -> None:
        try:
            quick = fast.decode(json.dumps(body).encode())
        except (msgspec.MsgspecError, ValueError):
            return
        seen["accepted"] += 1
        assert msgspec.to_builtins(quick) == msgspec.to_builtins(schema.accept(body))

    compare()
    assert seen["accepted"] > 0


one_changed = st.one_of(
    st.builds(
        lambda field, value: (TelemetryBatchSchema, {"events": [{**FULL_EVENT, field: value}]}),
        st.sampled_from(sorted(FULL_EVENT)),
        values,
    ),
    st.builds(
        lambda field, value: (EvidenceBatchSchema, {**FULL_BATCH, "events": [{**FULL_EVIDENCE, field: value}]}),
        st.sampled_from(sorted(FULL_EVIDENCE)),
        values,
    ),
)


@settings(max_examples=1200, deadline=None)
@given(one_changed)
def test_one_changed_value_is_judged_alike(changed: tuple[type[Schema], Any]) -> None:
    schema, body = changed[0](), changed[1]
    try:
        quick = msgspec.json.Decoder(fast_struct(schema)).decode(json.dumps(body).encode())
    except (msgspec.MsgspecError, ValueError):
        return
    assert msgspec.to_builtins(quick) == msgspec.to_builtins(schema.accept(body))


def test_a_usual_body_takes_the_fast_way() -> None:
    for schema, body in (
        (TelemetryBatchSchema(), {"events": [FULL_EVENT]}),
        (OutcomeSchema(), {"outcome": "success", "note": "It worked as documented."}),
        (EvidenceBatchSchema(), FULL_BATCH),
    ):
        quick = msgspec.json.Decoder(fast_struct(schema)).decode(json.dumps(body).encode())
        assert msgspec.to_builtins(quick) == msgspec.to_builtins(schema.accept(body))


def is_accepted_by_marshmallow(schema: Schema, body: Any) -> bool:
    try:
        schema.accept(body)
    except Unprocessable:
        return False
    return True


def is_accepted_by_msgspec(schema: Schema, body: Any) -> bool:
    try:
        msgspec.json.Decoder(fast_struct(schema)).decode(json.dumps(body).encode())
    except msgspec.ValidationError:
        return False
    return True


INVISIBLE = ("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u115f", "\u3164", "\u2800", "\U000e0041")


@pytest.mark.parametrize("character", [*INVISIBLE, " ", "\u00a0", "\u3000", "\u0301"])
def test_a_text_without_a_visible_character_is_refused(character: str) -> None:
    for schema, body in (
        (OutcomeSchema(), {"outcome": "success", "note": character * 12}),
        (TelemetryBatchSchema(), {"events": [{**FULL_EVENT, "runtimeHint": character * 12}]}),
    ):
        assert not is_accepted_by_marshmallow(schema, body)
        assert not is_accepted_by_msgspec(schema, body)


@pytest.mark.parametrize("note", ["Всё работает.", "検索は成功しました。", "👍" * 8, "¡¿" * 4, "e\u0301" * 8])
def test_a_visible_text_of_any_script_is_accepted(note: str) -> None:
    assert is_accepted_by_marshmallow(OutcomeSchema(), {"outcome": "success", "note": note})


@pytest.mark.parametrize("character", ["\x1c", "\x1d", "\x1e", "\x1f", "\x00", "\x7f"])
def test_a_control_character_is_no_white_space(character: str) -> None:
    for note in (f"It worked{character}as documented.", f"{character}It worked as documented.{character}"):
        body = {"outcome": "success", "note": note}
        assert not is_accepted_by_marshmallow(OutcomeSchema(), body)
        assert not is_accepted_by_msgspec(OutcomeSchema(), body)


@pytest.mark.parametrize("character", ["\t", "\n", "\v", "\f", "\r", "\u0085", "\u00a0", "\u2028", "\u205f", "\u3000"])
def test_unicode_white_space_becomes_one_space(character: str) -> None:
    note = f"{character}It{character * 3}worked as documented.{character}"
    assert OutcomeSchema().accept({"outcome": "success", "note": note}).note == "It worked as documented."


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"outcome": "success", "note": "short"}, Unprocessable),
        ({"outcome": "success", "note": "short", "extra": 1}, BadRequest),
    ],
)
def test_a_wrong_shape_outweighs_a_wrong_value(body: dict[str, Any], kind: type[Refusal]) -> None:
    with pytest.raises(kind):
        OutcomeSchema().accept(body)
