"""The interactions of a session around one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.database.pages import Order, Position
from app.dashboard.scope import Scope
from app.interactions.queries import InteractionItem
from app.interactions.session_queries import SessionItem, find_session, list_session_interactions

NEIGHBOURS = 5
"""How many are shown on either side."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A session, and some of its interactions in order, that in the middle included."""

    session: SessionItem
    interactions: Sequence[InteractionItem]


def find_neighbours(scope: Scope, interaction: InteractionItem) -> Neighbours | None:
    """Return the interactions of the same session before and after one, or None without a session."""
    if interaction.session_ref is None:
        return None
    key = (interaction.session_source or "", interaction.session_ref, interaction.customer_ref or "")
    session_item = find_session(scope.environment.id, *key, since=scope.kept_since)
    if session_item is None:
        return None
    position = Position(interaction.received_at, interaction.interaction_id)
    before, after = (
        list_session_interactions(scope.environment.id, session_item, NEIGHBOURS, position, order=order).rows
        for order in (Order.NEWEST, Order.OLDEST)
    )
    return Neighbours(session_item, [*reversed(before), interaction, *after])
