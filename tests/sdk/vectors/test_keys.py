"""Keys are read as the vectors say."""

from typing import Any

from agent_feedback.keys import CompanyKey, ProductKey

from tests.sdk.vectors.cases import Case, read_cases


def read(key: str, kind: str) -> dict[str, Any]:
    try:
        if kind == "company":
            CompanyKey(key)
            return {"isValid": True}
        product_key = ProductKey(key)
        return {"isValid": True, "id": product_key.id, "scope": product_key.scope}
    except ValueError:
        return {"isValid": False}


@read_cases("keys")
def test_a_key_is_read_as_the_vector_says(case: Case) -> None:
    assert read(**case["input"]) == case["expected"]
