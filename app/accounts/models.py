"""Tables of workspaces, users and how they sign in, sessions, sign-in counters and the audit log."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.accounts.rules import ROLES
from app.core.database import Base


class Workspace(Base):
    """A company, to which everything else belongs."""

    __tablename__ = "workspaces"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class User(Base):
    """A person who signs in to the dashboard and may belong to several workspaces."""

    __tablename__ = "users"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(Text, unique=True)
    """In lower case."""
    password_hash: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Membership(Base):
    """The role of a user in a workspace."""

    __tablename__ = "memberships"
    __table_args__ = (CheckConstraint(f"role IN {ROLES}", name="role"),)

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    chosen_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When the user last switched a session to this workspace; signing in opens the one chosen last."""


class LoginSession(Base):
    """A login session, found by the digest of the token in the browser's cookie."""

    __tablename__ = "login_sessions"
    __table_args__ = (
        # Ending a membership ends its sessions.
        ForeignKeyConstraint(
            ["workspace_id", "user_id"], ["memberships.workspace_id", "memberships.user_id"], ondelete="CASCADE"
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    user_id: Mapped[uuid.UUID] = mapped_column(index=True)
    workspace_id: Mapped[uuid.UUID] = mapped_column()
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
    """As `rules.session_expiry` computes it."""
    browser: Mapped[str | None] = mapped_column(Text)
    """The family of the browser that has opened it."""
    network: Mapped[str | None] = mapped_column(Text)
    """The network of the address that has opened it."""


class Invitation(Base):
    """A link by which somebody joins a workspace once, found by the digest of the token in its address."""

    __tablename__ = "invitations"
    __table_args__ = (CheckConstraint(f"role IN {ROLES}", name="role"), UniqueConstraint("workspace_id", "digest"))

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    email: Mapped[str] = mapped_column(Text)
    """In lower case."""
    role: Mapped[str] = mapped_column(Text)
    created_by: Mapped[uuid.UUID] = mapped_column()
    """The user, whose own role has to allow the invitation until it is accepted."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
    accepted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class SecondFactor(Base):
    """A user's second factor: time-based codes (TOTP), and recovery codes for a lost device."""

    __tablename__ = "second_factors"

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    confirmed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """When a first code has shown that the user's device has the secret; signing in needs no code before."""
    last_step: Mapped[int] = mapped_column(BigInteger)
    """The time step of the last accepted code; a code of this or an earlier one is not accepted again."""
    recovery_digests: Mapped[list[bytes]] = mapped_column(ARRAY(LargeBinary))
    """The digests of the unused recovery codes."""


class UserIdentity(Base):
    """A user as an OpenID provider knows them."""

    __tablename__ = "user_identities"
    # One at each provider: another subject with the same e-mail address is another person.
    __table_args__ = (UniqueConstraint("user_id", "issuer"),)

    issuer: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class SignInThrottle(Base):
    """A counter of attempts to sign in, identified by a keyed digest only."""

    __tablename__ = "sign_in_throttles"

    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    failures: Mapped[int] = mapped_column(Integer)
    free_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    """Until when attempts are refused; None without a wait, since the clocks of two processes may differ."""
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)


class AuditEntry(Base):
    """One change: the actor, what was done, and to what. Never holds a secret or a customer's reference."""

    __tablename__ = "audit_entries"

    workspace_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    actor: Mapped[str] = mapped_column(Text)
    action: Mapped[str] = mapped_column(Text)
    subject: Mapped[str] = mapped_column(Text)
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
