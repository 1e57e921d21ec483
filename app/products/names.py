"""Names of the products of a workspace, and of the environments of a product."""

import uuid
from typing import Any

from sqlalchemy import Select, exists, select

from app.accounts.rules import MAX_NAME_LENGTH
from app.accounts.service import lock_workspace
from app.core.database import session
from app.core.errors import NotFound, Unprocessable
from app.core.wire.text import has_control_character, is_visible, normalize
from app.products.models import Environment, Product


def read_name(text: str) -> str:
    """Return a text as the name that it is stored as, or raise `Unprocessable`."""
    name = normalize(text)
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise Unprocessable(f"A name has 1 to {MAX_NAME_LENGTH} characters.")
    if has_control_character(name) or not is_visible(name):
        raise Unprocessable("A name has no control characters, and not only blank ones.")
    return name


# No unique constraint: rows of earlier versions may have the same name. Of two simultaneous writers, the lock lets one
# see the other's row.


def require_free_product_name(workspace_id: uuid.UUID, name: str) -> None:
    """Lock the workspace, and raise `Unprocessable` if one of its products has this name."""
    lock_workspace(workspace_id)
    products = select(Product.id).where(Product.workspace_id == workspace_id, Product.name == name)
    _require_none(products, f"This workspace already has a product “{name}”. Choose another name.")


def require_free_environment_name(product_id: uuid.UUID, name: str) -> None:
    """Lock the product, and raise `Unprocessable` if one of its environments has this name."""
    lock = select(Product.id).where(Product.id == product_id).with_for_update(key_share=True)
    if session().scalar(lock) is None:
        raise NotFound("There is no product with this id.")
    environments = select(Environment.id).where(Environment.product_id == product_id, Environment.name == name)
    _require_none(environments, f"This product already has an environment “{name}”. Choose another name.")


def _require_none(rows: Select[Any], sentence: str) -> None:
    if session().scalar(select(exists(rows))):
        raise Unprocessable(sentence)
