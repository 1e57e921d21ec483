"""Passwords in the forms of commands, logins and sentences."""

import random

import pytest

from app.screening.scanner import find_private
from tests.screening.generators import PASSWORD_TEMPLATES, fill

PASSWORDS = (
    'The body was {{\\"user\\":\\"ops\\",\\"password\\":\\"{0}\\"}} in the log.',
    '{{\\"pwd\\": \\"{0}\\"}}',
    "It ran curl -u admin:{0} https://host.dev/x twice.",
    "curl -sS --user 'ops:{0}' https://host.dev failed.",
    "curl -X POST -H 'Accept: */*' -u ops:{0} host.dev gave 401.",
    "wget --user=ops:{0} host.dev failed.",
    "It ran mysql -uroot -p{0} shop.",
    "mysqldump -h db -u root -p{0} shop > dump.sql failed.",
    "sshpass -p {0} ssh host worked.",
    "docker login -u ops -p {0} registry.dev failed.",
    "user: admin, pass: {0}",
    "username=ops pass={0}",
    "The page says login: ops; pass: {0} in plain text.",
    "Credentials admin/{0}",
    "The credentials are ops:{0} for staging.",
    "It logged in as admin/{0} and failed.",
    "creds: ops / {0}",
    "I tried using {0} as the password.",
    "It worked with {0} as password.",
    "Entered {0} as the admin password, and it was accepted.",
)

HARMLESS_TEXTS = (
    "The first pass: 12 rows; the second pass: 14 rows.",
    "user: ok, pass: true",
    "curl -u returned a usage error.",
    "docker run -u 1000:1000 image failed.",
    "mysql -uroot -p asked for it.",
    "mysql -h host -P 3306 timed out.",
    "mysql -u root -p<password> is what the docs show.",
    "curl -u user:password is what the docs show.",
    "curl -u $USER:$PASS did not work.",
    "mkdir -p /var/data/reports was needed.",
    "Credentials are read/write by default.",
    "The credentials page/form was slow.",
    "It logged in as admin/editor and saw both pages.",
    "The login page/redirect loop took 3 tries.",
    "I used SHA256 as the password hash.",
    "It shows e-mail as the login and a code as the password.",
    "The form takes username/password and a second factor.",
    "using cursor2 as the page token worked.",
    "Step 2 uses v2 as the API version.",
)


@pytest.mark.parametrize("sentence", PASSWORDS)
@pytest.mark.parametrize("shape", PASSWORD_TEMPLATES)
def test_a_password_is_found(sentence: str, shape: str) -> None:
    notes = [sentence.format(fill(shape, random.Random(number))) for number in range(10)]
    assert [note for note in notes if find_private(note) is None] == []


@pytest.mark.parametrize("note", HARMLESS_TEXTS)
def test_a_note_without_a_password_is_accepted(note: str) -> None:
    assert find_private(note) is None
