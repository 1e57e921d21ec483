"""A small shop that ranks its products by what its customers' agents tell."""

import uuid
from typing import Any

from agent_feedback import AgentFeedback, Context, CustomerReferences
from flask import Flask, abort, jsonify, render_template_string, request

PURPOSE = "product_personalization"
PRODUCTS = [
    {"name": "boots", "price": 180, "quality": 9, "days": 5},
    {"name": "sneakers", "price": 45, "quality": 4, "days": 3},
    {"name": "sandals", "price": 60, "quality": 6, "days": 1},
]
RANKS = {
    "price": lambda product: product["price"],
    "quality": lambda product: -product["quality"],
    "speed": lambda product: product["days"],
}
PAGE = "<!doctype html><html><head><title>Shoes</title></head><body>{{ names }}</body></html>"

# Generous: the machine may be busy with the service itself.
feedback = AgentFeedback(context_timeout=10)
context = feedback.customer_context
app = Flask(__name__)
app.wsgi_app = feedback.wsgi(app.wsgi_app)


@app.before_request
def only_for_members() -> None:
    """Refuse who is not logged in; agents answer over the relay without."""
    if request.headers.get("X-Login") != "member":
        abort(401)


def customer() -> CustomerReferences:
    """Return the references of who is here."""
    user = request.headers.get("X-User")
    return CustomerReferences(user, "account_1") if user else CustomerReferences()


def retrieve_context() -> Context:
    """Return what is known, and ask for what is not."""
    customer_context = context.context(
        purpose=PURPOSE, interaction_id=context.interaction(request.environ), customer=customer()
    )
    if customer_context.value("shopping.priority") is None:
        context.ask(
            request.environ,
            purpose=PURPOSE,
            remember="X-User" in request.headers,
            field_keys=["shopping.priority"],
            customer=customer(),
        )
    return customer_context


def rank(customer_context: Context) -> list[str]:
    """Return the names of the products, the best first."""
    sort_key = RANKS.get(customer_context.value("shopping.priority") or "")
    return [str(product["name"]) for product in (sorted(PRODUCTS, key=sort_key) if sort_key else PRODUCTS)]


@app.get("/products")
def products() -> Any:
    """List the products."""
    customer_context = retrieve_context()
    decision = context.record_decision(
        external_decision_id=str(uuid.uuid4()),
        context_retrieval_id=customer_context.retrieval_id,
        signal_ids=customer_context.signal_ids,
        variant=f"by_{customer_context.value('shopping.priority')}",
    )
    return jsonify(products=rank(customer_context), decision=decision and decision["id"])


@app.get("/page")
def page() -> str:
    """Show the products to a browser."""
    return render_template_string(PAGE, names=", ".join(rank(retrieve_context())))


@app.get("/sizes")
def sizes() -> Any:
    """Ask one of the shop's own questions."""
    customer_context = context.context(purpose=PURPOSE, interaction_id=context.interaction(request.environ))
    if not customer_context:
        context.ask(request.environ, purpose=PURPOSE, operation="/sizes")
    return jsonify(size=customer_context.value("shop.size"), categories=[item.type for item in customer_context.items])


@app.post("/orders/<decision>")
def order(decision: str) -> Any:
    """Sell something, and tell that the ranking led to it."""
    outcome = context.record_outcome(
        external_outcome_id=f"order-{uuid.uuid4()}", decision_id=decision, outcome="conversion"
    )
    return jsonify(outcome=outcome and outcome["outcome"])
