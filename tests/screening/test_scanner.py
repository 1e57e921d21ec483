"""What the scanner finds, and what it accepts."""

import random
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from app.screening import scanner
from app.screening.candidates import is_secret
from app.screening.rules import RULES
from app.screening.scanner import Finding, find_private
from tests.screening.generators import RULE_EXAMPLES, fill, named_credentials
from tests.screening.listed import FORMATS, generate_texts
from tests.screening.unseen_secrets import BARE_SENTENCES, unseen_secrets

SEEDS = (1, 2, 3)
NOTES = (Path(__file__).parent / "ordinary_notes.txt").read_text().splitlines()


def rule_of(text: str) -> str | None:
    finding = find_private(text)
    return finding and finding.rule


@pytest.mark.parametrize("seed", SEEDS)
def test_every_naming_sentence_is_understood(seed: int) -> None:
    results: dict[str, list[bool]] = {}
    for sentence, text in named_credentials(random.Random(seed)):
        results.setdefault(sentence, []).append(find_private(text) is not None)
    assert [sentence for sentence, findings in results.items() if sum(findings) < 0.7 * len(findings)] == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_listed_format_is_always_found(name: str) -> None:
    misses = [
        text for seed in SEEDS for text in generate_texts(name, random.Random(seed)) if find_private(text) is None
    ]
    assert misses == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_listed_format_is_found_by_its_own_rule(name: str) -> None:
    rule, make = FORMATS[name]
    rng = random.Random(4)
    assert {rule_of(f"It showed {make(rng)} and stopped.") for _ in range(20)} == {rule}


def test_there_are_many_different_ordinary_notes() -> None:
    assert len(set(NOTES)) == len(NOTES) >= 400
    assert [note for note in NOTES if not 8 <= len(note) <= 500] == []


def test_no_ordinary_note_is_refused() -> None:
    assert [(finding.rule, note) for note in NOTES if (finding := find_private(note))] == []


def test_ordinary_notes_pass_when_they_stand_together() -> None:
    texts = [" ".join(NOTES[start : start + 4]) for start in range(0, len(NOTES), 4)]
    assert [(finding.rule, text) for text in texts if (finding := find_private(text))] == []


def test_every_rule_has_an_example() -> None:
    assert list(RULE_EXAMPLES) == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule_id", RULE_EXAMPLES)
def test_a_rule_finds_its_example_and_no_other_rule_does(rule_id: str) -> None:
    text = fill(RULE_EXAMPLES[rule_id], random.Random(5))
    finders = [rule.id for rule in RULES if any(is_secret(rule, text, match) for match in rule.pattern.finditer(text))]
    assert finders == [rule_id]
    assert find_private(text) == Finding(scanner.SECRET, rule_id)


def test_no_trigger_holds_back_a_text_that_its_rule_would_find() -> None:
    texts = [text for _, text in named_credentials(random.Random(6))]
    texts += unseen_secrets(random.Random(6), 400, BARE_SENTENCES)
    missed_matches = [
        (rule.id, text)
        for text in texts
        for index, rule in enumerate(RULES)
        if any(is_secret(rule, text, match) for match in rule.pattern.finditer(text))
        and index not in scanner._triggered_rows(text)
    ]
    assert missed_matches == []


def sparse(text: str, separator: str) -> str:
    return separator.join(text)


def full_width(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


@pytest.mark.parametrize("separator", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e"])
@pytest.mark.parametrize("rule_id", RULE_EXAMPLES)
def test_invisible_characters_hide_nothing(rule_id: str, separator: str) -> None:
    assert rule_of(sparse(fill(RULE_EXAMPLES[rule_id], random.Random(7)), separator)) == rule_id


@pytest.mark.parametrize("rule_id", RULE_EXAMPLES)
def test_full_width_characters_hide_nothing(rule_id: str) -> None:
    assert rule_of(full_width(fill(RULE_EXAMPLES[rule_id], random.Random(8)))) == rule_id


@pytest.mark.parametrize("rule_id", RULE_EXAMPLES)
def test_percent_signs_hide_nothing(rule_id: str) -> None:
    assert find_private(quote(fill(RULE_EXAMPLES[rule_id], random.Random(9)), safe="")) is not None


@pytest.mark.parametrize("change", [str.upper, str.lower, str.title, str.swapcase])
@pytest.mark.parametrize("words", ["password", "api key", "access token", "client secret", "bearer"])
def test_mixed_case_hides_nothing(words: str, change: Callable[[str], str]) -> None:
    assert find_private(f"{change(words)} {fill('{base62:30}', random.Random(10))} was refused") is not None


@pytest.mark.parametrize("sign", [" ", " = ", ": ", " is "])
@pytest.mark.parametrize("name", ["password", "api_key", "token", "client secret", "Authorization: Bearer"])
@pytest.mark.parametrize(
    "placeholder",
    [
        "<token>",
        "<your token>",
        "${TOKEN}",
        "$API_TOKEN",
        "{{ token }}",
        "{token}",
        "%(token)s",
        "***",
        "********",
        "sk-****1234",
        "xxxxxxxxxxxx",
        "...",
        "[redacted]",
        "REDACTED",
        "your-api-key",
        "YOUR_API_KEY",
        "my-secret",
        "example-token",
        "process.env.TOKEN",
        'os.environ["TOKEN"]',
        "get_token()",
        "null",
        "undefined",
        "changeme",
    ],
)
def test_a_placeholder_is_no_secret(name: str, sign: str, placeholder: str) -> None:
    assert find_private(f"The docs show {name}{sign}{placeholder} here.") is None


@pytest.mark.parametrize("shape", ["{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}", "{hex:32}", "{hex:40}", "{hex:64}"])
def test_uuids_and_digests_pass_unless_they_are_called_a_key(shape: str) -> None:
    value = fill(shape, random.Random(11))
    assert find_private(f"The item {value} was not found, although the token was new.") is None
    assert find_private(f"It returned {value} in 20 ms.") is None
    assert find_private(f"The token for it is {value}.") is not None
    assert find_private(f"api_key={value}") is not None


@pytest.mark.parametrize("word", ["page token", "next_token", "sort key", "cursor", "commit", "order", "trace"])
def test_a_random_value_with_the_name_of_a_thing_passes(word: str) -> None:
    assert find_private(f"The {word} {fill('{base62:28}', random.Random(12))} was used.") is None


def test_a_mask_does_not_excuse_a_whole_secret() -> None:
    assert find_private(f"password=***{fill('{base62:30}', random.Random(13))}") is not None


@pytest.mark.parametrize("note", ["The bearer authentication failed twice.", "Password reset took two tries."])
def test_what_the_contract_calls_honest_passes(note: str) -> None:
    assert find_private(note) is None


def test_what_the_contract_calls_a_secret_is_found() -> None:
    assert rule_of("It sent Bearer private-token with the call.") == "bearer"


IDENTIFIERS = (
    "{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}",
    "{hex:8}-{hex:4}-7{hex:3}-b{hex:3}-{hex:12}",
    "{HEX:8}-{HEX:4}-4{HEX:3}-A{HEX:3}-{HEX:12}",
    "00-{hex:32}-{hex:16}-01",
    "v0.0.0-20260115103000-{hex:12}",
    "sha256:{hex:64}",
    "{hex:24}",
    "ord_{base62:24}",
    "evt-{base36:26}",
    "app.{hex:20}.js",
)


@pytest.mark.parametrize("shape", IDENTIFIERS)
@pytest.mark.parametrize(
    "sentence", ["It returned {}.", "{} was not found.", "Item '{}' is gone.", '{{"id": "{}"}}', "({})", "`{}` failed"]
)
def test_an_identifier_is_no_secret(sentence: str, shape: str) -> None:
    notes = [sentence.format(fill(shape, random.Random(number))) for number in range(60)]
    assert [note for note in notes if find_private(note)] == []


@pytest.mark.parametrize("first", "abcdef")
def test_a_uuid_that_starts_with_a_letter_is_no_secret(first: str) -> None:
    value = first + fill("{hex:7}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}", random.Random(14))
    assert find_private(f"The answer to {value} came late.") is None


def test_a_credential_noun_of_another_sentence_names_nothing() -> None:
    value = fill("{base62:20}", random.Random(15))
    assert find_private(f"The token expired. Then {value} was fetched again.") is None
    assert find_private(f"The token expired, and {value} was fetched again.") is not None


@pytest.mark.parametrize("form", ["{base62:40}", "{base64url:43}", "Kq{hex:32}", "oy2{base36:43}"])
def test_a_long_random_token_needs_no_prefix(form: str) -> None:
    tokens = [fill(form, random.Random(number)) for number in range(40)]
    assert sum(find_private(f"It answered with {token} twice.") is not None for token in tokens) >= 34


@pytest.mark.parametrize("text", ["", " ", "%", "%%%zz", "\ud800", "@", "://", "é" * 500, "\u200b" * 500])
def test_an_unusual_text_is_scanned_without_an_error(text: str) -> None:
    assert find_private(text) is None
