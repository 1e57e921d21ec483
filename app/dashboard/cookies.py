"""Signed, short-lived cookies."""

from datetime import timedelta
from functools import partial
from typing import Any

from flask import Response, after_this_request, request
from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer

from app.accounts.guards import full_cookie_name
from app.core import clock
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.settings import current_settings


class _Signer(TimestampSigner):
    """A signer that reads the service's clock, which tests can set."""

    def get_timestamp(self) -> int:
        return int(clock.now().timestamp())


class SignedCookie:
    """A cookie with a JSON value that the browser cannot change."""

    def __init__(self, name: str, purpose: Purpose, lifetime: timedelta) -> None:
        self.name, self.purpose, self.lifetime = name, purpose, lifetime

    def read(self) -> Any:
        """Return the value that the browser presents, or None if there is no valid one."""
        text = request.cookies.get(full_cookie_name(self.name, current_settings()), "")
        try:
            return self._serializer().loads(text, max_age=int(self.lifetime.total_seconds()))
        except BadData:
            return None

    def set(self, value: Any) -> None:
        """Set the cookie with the response of the current request."""
        after_this_request(partial(self._add, self._serializer().dumps(value), self.lifetime))

    def delete(self) -> None:
        """Delete the cookie with the response of the current request."""
        after_this_request(partial(self._add, "", timedelta()))

    def _add(self, text: str | bytes, lifetime: timedelta, response: Response) -> Response:
        settings = current_settings()
        # Lax: the answer of an OpenID provider comes by a link from its site.
        response.set_cookie(
            full_cookie_name(self.name, settings),
            text if isinstance(text, str) else text.decode(),
            max_age=lifetime,
            path="/",
            secure=not settings.is_development,
            httponly=True,
            samesite="Lax",
        )
        return response

    def _serializer(self) -> URLSafeTimedSerializer:
        # The serializer takes its keys oldest first, signs with the last and accepts each.
        keys = pepper_ring().derive_all(self.purpose)[::-1]
        return URLSafeTimedSerializer(keys, salt=self.name, signer=_Signer)
