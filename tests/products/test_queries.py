"""The keys that the set-up page looks at."""

from datetime import timedelta

from app.core import clock
from app.core.database import transaction
from app.products import queries
from app.products import service as products
from app.products.rules import KeyKind
from tests.factories import Company


def test_refused_keys_of_any_kind_stand_beside_the_newest_product_keys(company: Company) -> None:
    with transaction():
        old_key = products.get_key(company.product_key.split("_")[2])
        old_key.created_at = clock.now() - timedelta(days=1)
        new_key = products.create_key(company.environment_id, KeyKind.PRODUCT)
        refused_keys = [products.create_key(company.environment_id, KeyKind.READ) for _ in range(2)]
        for key, minutes in zip(refused_keys, (1, 2), strict=True):
            products.get_key(key.id).refused_at = clock.now() + timedelta(minutes=minutes)
    with transaction():
        ids = {
            limit: [key.id for key in queries.list_product_and_refused_keys(company.environment_id, limit)]
            for limit in (1, 2)
        }
    assert ids == {
        1: [refused_keys[1].id, new_key.id],
        2: [refused_keys[1].id, refused_keys[0].id, new_key.id, old_key.id],
    }
