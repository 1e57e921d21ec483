"""What a company asks of its customers' agents, and what it does with the answers.

    context = feedback.customer_context
    known = context.context(purpose="product_personalization", user_ref="user_42")
    if not known:
        context.ask(request.environ, purpose="product_personalization", user_ref="user_42", remember=True)

Everything here fails open: without the service there are no answers, and the product goes on. With `raise_errors=True`
a call raises `ContextError` instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_feedback import files
from agent_feedback.asking import Ask, interaction_of, mark
from agent_feedback.context_calls import Access, Content, ContextCalls, How, Question
from agent_feedback.fields import Fields
from agent_feedback.options import BadOption, Options, is_switched_on, read_company_key, read_endpoint

TIMEOUT_S = 0.25


@dataclass(frozen=True)
class ContextItem:
    """One thing that is known, as the company's own catalog words it."""

    signal_id: str
    key: str
    type: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    allowed_uses: tuple[str, ...]
    """Empty for what an agent only inferred: that is no fact to build on."""
    remembered: bool
    expires_at: str


@dataclass(frozen=True)
class Context:
    """What is known for one purpose; false while that is nothing."""

    retrieval_id: str | None = None
    identity_level: str | None = None
    context_version: str | None = None
    interaction_id: str | None = None
    items: tuple[ContextItem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.items)

    def value(self, key: str) -> str | None:
        """Return the value that may be used for a key, if there is one."""
        return next((item.value for item in self.items if item.key == key and item.allowed_uses), None)

    @property
    def signal_ids(self) -> list[str]:
        """The signals that a decision may name."""
        return [item.signal_id for item in self.items]


@dataclass(frozen=True)
class Evidence:
    """What a product saw of the very response that asks; never what an agent says of itself."""

    status_code: int | None = None
    duration_ms: float | None = None
    session_ref: str | None = None
    runtime_hint: str | None = None
    request_observation: Mapping[str, str] | None = None

    def as_members(self) -> Content:
        """Return it as the service reads it."""
        return {
            "statusCode": self.status_code,
            "durationMs": self.duration_ms,
            "sessionRef": self.session_ref,
            "runtimeHint": self.runtime_hint,
            "requestObservation": self.request_observation or None,
        }


class CustomerContext:
    """The company's side of customer context; safe to share between threads.

    `timeout` is in seconds and for a whole call; every call may have its own.
    """

    def __init__(
        self, company_key: str | None = None, *, endpoint: str | None = None, timeout: float = TIMEOUT_S
    ) -> None:
        key = read_company_key(company_key)
        if key is None:
            raise BadOption("company_key (or AGENT_FEEDBACK_COMPANY_KEY) is needed")
        self._open(Access(key, read_endpoint(endpoint), timeout, is_switched_on()))

    @classmethod
    def of(cls, options: Options) -> "CustomerContext":
        """Return the context that belongs to these options."""
        made = cls.__new__(cls)
        made._open(Access(options.company_key, options.endpoint, options.context_timeout, options.is_enabled))
        return made

    def _open(self, access: Access) -> None:
        self._calls = ContextCalls(access)
        self._paths: dict[str, str] = files.read("contract.json")["paths"]
        self.fields = Fields(self._calls, self._paths["fields"])

    def ask(
        self,
        environ: Mapping[str, Any],
        *,
        purpose: str,
        remember: bool = False,
        user_ref: str | None = None,
        account_ref: str | None = None,
        anonymous_ref: str | None = None,
        field_keys: Sequence[str] | None = None,
        operation: str | None = None,
    ) -> None:
        """Have this request's response ask the agent. Where the adapter leaves the response alone, it does nothing."""
        references = (user_ref, account_ref, anonymous_ref)
        mark(environ, Ask(purpose, remember, *references, field_keys=field_keys, operation=operation))

    def interaction(self, environ: Mapping[str, Any]) -> str | None:
        """Return the interaction that this request repeats after its question was answered."""
        return interaction_of(environ)

    def request_enrichment(
        self,
        *,
        interaction_id: str,
        operation: str,
        surface: str,
        purpose: str,
        remember: bool = False,
        user_ref: str | None = None,
        account_ref: str | None = None,
        anonymous_ref: str | None = None,
        field_keys: Sequence[str] | None = None,
        evidence: Evidence | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> Content | None:
        """Return what an agent may be asked; its URLs are the service's own. Repeating it returns the same."""
        body = {
            "interactionId": str(interaction_id),
            "operation": operation,
            "surface": surface,
            "purpose": purpose,
            "remember": remember,
            **_references(user_ref, account_ref, anonymous_ref),
            "fieldKeys": None if field_keys is None else list(field_keys),
            **(evidence or Evidence()).as_members(),
        }
        return self._calls.call(self._post("enrichment", body), dict, None, How(raise_errors, timeout))

    def context(
        self,
        *,
        purpose: str,
        user_ref: str | None = None,
        account_ref: str | None = None,
        anonymous_ref: str | None = None,
        interaction_id: str | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> Context:
        """Return what is known of a customer, of an interaction, or of both; of nobody it is nothing."""
        whom = {**_references(user_ref, account_ref, anonymous_ref), "interactionId": interaction_id}
        if not any(whom.values()):
            return Context()
        question = self._post("context", {"purpose": purpose, **whom})
        return self._calls.call(question, _context, Context(), How(raise_errors, timeout))

    def record_decision(
        self,
        *,
        external_decision_id: str,
        context_retrieval_id: str | None,
        signal_ids: Sequence[str],
        variant: str | None = None,
        raise_errors: bool = False,
        timeout: float | None = None,
    ) -> Content | None:
        """Record what was chosen with a context; None when it was not recorded, or there was no retrieval."""
        if context_retrieval_id is None:
            return None
        body = {
            "externalDecisionId": external_decision_id,
            "contextRetrievalId": context_retrieval_id,
            "signalIds": list(signal_ids),
            "variant": variant,
        }
        return self._calls.call(
            self._post("personalizationDecisions", body), _member("decision"), None, How(raise_errors, timeout)
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
    ) -> Content | None:
        """Record how a decision turned out; None when it was not recorded, or there is no decision."""
        if decision_id is None:
            return None
        body = {
            "externalOutcomeId": external_outcome_id,
            "decisionId": decision_id,
            "outcome": outcome,
            "occurredAt": occurred_at,
        }
        return self._calls.call(
            self._post("personalizationOutcomes", body), _member("outcome"), None, How(raise_errors, timeout)
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._calls.close()

    def _post(self, path: str, body: Mapping[str, Any]) -> Question:
        return Question("POST", self._paths[path], body)


def _references(user_ref: str | None, account_ref: str | None, anonymous_ref: str | None) -> dict[str, str | None]:
    return {"userRef": user_ref, "accountRef": account_ref, "anonymousRef": anonymous_ref}


def _member(name: str) -> Callable[[Content], Content]:
    def read(content: Content) -> Content:
        return dict(content[name])

    return read


def _context(content: Content) -> Context:
    return Context(
        str(content["retrievalId"]),
        content.get("identityLevel"),
        content.get("contextVersion"),
        content.get("interactionId"),
        tuple(_item(item) for item in content["items"]),
    )


def _item(item: Content) -> ContextItem:
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
