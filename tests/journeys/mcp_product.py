"""A shop as an MCP server over HTTP, which ranks its products by what a customer's agent tells."""

import os

from agent_feedback import AgentFeedback, CustomerReferences
from agent_feedback.mcp import current_call
from mcp.server.mcpserver import MCPServer

from tests.journeys.shop import PRODUCTS, PURPOSE, RANKS

server = MCPServer("shop")
# Generous: the machine may be busy with the service itself.
feedback = AgentFeedback(
    context_timeout=10, customer_ref=lambda context: context.params["arguments"]["customer"], runtime_hint="user-agent"
)
feedback.mcp(server)


@server.tool(structured_output=False)
def rank_products(customer: str) -> str:
    """List the products, the best first."""
    references = CustomerReferences(user_ref=customer)
    context = feedback.customer_context.context(purpose=PURPOSE, customer=references)
    priority = context.value("shopping.priority")
    if priority is None:
        feedback.customer_context.ask(
            current_call(), purpose=PURPOSE, remember=True, customer=references, field_keys=["shopping.priority"]
        )
    ranked = sorted(PRODUCTS, key=RANKS[priority]) if priority else PRODUCTS
    return ", ".join(str(product["name"]) for product in ranked)


@server.tool(structured_output=False)
def cancel_order(customer: str) -> str:
    """Cancel an order, which always fails."""
    raise ValueError(customer)


if __name__ == "__main__":
    server.run("streamable-http", port=int(os.environ["PORT"]))
