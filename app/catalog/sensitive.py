"""Sensitive terms: words and phrases that no key, label, category or value of a field may contain."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_WORD = re.compile(r"[a-z]+")
_TERM = re.compile(r"[a-z]+(?: [a-z]+)*\Z")
_APOSTROPHES = str.maketrans("", "", "'’ʼ")


class Phrase(NamedTuple):
    """A phrase as the catalog file has it, with its words in the singular, and joined."""

    text: str
    singular: str
    joined_words: str


@dataclass(frozen=True, slots=True)
class SensitiveTerms:
    """The terms of the catalog file.

    A word matches as a whole, in the singular or the plural; a stem matches every word that begins with it; a phrase
    matches its words in a row or written as one. A word or stem is harmless in a text that also has one of the words
    listed for it in `harmless_beside`.
    """

    words: frozenset[str]
    stems: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    harmless_beside: Mapping[str, frozenset[str]]


def read_terms(table: Mapping[str, Any]) -> SensitiveTerms:
    """Return the terms of a table that `find_errors` accepts."""
    return SensitiveTerms(
        words=frozenset(table["words"]),
        stems=tuple(table["stems"]),
        phrases=tuple(
            Phrase(text, " ".join(map(_singular, text.split())), text.replace(" ", "")) for text in table["phrases"]
        ),
        harmless_beside={term: frozenset(words) for term, words in table["harmless_beside"].items()},
    )


def find_errors(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the errors in the table of sensitive terms of a catalog file."""
    invalid = [name for name in ("words", "stems", "phrases") if not _is_list_of_terms(table.get(name), name)]
    yield from (f"sensitive.{name} must be a list of {name} in lowercase" for name in invalid)
    harmless_beside = table.get("harmless_beside")
    if not isinstance(harmless_beside, dict) or not all(map(_is_list_of_terms, harmless_beside.values())):
        yield "sensitive.harmless_beside must have a list of words for each of its terms"
    elif not invalid and (unknown_terms := set(harmless_beside) - {*table["words"], *table["stems"]}):
        yield f"sensitive.harmless_beside has terms that are no word or stem: {', '.join(sorted(unknown_terms))}"


def find_sensitive(texts: Iterable[str], terms: SensitiveTerms) -> str | None:
    """Return the first term that matches one of the texts, or None."""
    return next((term for text in texts for term in _matches(text, terms)), None)


def _matches(text: str, terms: SensitiveTerms) -> Iterator[str]:
    words = _words(text)
    singulars = [_singular(word) for word in words]
    row = f" {' '.join(singulars)} "
    neighbours = {*words, *singulars}
    for phrase in terms.phrases:
        if f" {phrase.singular} " in row or any(word.startswith(phrase.joined_words) for word in words):
            yield phrase.text
    for word, singular in zip(words, singulars, strict=True):
        matches = {word, singular} & terms.words | {stem for stem in terms.stems if word.startswith(stem)}
        for term in sorted(matches):
            if neighbours.isdisjoint(terms.harmless_beside.get(term, ())):
                yield term


def _words(text: str) -> list[str]:
    """Return the words of a text in lowercase, without accents and invisible characters."""
    text = "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character) and unicodedata.category(character) != "Cf"
    )
    return _WORD.findall(text.translate(_APOSTROPHES).lower())


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_list_of_terms(value: Any, name: str = "words") -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(term, str) and _TERM.match(term) and (" " in term) is (name == "phrases") for term in value)
