"""Ask an OpenID provider who somebody is: authorization code flow with PKCE, state and nonce.

Authlib's integration for Flask is not used: it keeps the pending sign-in in Flask's own cookie session, which this
service does not have, and has no limit on how often a provider that is unavailable is asked.
"""

import logging
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from app.accounts.identities import Identity
from app.core import clock
from app.core.errors import Unauthorized, Unavailable
from config.settings import OidcProvider

SCOPE = "openid email"

TIMEOUTS_S = (3, 5)
"""To connect, and to wait for an answer."""

METADATA_TTL_S = 600
RETRY_AFTER_FAILURE_S = 10
"""How long a provider that was unavailable is not asked, so that waiting for it does not take all threads."""

MAX_EXCHANGES = 2
"""How many threads of a process exchange codes at the same time; further sign-ins are told to try again."""

REQUIRED_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")

ALGORITHMS = [f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)]
"""Signatures by a key of the provider's. A shared secret would make one of whoever knows it, and `none` is none."""

KEY_TYPES = ("RSA", "EC")

LEEWAY_S = 60
"""How far the provider's clock may be off."""

logger = logging.getLogger(__name__)


class ProviderUnavailable(Unavailable):
    """The provider does not answer, or not as OpenID Connect says."""

    code = "identity_provider_unavailable"
    sentence = "The identity provider did not answer as it should. Please try again shortly, or use your password."


class SignInRejected(Unauthorized):
    """The provider's answer proves nothing, or says no."""

    code = "sign_in_rejected"
    sentence = "The identity provider did not confirm the sign-in. Please start again."


@dataclass(frozen=True, slots=True)
class PendingAuthorization:
    """What has to be remembered of a sign-in while its browser is at the provider."""

    state: str
    nonce: str
    code_verifier: str


class OidcClient:
    """This service as a client of one provider.

    No thread waits for another one: of a process, one at a time discovers the metadata and `MAX_EXCHANGES` exchange
    codes, and a request that would be one more raises `ProviderUnavailable` at once. So does every request that needs
    the provider for `RETRY_AFTER_FAILURE_S` after it was unavailable.
    """

    def __init__(self, provider: OidcProvider, redirect_uri: str, *, requires_https: bool) -> None:
        self._provider, self._redirect_uri, self._requires_https = provider, redirect_uri, requires_https
        self._discovery, self._exchanges = threading.Lock(), threading.Semaphore(MAX_EXCHANGES)
        self._metadata: dict[str, Any] = {}
        self._expires_at = self._retry_at = 0.0

    def begin(self) -> tuple[str, PendingAuthorization]:
        """Return the URL at the provider that a browser is sent to, and what has to be remembered."""
        metadata = self._load_metadata()
        pending = PendingAuthorization(*(secrets.token_urlsafe(48) for _ in range(3)))
        with _provider_errors(), self._session(metadata) as session:
            url, _ = session.create_authorization_url(
                metadata["authorization_endpoint"],
                state=pending.state,
                nonce=pending.nonce,
                code_verifier=pending.code_verifier,
            )
        return str(url), pending

    def finish(self, pending: PendingAuthorization, code: str) -> Identity:
        """Exchange the code that the browser has brought back, and return whom the provider has authenticated.

        Raise `SignInRejected` or `ProviderUnavailable`.
        """
        metadata = self._load_metadata()
        with _provider_errors(), self._exchange(), self._session(metadata) as session:
            token = session.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=pending.code_verifier,
                allow_redirects=False,
            )
            key_set = _get_object(session, metadata["jwks_uri"], withhold_token=True)
            claims = self._verified_claims(token, key_set, metadata["issuer"], pending.nonce)
            if "email" not in claims and "userinfo_endpoint" in metadata:
                user_info = _get_object(session, metadata["userinfo_endpoint"])
                # A substituted access token would bring somebody else's address.
                claims = user_info if user_info.get("sub") == claims["sub"] else claims
        return Identity(
            metadata["issuer"], str(claims["sub"]), str(claims.get("email", "")), claims.get("email_verified") is True
        )

    def _verified_claims(
        self, token: dict[str, Any], key_set: dict[str, Any], issuer: str, nonce: str
    ) -> dict[str, Any]:
        """Return the claims of an ID token, or raise `JoseError`."""
        keys = [key for key in key_set["keys"] if key.get("kty") in KEY_TYPES and key.get("use", "sig") == "sig"]
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        id_token = jwt.decode(token["id_token"], KeySet.import_key_set({"keys": keys}), registry=registry)
        expected = {"iss": {"value": issuer}, "aud": {"value": self._provider.client_id}}
        params = {"nonce": nonce, "client_id": self._provider.client_id, "access_token": token.get("access_token")}
        claims = CodeIDToken(id_token.claims, id_token.header, expected, params)
        claims.validate(now=int(clock.now().timestamp()), leeway=LEEWAY_S)
        return dict(claims)

    def _load_metadata(self) -> dict[str, Any]:
        """Return the provider's metadata, asked for every ten minutes, or raise `ProviderUnavailable`.

        While one thread asks for them, the others get the old ones.
        """
        if time.monotonic() < self._expires_at:
            return self._metadata
        self._require_available()
        if not self._discovery.acquire(blocking=False):
            if not self._metadata:
                raise ProviderUnavailable
            return self._metadata
        try:
            self._metadata = self._discover()
            self._expires_at = time.monotonic() + METADATA_TTL_S
        except ProviderUnavailable:
            self._postpone()
            raise
        finally:
            self._discovery.release()
        return self._metadata

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """Exchange a code, or raise `ProviderUnavailable` if the provider is unavailable or too many threads do."""
        self._require_available()
        if not self._exchanges.acquire(blocking=False):
            raise ProviderUnavailable
        try:
            yield
        except (requests.ConnectionError, requests.Timeout):
            # An answer, even a wrong one, holds nothing up, and whoever makes up codes must not stop other sign-ins.
            self._postpone()
            raise
        finally:
            self._exchanges.release()

    def _require_available(self) -> None:
        if time.monotonic() < self._retry_at:
            raise ProviderUnavailable

    def _postpone(self) -> None:
        # From the end of a failure on, which may have taken as long as the time-outs.
        self._retry_at = time.monotonic() + RETRY_AFTER_FAILURE_S

    def _discover(self) -> dict[str, Any]:
        schemes = ("https:",) if self._requires_https else ("https:", "http:")
        issuer = self._provider.issuer.rstrip("/")
        with _provider_errors(), requests.Session() as session:
            metadata = _get_object(session, f"{issuer}/.well-known/openid-configuration")
            if metadata["issuer"].rstrip("/") != issuer:
                raise ValueError("the metadata is another issuer's")
            optional = [name for name in ("userinfo_endpoint",) if name in metadata]
            for name in (*REQUIRED_ENDPOINTS, *optional):
                if not metadata[name].startswith(schemes):
                    raise ValueError(f"{name} is no URL that may be asked")
        return metadata

    def _session(self, metadata: dict[str, Any]) -> OAuth2Session:
        # Basic is the default of the specification where a provider does not say.
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return OAuth2Session(
            self._provider.client_id,
            self._provider.client_secret.reveal(),
            scope=SCOPE,
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method=(
                "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
            ),
            default_timeout=TIMEOUTS_S,
        )


def _get_object(session: requests.Session, url: str, **options: Any) -> dict[str, Any]:
    """Return the JSON object at a URL of the provider."""
    response = session.get(url, allow_redirects=False, timeout=TIMEOUTS_S, **options)
    response.raise_for_status()
    document = response.json()
    if response.status_code != HTTPStatus.OK or not isinstance(document, dict):
        raise ValueError("no JSON object")
    return document


@contextmanager
def _provider_errors() -> Iterator[None]:
    """Raise `SignInRejected` for an answer that proves nothing, and `ProviderUnavailable` for none or a malformed one.

    Only the kind of an error is logged: its text may hold what the provider has sent.
    """
    try:
        yield
    except (OAuthError, JoseError) as error:
        logger.warning("the identity provider did not confirm a sign-in", extra={"error": type(error).__name__})
        raise SignInRejected from None
    except (requests.RequestException, ValueError, LookupError, TypeError, AttributeError) as error:
        logger.warning("the identity provider did not answer as it should", extra={"error": type(error).__name__})
        raise ProviderUnavailable from None
