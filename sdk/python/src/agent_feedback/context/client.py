"""Customer context: request it from customers' agents, retrieve it, and record what came of it.

    client = feedback.customer_context
    customer = CustomerReferences(user_ref="user_42")
    context = client.context(purpose="product_personalization", customer=customer)
    if not context:
        client.ask(request.environ, purpose="product_personalization", customer=customer, remember=True)

Every call fails open: after an error `context` returns an empty `Context` and every other call None. With
`raise_errors=True` a call raises `ServiceUnavailable` or `ServiceRefused`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agent_feedback import protocol_files
from agent_feedback.context.calls import CallOptions, ContextAccess, ContextCall, ContextClient, JsonObject
from agent_feedback.context.fields import ContextFields
from agent_feedback.context.interaction import (
    NO_CUSTOMER,
    ContextRequest,
    CustomerReferences,
    fill_slot,
    is_objected_to,
    retried_interaction,
)
from agent_feedback.errors import InvalidOption
from agent_feedback.operation import normalize_named_operation
from agent_feedback.options import Options, is_enabled, read_company_key, read_endpoint
from agent_feedback.request import source_of

TIMEOUT_S = 0.25


class ContextItem(NamedTuple):
    """One signal: a field of the catalog and its value."""

    signal_id: str
    key: str
    type: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    allowed_uses: tuple[str, ...]
    """Empty for a value that an agent only inferred: it must not be used."""
    remembered: bool
    expires_at: str


class Context(NamedTuple):
    """The signals that may be used for one purpose; false without any."""

    retrieval_id: str | None = None
    identity_level: str | None = None
    context_version: str | None = None
    interaction_id: str | None = None
    items: tuple[ContextItem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.items)

    def value(self, key: str) -> str | None:
        """Return the value of a field if there is one that may be used."""
        return next((item.value for item in self.items if item.key == key and item.allowed_uses), None)

    @property
    def signal_ids(self) -> list[str]:
        """The ids of all signals, for `record_decision`."""
        return [item.signal_id for item in self.items]


class Observation(NamedTuple):
    """What a product observed of the response that carries a context request, and of its HTTP request."""

    status_code: int | None = None
    duration_ms: float | None = None
    session_ref: str | None = None
    runtime_hint: str | None = None
    request_observation: Mapping[str, str] | None = None

    def as_members(self) -> JsonObject:
        """Return the members of an enrichment request."""
        return {
            "statusCode": self.status_code,
            "durationMs": self.duration_ms,
            "sessionRef": self.session_ref,
            "runtimeHint": self.runtime_hint,
            "requestObservation": self.request_observation or None,
        }


class CustomerContext:
    """The client of customer context; every method may be called from any thread.

    `timeout` is in seconds and for a whole call; a call may override it.
    """

    def __init__(
        self, company_key: str | None = None, *, endpoint: str | None = None, timeout: float = TIMEOUT_S
    ) -> None:
        key, is_on = read_company_key(company_key), is_enabled()
        if key is None and is_on:
            raise InvalidOption("company_key (or AGENT_FEEDBACK_COMPANY_KEY) is needed")
        self._connect(ContextAccess(key, read_endpoint(endpoint, is_required=is_on), timeout, is_on))

    @classmethod
    def from_options(cls, options: Options) -> "CustomerContext":
        """Return the client that these options describe; without a company key its calls fail."""
        client = cls.__new__(cls)
        client._connect(
            ContextAccess(options.company_key, options.endpoint, options.context_timeout, options.is_enabled)
        )
        return client

    def _connect(self, access: ContextAccess) -> None:
        self._client = ContextClient(access)
        self._paths: dict[str, str] = protocol_files.read("contract.json")["paths"]
        self.fields = ContextFields(self._client, self._paths["fields"])

    def ask(
        self,
        request: Any,
        *,
        purpose: str,
        remember: bool = False,
        customer: CustomerReferences = NO_CUSTOMER,
        field_keys: Sequence[str] | None = None,
        operation: str | None = None,
    ) -> None:
        """Have the response of this request carry a context request, if the adapter may modify the response.

        `request` is the WSGI environment, the ASGI scope, or the request of a framework around one of them. An
        `operation` that the service would refuse is replaced by that of the path.
        """
        operation = normalize_named_operation(operation)
        fill_slot(source_of(request), ContextRequest(purpose, remember, customer, field_keys, operation))

    def interaction(self, request: Any) -> str | None:
        """Return the interaction that this request retries after its context request was answered."""
        return retried_interaction(source_of(request))

    def request_enrichment(
        self,
        context_request: ContextRequest,
        *,
        interaction_id: str,
        surface: str,
        observation: Observation | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> JsonObject | None:
        """Create an enrichment request, or repeat it, and return its action with the service's URLs.

        The context request must name its operation.
        """
        body = {
            "interactionId": str(interaction_id),
            "surface": surface,
            **context_request.as_members(),
            **(observation or Observation()).as_members(),
        }
        return self._client.call(self._post("enrichment", body), dict, None, CallOptions(raise_errors, timeout))

    def context(
        self,
        *,
        purpose: str,
        customer: CustomerReferences = NO_CUSTOMER,
        interaction_id: str | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> Context:
        """Return the context of a customer, of an interaction, or of both.

        It is empty without either, and for `targeted_advertising` while a request with `Sec-GPC: 1` is answered.
        """
        if (not customer and not interaction_id) or is_objected_to(purpose):
            return Context()
        body = {"purpose": purpose, **customer.as_members(), "interactionId": interaction_id}
        call = self._post("context", body)
        return self._client.call(call, _context, Context(), CallOptions(raise_errors, timeout))

    def record_decision(
        self,
        *,
        external_decision_id: str,
        context_retrieval_id: str | None,
        signal_ids: Sequence[str],
        variant: str | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> JsonObject | None:
        """Record a decision that used a context and return it; None without a retrieval, and after an error."""
        if context_retrieval_id is None:
            return None
        body = {
            "externalDecisionId": external_decision_id,
            "contextRetrievalId": context_retrieval_id,
            "signalIds": list(signal_ids),
            "variant": variant,
        }
        return self._client.call(
            self._post("personalizationDecisions", body), _member("decision"), None, CallOptions(raise_errors, timeout)
        )

    def record_outcome(
        self,
        *,
        external_outcome_id: str,
        decision_id: str | None,
        outcome: str,
        occurred_at: str | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> JsonObject | None:
        """Record the outcome of a decision and return it; None without a decision, and after an error."""
        if decision_id is None:
            return None
        body = {
            "externalOutcomeId": external_outcome_id,
            "decisionId": decision_id,
            "outcome": outcome,
            "occurredAt": occurred_at,
        }
        return self._client.call(
            self._post("personalizationOutcomes", body), _member("outcome"), None, CallOptions(raise_errors, timeout)
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def _post(self, path: str, body: Mapping[str, Any]) -> ContextCall:
        return ContextCall("POST", self._paths[path], body)


def _member(name: str) -> Callable[[JsonObject], JsonObject]:
    def parse(content: JsonObject) -> JsonObject:
        return dict(content[name])

    return parse


def _context(content: JsonObject) -> Context:
    return Context(
        str(content["retrievalId"]),
        content.get("identityLevel"),
        content.get("contextVersion"),
        content.get("interactionId"),
        tuple(_item(item) for item in content["items"]),
    )


def _item(item: JsonObject) -> ContextItem:
    return ContextItem(
        str(item["signalId"]),
        str(item["key"]),
        str(item["type"]),
        str(item["value"]),
        str(item.get("summary", "")),
        str(item["provenance"]),
        item.get("confidence"),
        tuple(item["allowedUses"]),
        bool(item["remembered"]),
        str(item["expiresAt"]),
    )
