"""`errors.json` of the protocol has every error code of the service, with its status, and no other."""

import ast
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import app
from app.core import protocol
from app.core.errors import ApiError
from app.enrichment import selection
from app.evidence.service import HOST_NOT_ALLOWED, TOKEN_NOT_ALLOWED
from app.screening.payload import FORBIDDEN_CONTENT
from app.screening.scanner import PERSONAL, SECRET
from config import web_rejections

ERRORS: dict[str, dict[str, Any]] = protocol.read("errors.json")
ROOT = Path(app.__file__).parent
ACTIONS = {"repair", "drop", "retry", "stop"}

SOURCES_OF_OWN_CODES = {
    "core/wire/decoder.py",
    "enrichment/answers.py",
    "enrichment/selection.py",
    "evidence/service.py",
    "screening/payload.py",
    "screening/service.py",
    "telemetry/service.py",
}
"""Files that give an error a code beside that of its class: `codes_of_instances` has each of them."""


def subclasses(error: type[ApiError]) -> Iterator[type[ApiError]]:
    for subclass in error.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def codes_of_classes() -> Iterator[tuple[str, int]]:
    for module in pkgutil.walk_packages([str(ROOT)], "app."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for error in (ApiError, *subclasses(ApiError)):
        if error.__module__.startswith("app."):
            yield error.code, error.status


def codes_of_answers() -> Iterator[str]:
    """Yield the codes of the problems of an answer, the first of which is the code of its error."""
    tree = ast.parse((ROOT / "enrichment" / "answers.py").read_text())
    for call in (node.value for node in ast.walk(tree) if isinstance(node, ast.Yield)):
        assert isinstance(call, ast.Call)
        code = call.args[1]
        yield code.value if isinstance(code, ast.Constant) else "unknown_catalog_entry"


def codes_of_instances() -> Iterator[tuple[str, int]]:
    yield from ((code, 400) for code in (FORBIDDEN_CONTENT, SECRET, PERSONAL))
    yield from ((code, 422) for code in (*selection._PROBLEMS, TOKEN_NOT_ALLOWED, HOST_NOT_ALLOWED))
    yield from ((code, 422) for code in codes_of_answers())
    # A report is 400 where another body is 422.
    yield "invalid_value", 400
    # Flask's own.
    yield from (("not_found", 404), ("method_not_allowed", 405))


def codes_of_rejections() -> Iterator[tuple[str, int]]:
    rejections = [value for value in vars(web_rejections).values() if isinstance(value, web_rejections.Rejection)]
    rejections += [rejection for _, rejection in web_rejections._REJECTIONS]
    yield from ((rejection.code, rejection.status) for rejection in rejections)


def codes_of_the_service() -> dict[str, set[int]]:
    statuses: defaultdict[str, set[int]] = defaultdict(set)
    for code, status in (*codes_of_classes(), *codes_of_instances(), *codes_of_rejections()):
        statuses[code].add(status)
    return statuses


def test_every_code_has_its_statuses_and_there_is_no_other() -> None:
    published = {code: {entry["status"], *entry.get("otherStatuses", ())} for code, entry in ERRORS.items()}
    assert published == codes_of_the_service()


def test_no_other_file_gives_an_error_a_code_of_its_own() -> None:
    errors = {error.__name__ for error in (ApiError, *subclasses(ApiError))}
    files = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) in errors
        and any(keyword.arg == "code" for keyword in node.keywords)
    }
    assert files == SOURCES_OF_OWN_CODES


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_a_code_says_what_it_means_and_what_a_client_does(code: str) -> None:
    entry = ERRORS[code]
    assert entry["action"] in ACTIONS
    assert entry["meaning"].endswith(".")
    # What a retry may change is told by the status alone, for a client that does not know the code yet.
    assert (entry["action"] == "retry") == (
        entry["status"] in (408, 429, 500, 503) or code in ("incomplete_body", "customer_busy")
    )
