"""Secrets do not leave the process by being printed, pickled or copied."""

import copy
import pickle

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.agent import Page
from agent_feedback.keys import CompanyKey, ProductKey

from tests.sdk.endpoint import COMPANY_KEY, KEY

KEYS = [ProductKey(KEY), CompanyKey(COMPANY_KEY)]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_key_is_not_serialized(key: ProductKey | CompanyKey, protocol: int) -> None:
    with pytest.raises(TypeError, match="a key is not serialized"):
        pickle.dumps(key, protocol)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_copy_of_a_key_is_the_key(key: ProductKey | CompanyKey) -> None:
    assert copy.copy(key) is copy.deepcopy(key) is key


def test_options_can_be_copied() -> None:
    options = AgentFeedback(KEY, endpoint="https://feedback.example.com", company_key=COMPANY_KEY).options
    assert copy.deepcopy(options) == copy.copy(options) == options._replace(timeout=options.timeout) == options


def test_a_printed_page_shows_no_credentials() -> None:
    page = Page(
        "https://shop.example/orders?token=user-secret",
        200,
        {"set-cookie": "user-secret"},
        b"user-secret",
        "GET",
        {"Authorization": "Bearer user-secret"},
    )
    for text in (repr(page), str(page), f"{page}", repr([page])):
        assert "user-secret" not in text
    assert repr(page) == "Page(GET https://shop.example/orders, status_code=200, 11 bytes)"
