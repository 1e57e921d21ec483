"""What a product may rely on changes only on purpose."""

from pathlib import Path

import agent_feedback

from tests.sdk.public_api import describe

LIST = Path(agent_feedback.__file__).resolve().parents[2] / "public_api.txt"


def test_the_public_names_and_signatures_are_those_of_the_list() -> None:
    # python -c "from tests.sdk.public_api import describe; print(describe(), end='')" > sdk/python/public_api.txt
    assert describe() == LIST.read_text(encoding="utf-8")
