"""Every digest and every sealed value is declared, so that a rotation forgets none."""

from itertools import chain

from sqlalchemy import ARRAY, LargeBinary

from app.core.purposes import Pepper, PepperRing, Purpose
from app.models import METADATA
from app.secrets.declarations import COLUMNS_WITHOUT_SECRET, PEPPER_USES, SEALED_COLUMNS
from tests.conftest import ROOT


def test_every_binary_column_is_declared_once() -> None:
    columns = {
        f"{table.name}.{column.name}"
        for table in METADATA.sorted_tables
        for column in table.columns
        if isinstance(column.type.item_type if isinstance(column.type, ARRAY) else column.type, LargeBinary)
    }
    sealed = [f"{column.table}.{column.column}" for column in SEALED_COLUMNS]
    declared = [*sealed, *chain.from_iterable(use.columns for use in PEPPER_USES), *COLUMNS_WITHOUT_SECRET]
    assert sorted(declared) == sorted(columns)


def test_a_sealed_column_is_walked_by_the_key_of_its_table() -> None:
    for column in SEALED_COLUMNS:
        assert list(column.key) == [key.name for key in METADATA.tables[column.table].primary_key]


def test_every_purpose_is_made_by_the_newest_and_recognised_by_all() -> None:
    ring = PepperRing([b"new", b"old"])
    for purpose in Purpose:
        assert ring.derive_all(purpose, "id") == [
            Pepper(b"new").derive(purpose, "id"),
            Pepper(b"old").derive(purpose, "id"),
        ]
    assert ring.newest.id != ring.peppers[1].id


def test_no_purpose_is_derived_from_the_newest_pepper_where_it_is_recognised() -> None:
    # `current_pepper` signs and digests what is new; everything else has to try the whole ring.
    # Counters of limits begin again with a new pepper.
    users = {
        str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*.py") if "current_pepper()" in path.read_text()
    }
    assert users == {
        "app/core/limits/limiter.py",
        "app/core/pepper.py",
        "app/customers/service.py",
        "app/enrichment/views.py",
        "app/products/service.py",
    }
