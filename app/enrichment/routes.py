"""The endpoints of requests, answers and choices."""

from app.core.http.blueprint import Blueprint
from app.enrichment import answers, choices, requests
from app.enrichment.answers import AcceptedAnswer
from app.enrichment.guards import current_request
from app.enrichment.schemas import (
    AcceptedAnswerSchema,
    Answer,
    AnswerSchema,
    ChoiceResultSchema,
    ContextChoice,
    ContextChoiceSchema,
    NewRequest,
    NewRequestSchema,
    RequestSchema,
)
from app.enrichment.views import ChoiceView, RequestView
from app.tokens.guards import current_environment, current_key_id

requests_blp = Blueprint(
    "enrichment_requests", __name__, title="Enrichment requests", description="Requests for one interaction's context."
)
answers_blp = Blueprint(
    "enrichment_answers",
    __name__,
    title="Enrichment answers",
    description="What the customer's agent answers, and the user's choice.",
)


@requests_blp.post("/requests", operation_id="requestContext")
@requests_blp.arguments(NewRequestSchema)
@requests_blp.response(200, RequestSchema, errors=(403, 409))
def request_context(new_request: NewRequest) -> RequestView:
    """Request one interaction's context.

    The answer is ready to be handed to the customer's agent; a retry gets the same handle in its current state.
    """
    return requests.create(current_environment(), current_key_id(), new_request)


@answers_blp.post("/requests/inspect", operation_id="inspectRequest")
@answers_blp.response(200, RequestSchema)
def inspect() -> RequestView:
    """Show the request of a handle in its current state.

    It stores nothing. The body is ignored.
    """
    return choices.inspect(current_environment(), current_request())


@answers_blp.post("/answers", operation_id="answerRequest")
@answers_blp.arguments(AnswerSchema)
@answers_blp.response(200, AcceptedAnswerSchema, errors=(403, 409))
def answer(new_answer: Answer) -> AcceptedAnswer:
    """Answer in the catalog's words.

    The first answer stays; a retry gets the same receipt.
    """
    return answers.answer(current_request(), new_answer)


@answers_blp.post("/consent/decisions", operation_id="decideContext")
@answers_blp.arguments(ContextChoiceSchema)
@answers_blp.response(200, ChoiceResultSchema)
def choose(choice: ContextChoice) -> ChoiceView:
    """Record the user's explicit choice.

    A no counts at once, for every later request of this purpose.
    """
    return choices.choose(current_request(), choice)
