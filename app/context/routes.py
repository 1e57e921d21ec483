"""The endpoint that retrieves a customer's context."""

from app.context import service
from app.context.schemas import ContextQuery, ContextQuerySchema, RetrievalSchema
from app.context.service import Retrieval
from app.core.http.blueprint import Blueprint
from app.tokens.guards import current_environment

blp = Blueprint(
    "context", __name__, title="Customer context", description="What a company may know about a customer right now."
)


@blp.post("/customer-context", operation_id="retrieveCustomerContext")
@blp.arguments(ContextQuerySchema)
@blp.response(200, RetrievalSchema, errors=(409,))
def retrieve(query: ContextQuery) -> Retrieval:
    """Retrieve a customer's context for one purpose.

    Read-only: an unknown reference creates no customer and has no items.
    """
    return service.retrieve(current_environment(), query)
