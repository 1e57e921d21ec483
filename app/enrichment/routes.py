"""Questions and answers over HTTP."""

from app.core.http.blueprint import Blueprint
from app.enrichment import answers, choices, definitions, requests
from app.enrichment.answers import AcceptedAnswer
from app.enrichment.definitions import Definitions
from app.enrichment.guards import current_request
from app.enrichment.models import FieldDefinition
from app.enrichment.schemas import (
    AcceptedAnswerSchema,
    Answer,
    AnswerSchema,
    ChosenSchema,
    ContextChoice,
    ContextChoiceSchema,
    Definition,
    DefinitionSchema,
    DefinitionsSchema,
    FieldPathSchema,
    NewRequest,
    NewRequestSchema,
    RequestSchema,
    StoredDefinitionSchema,
)
from app.enrichment.views import ChosenView, RequestView
from app.tokens.guards import current_environment, current_key_id

questions = Blueprint("questions", __name__, description="A product's own questions.")
asking = Blueprint("asking", __name__, description="Requests for one interaction's context.")
answering = Blueprint("answering", __name__, description="What the customer's agent answers, and the user's choice.")


@questions.put("/fields/<key>")
@questions.arguments(FieldPathSchema, location="path", as_kwargs=True)
@questions.arguments(DefinitionSchema)
@questions.response(200, StoredDefinitionSchema, errors=(409,))
def put_field(definition: Definition, key: str) -> FieldDefinition:
    """Create or replace a question; requests that were made before keep their own copy."""
    return definitions.put(current_environment(), current_key_id(), key, definition)


@questions.get("/fields")
@questions.response(200, DefinitionsSchema)
def list_fields() -> Definitions:
    """List the product's own questions, and tell whether the built-in ones still count."""
    return definitions.list_all(current_environment())


@questions.delete("/fields/<key>")
@questions.arguments(FieldPathSchema, location="path", as_kwargs=True)
@questions.response(200, StoredDefinitionSchema, errors=(404,))
def delete_field(key: str) -> FieldDefinition:
    """Remove a question; requests that were made before keep their own copy."""
    return definitions.delete(current_environment(), current_key_id(), key)


@asking.post("/requests")
@asking.arguments(NewRequestSchema)
@asking.response(200, RequestSchema, errors=(409,))
def request_context(new_request: NewRequest) -> RequestView:
    """Ask for one interaction's context.

    The answer is ready to be handed to the customer's agent; a retry gets the same handle in its current state.
    """
    return requests.create(current_environment(), current_key_id(), new_request)


@answering.post("/requests/inspect")
@answering.response(200, RequestSchema)
def inspect() -> RequestView:
    """Show the request of a handle as it stands. The body is ignored."""
    return choices.inspect(current_environment(), current_request())


@answering.post("/answers")
@answering.arguments(AnswerSchema)
@answering.response(200, AcceptedAnswerSchema, errors=(403, 409))
def answer(new_answer: Answer) -> AcceptedAnswer:
    """Answer in the catalog's words; a retry gets the same receipt."""
    return answers.answer(current_request(), new_answer)


@answering.post("/consent/decisions")
@answering.arguments(ContextChoiceSchema)
@answering.response(200, ChosenSchema)
def choose(choice: ContextChoice) -> ChosenView:
    """Record the user's explicit choice; a no counts at once, for every later request of this purpose."""
    return choices.choose(current_request(), choice)
