"""The endpoints of a product's fields."""

from app.catalog import service
from app.catalog.models import FieldDefinition
from app.catalog.schemas import FieldPathSchema, FieldSchema, FieldsSchema, NewField, NewFieldSchema
from app.catalog.service import Editor, Fields
from app.core.http.blueprint import Blueprint
from app.tokens.guards import current_environment, current_key_id

blp = Blueprint("catalog", __name__, title="Enrichment fields", description="A product's own fields.")


@blp.put("/fields/<key>", operation_id="putField")
@blp.arguments(FieldPathSchema, location="path", as_kwargs=True)
@blp.arguments(NewFieldSchema)
@blp.response(200, FieldSchema, errors=(409,))
def put_field(new_field: NewField, key: str) -> FieldDefinition:
    """Create or replace a field.

    Earlier requests keep their own copy.
    """
    return service.put(_editor(), key, new_field)


@blp.get("/fields", operation_id="listFields")
@blp.response(200, FieldsSchema)
def list_fields() -> Fields:
    """List the product's own fields and the built-in ones.

    The built-in fields apply as long as the product has no field of its own that is enabled.
    """
    return service.list_all(current_environment().product_id)


@blp.delete("/fields/<key>", operation_id="deleteField")
@blp.arguments(FieldPathSchema, location="path", as_kwargs=True)
@blp.response(200, FieldSchema, errors=(404,))
def delete_field(key: str) -> FieldDefinition:
    """Remove a field.

    Earlier requests keep their own copy.
    """
    return service.delete(_editor(), key)


def _editor() -> Editor:
    environment = current_environment()
    return Editor(environment.workspace_id, environment.product_id, f"key {current_key_id()}")
