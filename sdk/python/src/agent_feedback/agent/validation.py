"""Check reviews, reports and decisions against the bounds that an envelope publishes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agent_feedback import protocol_files
from agent_feedback.errors import InvalidOption

Bounds = Mapping[str, Any]
Problems = Iterator[str]


def checked_outcome(outcome: Any, note: Any, bounds: Any) -> dict[str, Any]:
    """Return the body of a review, or raise InvalidOption with all that the bounds do not allow."""
    body = {"outcome": outcome, "note": _folded(note)}
    _raise_for(lambda: _outcome_problems(body, bounds))
    return body


def checked_report(report: Mapping[str, Any], bounds: Any) -> dict[str, Any]:
    """Return the body of a report, or raise InvalidOption with all that the bounds do not allow."""
    body = {name: _folded(value) if name == "summary" else value for name, value in report.items()}
    if isinstance(body.get("findings"), (list, tuple)):
        body["findings"] = [_with_folded_detail(finding) for finding in body["findings"]]
    if "workaround" in body:
        body["workaround"] = _with_folded_detail(body["workaround"])
    _raise_for(lambda: _report_problems(body, bounds))
    return body


def check_decision(decision: Any, bounds: Any) -> None:
    """Raise InvalidOption for a decision that the bounds do not allow."""
    _raise_for(lambda: _choice_problems("decision", decision, bounds["decision"]))


def _raise_for(find_problems: Callable[[], Problems]) -> None:
    try:
        problems = list(find_problems())
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidOption("this envelope does not say how to submit") from None
    if problems:
        raise InvalidOption("; ".join(problems))


def _outcome_problems(body: Mapping[str, Any], bounds: Bounds) -> Problems:
    yield from _choice_problems("outcome", body["outcome"], bounds["outcome"])
    yield from _length_problems("note", body["note"], bounds["note"]["minLength"], bounds["note"]["maxLength"])


def _report_problems(body: Mapping[str, Any], bounds: Bounds) -> Problems:
    yield from _member_problems("", body, bounds["required"], bounds["optional"])
    if "summary" in body:
        yield from _length_problems("summary", body["summary"], bounds["summaryMinLength"], bounds["summaryMaxLength"])
    if "impact" in body:
        yield from _choice_problems("impact", body["impact"], bounds["impacts"])
    if "confidence" in body:
        least, most = bounds["confidenceRange"]
        confidence = body["confidence"]
        if not _is_number(confidence) or not least <= confidence <= most:
            yield f"confidence must be a number from {least} to {most}"
    if "findings" in body:
        yield from _findings_problems(body["findings"], bounds)
    if "workaround" in body:
        yield from _workaround_problems(body["workaround"], bounds)


def _findings_problems(findings: Any, bounds: Bounds) -> Problems:
    if not isinstance(findings, list) or len(findings) > bounds["maxFindings"]:
        yield f"findings must be a list of at most {bounds['maxFindings']}"
        return
    for number, finding in enumerate(findings):
        yield from _finding_problems(f"findings[{number}]", finding, bounds)


def _finding_problems(place: str, finding: Any, bounds: Bounds) -> Problems:
    yield from _member_problems(place, finding, bounds["findingRequired"], bounds["findingOptional"])
    if not isinstance(finding, Mapping):
        return
    if "kind" in finding:
        yield from _choice_problems(f"{place}.kind", finding["kind"], bounds["findingKinds"])
    if "topic" in finding and not _has_format(finding["topic"], bounds["findingTopicFormat"]):
        yield f"{place}.topic must have the format {bounds['findingTopicFormat']}, such as search_results"
    if "detail" in finding:
        shortest, longest = bounds["findingDetailMinLength"], bounds["findingDetailMaxLength"]
        yield from _length_problems(f"{place}.detail", finding["detail"], shortest, longest)
    if "severity" in finding:
        yield from _choice_problems(f"{place}.severity", finding["severity"], bounds["findingSeverities"])


def _workaround_problems(workaround: Any, bounds: Bounds) -> Problems:
    yield from _member_problems("workaround", workaround, bounds["workaroundRequired"], bounds["workaroundOptional"])
    if not isinstance(workaround, Mapping):
        return
    if "used" in workaround and not isinstance(workaround["used"], bool):
        yield "workaround.used must be true or false"
    if "detail" in workaround:
        shortest, longest = bounds["workaroundDetailMinLength"], bounds["workaroundDetailMaxLength"]
        yield from _length_problems("workaround.detail", workaround["detail"], shortest, longest)
    elif workaround.get("used") is True:
        yield "workaround.detail is needed for a workaround that was used"


def _member_problems(place: str, value: Any, required: Sequence[str], optional: Sequence[str]) -> Problems:
    if not isinstance(value, Mapping):
        yield f"{place} must be an object"
        return
    names = [*required, *optional]
    prefix = f"{place}." if place else ""
    yield from (f"there is no {prefix}{name}; there are {', '.join(names)}" for name in value if name not in names)
    yield from (f"{prefix}{name} is needed" for name in required if name not in value)


def _choice_problems(place: str, value: Any, choices: Sequence[str]) -> Problems:
    # A text is a sequence too, of which every part would be a choice.
    if not isinstance(choices, (list, tuple)):
        raise TypeError("a list of choices is needed")
    if not isinstance(value, str) or value not in choices:
        yield f"{place} must be one of {', '.join(map(str, choices))}"


def _length_problems(place: str, value: Any, shortest: int, longest: int) -> Problems:
    if not isinstance(value, str) or not shortest <= len(value) <= longest:
        yield f"{place} must have {shortest} to {longest} characters"


def _has_format(value: Any, name: str) -> bool:
    """Tell whether a text has a format of the contract; one that the contract does not know is the service's matter."""
    pattern = protocol_files.read("contract.json")["formats"].get(name)
    return isinstance(value, str) and (pattern is None or re.fullmatch(pattern, value) is not None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _folded(value: Any) -> Any:
    """Return a text with each run of white space as one space."""
    return " ".join(value.split()) if isinstance(value, str) else value


def _with_folded_detail(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _folded(entry) if name == "detail" else entry for name, entry in value.items()}
