"""The locks and the list of packages are current; `bin/lock` writes all three."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
LOCKS = {"requirements.txt": "requirements.lock", "requirements-dev.txt": "requirements-dev.lock"}


def pins(name: str) -> list[tuple[str, str]]:
    """Return the packages of a file with their versions, of which a package may have one for each platform."""
    return [(canonicalize_name(package), version) for package, version in PIN.findall((ROOT / name).read_text())]


def names(file: str) -> set[str]:
    return {name for name, _ in pins(file)}


def needed_packages(requirements: set[str]) -> set[str]:
    """Return the packages that are needed here, with what they need themselves, as far as they are installed."""
    needed: set[str] = set()
    waiting = [Requirement(name) for name in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in needed and not requirement.extras:
            continue
        try:
            further = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        needed.add(name)
        for text in further:
            dependency = Requirement(text)
            extras = requirement.extras or {""}
            if dependency.marker is None or any(dependency.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(dependency)
    return needed


@pytest.mark.parametrize(("requirements", "lock"), LOCKS.items())
def test_every_requirement_is_locked_at_its_version(requirements: str, lock: str) -> None:
    assert set(pins(requirements)) <= set(pins(lock)), "run bin/lock"


def test_what_requirements_need_themselves_is_locked() -> None:
    needed = needed_packages(names("requirements.txt"))
    assert needed > names("requirements.txt")
    assert needed <= names("requirements.lock"), "run bin/lock"
    needed_by_tests = needed_packages(names("requirements-dev.txt"))
    assert needed_by_tests <= names("requirements-dev.lock") | names("requirements.lock"), "run bin/lock"


def test_nothing_is_locked_that_no_requirement_needs() -> None:
    for_other_platforms = set(re.findall(r"^([\w.-]+)==\S+ ;", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    needed = needed_packages(names("requirements.txt"))
    assert names("requirements.lock") - needed - for_other_platforms == set(), "run bin/lock"


def test_both_locks_agree() -> None:
    shared = {pin for pin in pins("requirements-dev.lock") if pin[0] in names("requirements.lock")}
    assert shared <= set(pins("requirements.lock"))


def entries(lock: Path) -> Iterator[str]:
    """Yield each package of a lock with its hashes as one line."""
    text = re.sub(r" \\\n", " ", lock.read_text())
    return (line for line in text.splitlines() if not line.startswith("#"))


@pytest.mark.parametrize("lock", LOCKS.values())
def test_every_locked_package_has_hashes_and_no_lock_names_an_index(lock: str) -> None:
    lines = list(entries(ROOT / lock))
    assert lines
    bad_lines = [
        line for line in lines if not re.fullmatch(r"[\w.-]+==\S+( ; [^:/]+)?(\s+--hash=sha256:[0-9a-f]{64})+", line)
    ]
    assert bad_lines == []


def test_a_platform_that_installs_the_requirements_installs_the_lock() -> None:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    # First, since pip takes the hashes of a package from the first line that names it.
    assert lines[0] == "-r requirements.lock"


def test_the_list_of_packages_is_that_of_the_lock() -> None:
    document = json.loads((ROOT / "docs/sbom.json").read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert [(component["name"], component["version"]) for component in document["components"]] == pins(
        "requirements.lock"
    )
    assert [component["purl"] for component in document["components"]] == [
        f"pkg:pypi/{name}@{version}" for name, version in pins("requirements.lock")
    ]
    # What changes with every run would hide what has changed.
    assert "serialNumber" not in document
    assert "timestamp" not in document["metadata"]
