"""Vendor tokens in formats that are made at random, so that no list can name them, bare and in sentences."""

import random
import string
from collections.abc import Iterator

from tests.screening.agent_notes import ENDINGS
from tests.screening.generators import fill, words
from tests.screening.identifiers import OBJECT_NAMES, OBJECT_PREFIXES, SERVICES, VERBS

BODIES = ("hex", "base36", "BASE36", "base62", "base62", "base62", "base64url", "base32")
SEPARATORS = ("_", "_", "_", "-", "-", ".")
MODIFIERS = ("v1", "v2", "us", "eu", "live", "test", "prod", "pat", "sk", "api", "1", "oauth", "svc", "admin", "bot")
FIELDS = words("value result data output content body detail setting secondary default current config")
SYLLABLES = words("ba ce di fo gu ka le mi no pu ra se ti vo zu bla cra dre fli gro pla ste tri zen lin dox vex")


def token(rng: random.Random) -> str:
    """Return a token of a format of its own: a prefix, sometimes a modifier, and one to three random runs."""
    if rng.random() < 0.15:
        return _token_without_prefix(rng)
    separator = rng.choice(SEPARATORS)
    body = rng.choice(BODIES)
    runs = rng.choice(((32,), (40,), (24,), (36,), (43,), (28,), (20,), (64,), (12, 24), (22, 43), (8, 8, 16), (30, 8)))
    if body == "hex":
        runs = tuple(max(length, 16) for length in runs) if sum(runs) >= 32 else (32,)
    parts = [_prefix(rng)]
    if rng.random() < 0.25:
        parts.append(rng.choice(MODIFIERS))
    parts += [fill(f"{{{body}:{length}}}", rng) for length in runs]
    return separator.join(parts)


def _token_without_prefix(rng: random.Random) -> str:
    forms = ("{base62:40}", "{base62:64}", "{base64url:43}", "{base62:32}", "{base62:24}.{base64url:6}.{base64url:38}")
    letters = "".join(rng.choices(string.ascii_letters, k=4))
    return fill(
        rng.choice((*forms, letters + "{base62:40}", letters + "{hex:32}", letters.lower() + "{base36:40}")), rng
    )


def _prefix(rng: random.Random) -> str:
    while True:
        letters = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 5)))
        prefix = rng.choice(
            (
                letters,
                letters,
                letters.upper(),
                letters.title(),
                letters[:3] + rng.choice(string.digits),
                "".join(rng.sample(SYLLABLES, 2)),
                "".join(rng.sample(SYLLABLES, 3)),
            )
        )
        # A prefix that is that of an object makes an identifier, not a token.
        if prefix.lower() not in OBJECT_PREFIXES:
            return prefix


BARE_SENTENCES = (
    "The {service} call with {secret} failed{ending}.",
    "It answered with {secret}{ending}.",
    "{secret} did not work{ending}.",
    "The tool printed {secret} at the end{ending}.",
    'The response had {{"{field}": "{secret}"}} in it{ending}.',
    "Using `{secret}` gave a 403{ending}.",
    "The first attempt ({secret}) was refused{ending}.",
    "The example shows {secret} in its third step{ending}.",
    "I sent {secret} to {service}{ending}.",
    "The {noun} page {verb} '{secret}'{ending}.",
    "{secret}",
    "Then {secret} was {verb}{ending}.",
    "The log contains {secret}{ending}.",
    "It works with {secret} only{ending}.",
    "{field} was {secret}{ending}.",
    "The setup step prints {secret}, and {service} accepts it{ending}.",
    "{service} --{field} {secret} exits with 1{ending}.",
    "Found {secret} in the {noun} settings{ending}.",
)
CONTEXT_SENTENCES = (
    "The key {secret} was rejected by {service}{ending}.",
    "The {service} token {secret} expired{ending}.",
    "A new credential was made: {secret}{ending}.",
    "Then {secret} was taken as the API key{ending}.",
    "The API key is {secret}{ending}.",
    "The access token from the {noun} page, {secret}, did not work{ending}.",
    "{service} gave me the secret {secret}{ending}.",
    "Authorization: Bearer {secret} was refused{ending}.",
    "I used {secret} as the token for {service}{ending}.",
    'The config has "{service}_api_key": "{secret}"{ending}.',
    "export {upper}_TOKEN={secret} fixed it{ending}.",
    "X-Api-Key: {secret} was in the log{ending}.",
    "{secret} is the client secret of {service}{ending}.",
    "My token: {secret}{ending}.",
    "curl -H 'X-Auth-Token: {secret}' returned 401{ending}.",
    "It called https://{service}.dev/v1?access_token={secret} twice{ending}.",
    "The password is {secret}{ending}.",
    "{service} {verb} the webhook secret `{secret}`{ending}.",
    "Credentials for {service}: {secret}{ending}.",
    "It asked for an API key and took {secret}{ending}.",
)


def unseen_secrets(rng: random.Random, count: int, sentences: tuple[str, ...]) -> Iterator[str]:
    """Yield sentences with a token that no rule lists."""
    for _ in range(count):
        service = rng.choice(SERVICES)
        yield rng.choice(sentences).format(
            secret=token(rng),
            service=service,
            upper=service.upper(),
            field=rng.choice(FIELDS),
            noun=rng.choice(OBJECT_NAMES),
            verb=rng.choice(VERBS),
            ending=rng.choice(ENDINGS),
        )
