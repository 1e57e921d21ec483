"""Products, their environments, and the keys of these."""

import uuid
from datetime import datetime

from sqlalchemy import Boolean, CheckConstraint, DateTime, ForeignKey, Integer, LargeBinary, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import Base
from app.products.rules import DEFAULT_RETENTION_DAYS, KeyKind, Mode


class Product(Base):
    """Something that a company offers to agents."""

    __tablename__ = "products"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Environment(Base):
    """One deployment of a product; all that is ingested belongs to one."""

    __tablename__ = "environments"
    __table_args__ = (
        CheckConstraint(f"mode IN {tuple(map(str, Mode))}", name="mode"),
        CheckConstraint("retention_days BETWEEN 1 AND 365", name="retention_days"),
        CheckConstraint("evidence_retention_days BETWEEN 1 AND 365", name="evidence_retention_days"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    product_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Text)
    mode: Mapped[str] = mapped_column(Text, default=Mode.NEVER_ASK)
    retention_days: Mapped[int] = mapped_column(Integer, default=DEFAULT_RETENTION_DAYS)
    evidence_retention_days: Mapped[int] = mapped_column(Integer, default=DEFAULT_RETENTION_DAYS)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Key(Base):
    """A key of an environment, stored as a digest; of a product key the encrypted signing secret as well."""

    __tablename__ = "keys"
    __table_args__ = (CheckConstraint(f"kind IN {tuple(map(str, KeyKind))}", name="kind"),)

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    environment_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("environments.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(Text)
    has_company_right: Mapped[bool] = mapped_column(Boolean, server_default=text("false"))
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    pepper_id: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The pepper of the digest; null, of a key that was not used since this is recorded, is an unknown one."""
    sealed_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Only of product keys: what capabilities are signed with."""
    replaces_id: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    refused_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When its id was last presented and not accepted, to the minute: after its end, with another text, or where a key
    of another kind is wanted."""
