"""The tables whose rows belong to customers."""

from sqlalchemy import Table

from app.core.database import Base
from app.customers.models import Customer, CustomerChoice, CustomerReference


def own_tables() -> tuple[Table, ...]:
    """Return the tables of customers, of their references and of their choices."""
    return tuple(Base.metadata.tables[model.__tablename__] for model in (Customer, CustomerReference, CustomerChoice))


def tables_of_customers() -> list[Table]:
    """Return the tables of other packages whose rows belong to a customer: those with a column `customer_id`."""
    tables = (table for table in Base.metadata.sorted_tables if "customer_id" in table.columns)
    return [table for table in tables if table not in own_tables()]
