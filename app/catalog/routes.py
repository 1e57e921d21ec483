"""The endpoints of a product's fields."""

from app.catalog import service
from app.catalog.models import FieldDefinition
from app.catalog.schemas import FieldPathSchema, FieldSchema, FieldsSchema, NewField, NewFieldSchema
from app.catalog.service import Fields
from app.core.http.blueprint import Blueprint
from app.tokens.guards import current_environment, current_key_id

questions = Blueprint("questions", __name__, description="A product's own fields.")


@questions.put("/fields/<key>")
@questions.arguments(FieldPathSchema, location="path", as_kwargs=True)
@questions.arguments(NewFieldSchema)
@questions.response(200, FieldSchema, errors=(409,))
def put_field(new_field: NewField, key: str) -> FieldDefinition:
    """Create or replace a field; earlier requests keep their own copy."""
    return service.put(current_environment(), current_key_id(), key, new_field)


@questions.get("/fields")
@questions.response(200, FieldsSchema)
def list_fields() -> Fields:
    """List the product's own fields, and tell whether the built-in ones apply."""
    return service.list_all(current_environment())


@questions.delete("/fields/<key>")
@questions.arguments(FieldPathSchema, location="path", as_kwargs=True)
@questions.response(200, FieldSchema, errors=(404,))
def delete_field(key: str) -> FieldDefinition:
    """Remove a field; earlier requests keep their own copy."""
    return service.delete(current_environment(), current_key_id(), key)
