"""`docs/privacy.md` lists everything that is stored."""

import re

from app.core.clients import IPV4_PREFIX, IPV6_PREFIX
from app.models import METADATA
from tests.conftest import ROOT

PRIVACY = (ROOT / "docs" / "privacy.md").read_text()


def test_every_table_is_listed_and_no_other() -> None:
    rows = [line.split("|")[1] for line in PRIVACY.splitlines() if line.startswith("| `")]
    table_names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(table_names) == sorted(METADATA.tables)


def test_the_prefixes_are_those_that_are_stored() -> None:
    assert f"`/{IPV4_PREFIX}` of IPv4, `/{IPV6_PREFIX}` of IPv6" in PRIVACY
