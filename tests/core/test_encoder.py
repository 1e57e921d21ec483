"""What leaves is what the schema says."""

import json
from types import SimpleNamespace
from typing import Any

import marshmallow
import pytest
from marshmallow import fields

from app.core.wire.encoder import body_encoder
from app.core.wire.fields import Flag
from app.core.wire.schemas import List, Nested, Schema


class InnerSchema(Schema):
    """An entry."""

    first_name = fields.String(required=True)


class OuterSchema(Schema):
    """An object with entries."""

    entries = List(Nested(InnerSchema), max_length=9, required=True)
    renamed = fields.String(required=True, data_key="another-name")
    maybe = Flag()


def encode(schema: type[marshmallow.Schema], result: Any) -> Any:
    return json.loads(body_encoder(schema())(result))


def test_a_member_that_the_schema_does_not_name_is_never_written() -> None:
    result = {"entries": [{"first_name": "a", "secret": 1}], "renamed": "b", "secret": 2}
    assert encode(OuterSchema, result) == {"entries": [{"firstName": "a"}], "another-name": "b"}


def test_lists_of_marshmallows_own_are_written_by_their_schema_too() -> None:
    class PlainSchema(marshmallow.Schema):
        entries = fields.List(fields.Nested(InnerSchema))

    result = SimpleNamespace(entries=[SimpleNamespace(first_name="a", secret=1)])
    assert encode(PlainSchema, result) == {"entries": [{"firstName": "a"}]}


def test_nested_many_is_a_list() -> None:
    class ManySchema(marshmallow.Schema):
        entries = fields.Nested(InnerSchema, many=True)

    assert encode(ManySchema, {"entries": [{"first_name": "a"}]}) == {"entries": [{"firstName": "a"}]}


def test_an_absent_required_member_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        encode(OuterSchema, {"entries": []})


def test_what_is_only_loaded_is_not_written() -> None:
    class LoadOnlySchema(Schema):
        label = fields.String(required=True)
        hidden = fields.String(load_only=True)

    assert encode(LoadOnlySchema, {"label": "a", "hidden": "b"}) == {"label": "a"}


class MethodSchema(marshmallow.Schema):
    """A field that is computed."""

    label = fields.Method("compute")

    def compute(self, _: Any) -> str:
        return "computed"


class ForeignField(fields.String):
    """A field with a serialization of its own."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return "something else"


class ForeignSchema(marshmallow.Schema):
    """A field of an unknown kind."""

    label = ForeignField()


class HookSchema(marshmallow.Schema):
    """A hook that would not run."""

    label = fields.String()

    @marshmallow.post_dump
    def change(self, data: Any, **_: Any) -> Any:
        return data


@pytest.mark.parametrize("schema", [MethodSchema, ForeignSchema, HookSchema])
def test_what_the_encoder_cannot_write_stops_the_start(schema: type[marshmallow.Schema]) -> None:
    with pytest.raises(TypeError):
        body_encoder(schema())
