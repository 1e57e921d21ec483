"""What is stored of an observed call: the network of its address and the family of its browser."""

import pytest
from sqlalchemy import select

from app.core.clients import browser_family, network_of
from app.core.database import session, transaction
from app.enrichment.models import EnrichmentRequest
from tests.context_api import ContextApi

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
CLAUDEBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"


def stored_observation() -> dict[str, str] | None:
    with transaction():
        return session().scalars(select(EnrichmentRequest.observation)).one()


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"),
        ("255.255.255.255", "255.255.255.0/24"),
        ("::ffff:192.0.2.7", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("::", "::/48"),
    ],
)
def test_an_address_becomes_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("user_agent", "family"),
    [
        (FIREFOX, "firefox"),
        (CHROME, "chrome"),
        (SAFARI, "safari"),
        (f"{CHROME} Edg/140.0.0.0", "edge"),
        (f"{CHROME} OPR/120.0.0.0", "other"),
        (SAFARI.replace("Version/18.5", "CriOS/140.0.7339.39"), "chrome"),
        (SAFARI.replace("Version/18.5", "FxiOS/140.0"), "firefox"),
        (CLAUDEBOT, "bot"),
        ("curl/8.5.0", "bot"),
        ("Agent/1.0", "other"),
        ("x" * 512, "other"),
    ],
)
def test_a_user_agent_becomes_its_browser_family(user_agent: str, family: str) -> None:
    assert browser_family(user_agent) == family


def test_an_observation_is_stored_in_its_coarse_form_alone(context_api: ContextApi) -> None:
    observation = {
        "clientIp": "192.0.2.7",
        "method": "GET",
        "userAgent": FIREFOX,
        "acceptLanguage": "en",
        "referrerOrigin": "https://example.com:8443",
        "secChUaPlatform": '"Linux"',
        "secChUaMobile": "?0",
    }
    assert context_api.ask(requestObservation=observation).status_code == 200
    assert stored_observation() == {"network": "192.0.2.0/24", "browser": "firefox"}


def test_an_observation_without_address_and_user_agent_is_not_stored(context_api: ContextApi) -> None:
    assert context_api.ask(requestObservation={"method": "GET", "acceptLanguage": "en"}).status_code == 200
    assert stored_observation() is None
