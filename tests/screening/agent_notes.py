"""Ordinary notes of agents, generated: sentences that quote identifiers, paths, versions and error codes."""

import random
from collections.abc import Iterator
from itertools import starmap

from tests.screening import identifiers
from tests.screening.identifiers import ADJECTIVES, ERRORS, FIELDS, MAKERS, NAMED_MAKERS, OBJECT_NAMES, SERVICES, VERBS

TEXTS = (
    "Password reset took two tries.",
    "The token expired after an hour and was renewed.",
    "The API key page was hard to find.",
    "Basic auth is not offered any more.",
    "A login was needed first.",
    "The docs do not say which scope it needs.",
    "The secret was never shown.",
    "Pagination by cursor worked.",
    "No credentials were asked for.",
)
ENDINGS = (
    "",
    " so I tried again",
    " and the second attempt worked",
    " which the documentation does not mention",
    " after 3 retries",
    " within 240 ms",
    ", as expected",
    " although the filter excluded it",
    "; everything else was fine",
    " (HTTP 404)",
    " and the total was 1,204.50 EUR",
    " until the page was reloaded",
    " because the schema changed in v2",
)


def _quoted(rng: random.Random) -> str:
    """Return an identifier as a part of a sentence, with or without the noun that names it."""
    value = rng.choice(NAMED_MAKERS)(rng)
    noun = rng.choice(OBJECT_NAMES)
    names = (
        f"{noun} {value}",
        f"the {rng.choice(ADJECTIVES)} {noun} {value}",
        f"{noun} id {value}",
        f"{noun}_id={value}",
        f"{noun} #{value}",
        f'"{noun}Id": "{value}"',
        f"{noun} ({value})",
        f"request id: {value}",
        f"trace {value}",
        f"version {value}",
    )
    return rng.choice(names) if rng.random() < 0.6 else rng.choice(MAKERS)(rng)


def _words(rng: random.Random) -> dict[str, str]:
    return {
        "it": _quoted(rng),
        "other": _quoted(rng),
        "bare": rng.choice(MAKERS)(rng),
        "cursor": identifiers.cursor(rng),
        "noun": rng.choice(OBJECT_NAMES),
        "nouns": rng.choice(OBJECT_NAMES) + "s",
        "adjective": rng.choice(ADJECTIVES),
        "verb": rng.choice(VERBS),
        "service": rng.choice(SERVICES),
        "field": rng.choice(FIELDS),
        "error": rng.choice(ERRORS),
        "path": identifiers.path(rng),
        "version": identifiers.version(rng),
        "when": identifiers.instant(rng),
        "count": str(rng.randint(2, 9000)),
        "ending": rng.choice(ENDINGS),
        "text": rng.choice(TEXTS),
    }


SENTENCES = (
    "The {service} endpoint {verb} {it}{ending}.",
    "{it} was {verb} twice{ending}.",
    "GET {path} gave {count} {nouns} instead of one{ending}.",
    "Looking up {it} failed with {error}{ending}.",
    "I expected {it} but got {other}{ending}.",
    "{error}: {it} not found{ending}.",
    "{field} of {it} was empty{ending}.",
    "After the update to {version} the {noun} {verb} {field}{ending}.",
    "The answer had {field}: {bare}{ending}.",
    'It returned {{"{field}": "{bare}"}}{ending}.',
    "It answered with {bare}{ending}.",
    "The tool printed {bare}{ending}.",
    "{bare}{ending}",
    "Retried {it} at {when}{ending}.",
    "Compared {it} with {other}: {count} differences{ending}.",
    "The {adjective} {noun} in {path} refers to {it}{ending}.",
    "The {cursor} repeated the {adjective} page{ending}.",
    "The docs call it {field}, the API {bare}{ending}.",
    "Filtering {nouns} by {field}={bare} {verb} nothing{ending}.",
    "{text} Then {it} was {verb}{ending}.",
    "{it} was {verb}. {text}",
    "Step {count}: {verb} {it}; {text}",
    "The log says '{error} {it}'{ending}.",
    "Deployed {version}, and {it} {verb} the {adjective} {noun}{ending}.",
    "Could not map {it} to a {noun}; {service} only knows {other}{ending}.",
    "Duplicate of {it}{ending}.",
    "{path}:{count} raises {error} for {bare}{ending}.",
)


def agent_notes(rng: random.Random, count: int) -> Iterator[str]:
    """Yield ordinary notes."""
    yield from starmap(
        lambda sentence, words: sentence.format(**words)[:500],
        ((rng.choice(SENTENCES), _words(rng)) for _ in range(count)),
    )
