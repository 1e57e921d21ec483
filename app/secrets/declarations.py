"""What the packages declare about secrets, collected."""

from itertools import chain

from app.accounts import rotation as accounts
from app.customers import rotation as customers
from app.enrichment import rotation as enrichment
from app.evidence import rotation as evidence
from app.products import rotation as products
from app.webhooks import rotation as webhooks

DECLARATIONS = (accounts, customers, enrichment, evidence, products, webhooks)

SEALED_COLUMNS = tuple(chain.from_iterable(declaration.SEALED_COLUMNS for declaration in DECLARATIONS))
PEPPER_USES = tuple(chain.from_iterable(declaration.PEPPER_USES for declaration in DECLARATIONS))

COLUMNS_WITHOUT_SECRET = {"replaced_peppers.id": "names a pepper, and tells nothing about it"} | {
    column: reason for declaration in DECLARATIONS for column, reason in declaration.COLUMNS_WITHOUT_SECRET.items()
}
"""Binary columns that need no secret, and why."""
