"""Secrets made at run time from format rows: none of them is ever written down.

A row is a template. `{base62:32}` becomes 32 random characters of that alphabet, and `{secret}` a value of its own row.
"""

import base64
import random
import re
import string
from collections.abc import Iterator

ALPHABETS = {
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "base32": string.ascii_uppercase + "234567",
    "base36": string.ascii_lowercase + string.digits,
    "BASE36": string.ascii_uppercase + string.digits,
    "base62": string.ascii_letters + string.digits,
    "base64url": string.ascii_letters + string.digits + "-_",
}
WORDS = ("Summer", "Dragon", "sunshine", "monkey", "Winter", "coffee", "Falcon", "orange", "Mustang", "purple")

_SLOT = re.compile(r"\{(\w+):(\d+)\}")


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def fill(template: str, rng: random.Random) -> str:
    """Replace the slots of a format."""

    def replace(slot: re.Match[str]) -> str:
        return "".join(rng.choices(ALPHABETS[slot[1]], k=int(slot[2])))

    text = _SLOT.sub(replace, template)
    return text.replace("{word}", rng.choice(WORDS)) if "{word}" in text else text


# What people and machines use as passwords and keys.
PASSWORD_TEMPLATES = (
    "{word}{digits:4}!",
    "{word}{digits:2}",
    "{word}-{word}-{digits:2}",
    "{word}@{digits:3}",
    "P@{word}{digits:1}",
)
KEY_TEMPLATES = (
    "{base62:20}",
    "{base62:40}",
    "{base36:24}",
    "{hex:32}",
    "{hex:64}",
    "{base64url:43}",
    "{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}",
    "{BASE36:5}-{BASE36:5}-{BASE36:5}-{BASE36:5}",
    "qz_{base62:24}",
)

PASSWORD_SENTENCES = (
    "The password is {secret} and it was refused.",
    "The password was {secret}, so the login failed.",
    "The admin password has been set to {secret} since the reset.",
    "Its password was changed to {secret}.",
    'It says "password": "{secret}" in the answer.',
    "The log has password={secret} in its third line.",
    "passwd: {secret} was printed by the tool.",
    "The passphrase is '{secret}' for this vault.",
    "Login worked with password: {secret}",
    "The password for the staging account is {secret}.",
    "The password we tried was `{secret}`.",
    "DB_PASSWORD={secret} leaked into the output.",
    "export PGPASSWORD={secret} was in the script.",
    "The connection string was Server=db;Uid=sa;Pwd={secret};",
    "It connected to postgres://admin:{secret}@db.internal:5432/shop.",
    "The answer names redis://:{secret}@cache.internal:6379/0 as its backend.",
    "The form sent username=ops&password={secret}&remember=1 in clear text.",
    "The user's password is still {secret}.",
    "PASSWORD: {secret}",
    "The password turned out to be {secret}.",
    "The new password will be {secret}, says the mail.",
    "password -> {secret}",
    "Password (temporary): {secret}",
    "The answer was <password>{secret}</password>.",
    "It typed {secret} as the admin password.",
    "Das Passwort ist {secret} und wurde abgelehnt.",
    "La contraseña es {secret} y no funciona.",
    "Le mot de passe est {secret} pour ce compte.",
)
KEY_SENTENCES = (
    "The API key is {secret} and returned 401.",
    "The api key {secret} was rejected.",
    "My API key: {secret} stopped working.",
    "It needs api_key={secret} to work.",
    "The request used apiKey={secret} and timed out.",
    'The config has "api_key": "{secret}" in it.',
    "The token is {secret}, valid for an hour.",
    "The access token was {secret}.",
    "The token {secret} expired while paging.",
    "The refresh token was rotated to {secret} yesterday.",
    "Authorization: Bearer {secret} was refused.",
    "authorization: bearer {secret}",
    "It sent Bearer {secret} and got a 403.",
    "The header was Authorization: Token {secret}.",
    "The call had X-Api-Key: {secret} as its header.",
    "The client secret is {secret} in this tenant.",
    "client_secret={secret} was accepted.",
    "The secret was set to {secret} by the wizard.",
    "The webhook secret: {secret}",
    "The signing secret `{secret}` did not verify.",
    "The URL had ?access_token={secret} at its end.",
    "GET /v1/items?api_key={secret}&limit=10 failed.",
    "It called https://api.shop.dev/v2?token={secret} twice.",
    "export SERVICE_TOKEN={secret} fixed it.",
    "AWS_SECRET_ACCESS_KEY={secret} is in the environment file.",
    "STRIPE_API_KEY: {secret} was in the log.",
    "The tool printed AccountKey={secret};EndpointSuffix=core.",
    "It worked with the key {secret} only.",
    "The key is {secret} for production.",
    "We used the credential {secret} for it.",
    "The response carried Set-Cookie: auth_token={secret}; Path=/",
    "The private key is {secret} in hex.",
    "token={secret}",
    "The bot token, {secret}, is public now.",
    "The OAuth token came back as {secret}.",
    "{secret} is our access token.",
    "--api-key {secret} was on the command line.",
    "The bearer token was {secret}.",
    "I passed the secret key {secret} by mistake.",
    "The key we used was “{secret}” and failed.",
)
BASIC_SENTENCES = (
    "Authorization: Basic {secret} was refused.",
    "The call sent Basic {secret} and failed.",
    "curl -H 'Authorization: Basic {secret}' returned 401.",
)
COOKIE_SENTENCES = (
    "Cookie: session={secret} was sent along.",
    "The header was Cookie: sid={secret}; theme=dark.",
    "It replayed PHPSESSID={secret} and was let in.",
    "Set-Cookie: JSESSIONID={secret}; Path=/; HttpOnly",
)


def named_credentials(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each naming sentence with each shape of value that belongs into it."""
    for sentence in PASSWORD_SENTENCES:
        for shape in (*PASSWORD_TEMPLATES, *KEY_TEMPLATES):
            yield sentence, sentence.replace("{secret}", _url_safe(sentence, fill(shape, rng)))
    for sentence in KEY_SENTENCES:
        for shape in KEY_TEMPLATES:
            yield sentence, sentence.replace("{secret}", fill(shape, rng))
    for sentence in BASIC_SENTENCES:
        for shape in PASSWORD_TEMPLATES:
            login = base64.b64encode(f"ops:{fill(shape, rng)}".encode()).decode()
            yield sentence, sentence.replace("{secret}", login)
    for sentence in COOKIE_SENTENCES:
        for shape in ("{base36:26}", "{base62:32}", "{hex:32}"):
            yield sentence, sentence.replace("{secret}", fill(shape, rng))


def _url_safe(sentence: str, secret: str) -> str:
    return secret.replace("@", "%40") if "://" in sentence else secret


RULE_EXAMPLES = {
    "own_key": "The call used af_live_4f7a-{word}-{word} and failed.",
    "private_key": "It printed -----BEGIN EC PRIVATE KEY----- by mistake.",
    "jwt": "It was eyJ{base62:20}.eyJ{base62:30} in the end.",
    "url_password": "It connected to amqp://ops:{word}@host.dev/x.",
    "url_token": "The clone of https://{hex:4}x{base62:30}@git.dev/shop failed.",
    "access_key_id": "The account AKIA{BASE36:16} was refused.",
    "bearer": "It sent Bearer {word}-{word} and was refused.",
    "basic": "It sent Basic b3BzOm{base62:20} and was refused.",
    "authorization": "Authorization: {base36:5}7x{base36:5}.",
    "query_credential": "The map at /tiles?sig={base62:32} was empty.",
    "cookie": "It replayed JSESSIONID={base62:32} and was let in.",
    "password_assigned": "It has passwd={word} in its third line.",
    "key_assigned": "It has token={word}{digits:4} in its third line.",
    "password_said": "The password is {word}{digits:2} for now.",
    "key_said": "The token is {word}{digits:4} for now.",
    "foreign_password": "Das Passwort lautet {word}{digits:4} seit gestern.",
    "one_time_code": "The PIN was {digits:4} in this case.",
    "password_beside": "The password {word}{digits:3}! was refused.",
    "key_beside": "The key {hex:40} was refused.",
    "named_after": "{word}{digits:3}! is the password of it.",
    "used_as_password": "It went on using ops{digits:2} as the password.",
    "command_login": "It ran curl -s -u ops:{word} on the host.",
    "command_password": "It ran mysql -uroot -p{word} shop twice.",
    "login_pair": "It says user: ops, pass: {word} in the third line.",
    "credential_pair": "The page shows credentials ops/{word}{digits:2} in plain text.",
    "prefixed_secret": "It printed sk-{hex:8}f7a9c3{hex:6} twice.",
    "vendor_token": "It printed qzx_{base36:20} twice.",
    "random_token": "It printed {base62:36} twice.",
    "near_credential": "It printed {base62:22}, an expired token.",
}
"""For each rule a text that it alone finds."""
