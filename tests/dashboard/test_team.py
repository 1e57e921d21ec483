"""Members are invited by a link, change roles and are removed on the page of the team."""

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts import members, users
from app.accounts.models import AuditEntry, Invitation
from app.accounts.rules import MAX_OPEN_INVITATIONS
from app.core.database import session, transaction
from app.retention.service import expire_sign_ins
from tests.context_api import Clock
from tests.dashboard.browser import fields, send
from tests.factories import Company, create_company, sign_in

NEW, PASSWORD = "newcomer@example.com", "correct horse battery"


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


@pytest.fixture
def visitor(app: Flask) -> FlaskClient:
    """A browser of somebody else."""
    return app.test_client()


def sign_in_as(client: FlaskClient, company: Company, role: str) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, f"{role}@example.com", role)
    sign_in(client, company, json={"email": user.email, "password": user.password})


def invite(client: FlaskClient, email: str = NEW, role: str = "member") -> TestResponse:
    return send(client, "/team/invitations", email=email, role=role)


def path_in(page: TestResponse) -> str:
    match = re.search(r'id="invitation">http://127\.0\.0\.1:8000(/invite/[^<]+)<', page.text)
    assert match is not None, page.text
    return unescape(match[1])


def accept(client: FlaskClient, path: str, password: str = PASSWORD, repeated: str | None = None) -> TestResponse:
    form = {**fields(client.get(path)), "new_password": password, "repeated_password": repeated or password}
    return client.post(path, data=form)


def roles(company: Company) -> dict[str, str]:
    with transaction():
        return {member.email: member.role for member in users.list_members(company.workspace_id)}


def user_id(company: Company, email: str) -> str:
    with transaction():
        return next(str(m.user_id) for m in users.list_members(company.workspace_id) if m.email == email)


def actions() -> list[str]:
    with transaction():
        return list(session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def test_somebody_without_an_account_joins_with_a_password_of_their_own(
    owner: FlaskClient, visitor: FlaskClient, company: Company
) -> None:
    page = invite(owner, role="admin")
    path = path_in(page)
    assert 'data-copy="#invitation"' in page.text
    assert path not in owner.get("/team").text
    page = visitor.get(path)
    assert "Join Example company" in page.text
    assert f'action="{path}"' in page.text
    assert accept(visitor, path).location == "/"
    assert visitor.get("/api/session").json["user"]["role"] == "admin"
    assert roles(company)[NEW] == "admin"
    assert sign_in(visitor, company, json={"email": NEW, "password": PASSWORD}).status_code == 200
    assert [action for action in actions() if "invit" in action] == ["invitation.created", "invitation.accepted"]


def test_a_link_works_once(app: Flask, owner: FlaskClient, visitor: FlaskClient) -> None:
    path = path_in(invite(owner))
    form = fields(visitor.get(path))
    assert accept(visitor, path).status_code == 303
    again = app.test_client()
    assert again.get(path).status_code == 404
    assert "not valid any more" in again.get(path).text
    values = {**form, "new_password": PASSWORD, "repeated_password": PASSWORD}
    assert visitor.post(path, data=values).status_code == 404


@pytest.mark.parametrize(
    ("password", "repeated"), [("short", "short"), (PASSWORD, "another password"), ("newcomer 12345", None)]
)
def test_a_weak_or_mistyped_password_leaves_the_link_as_it_is(
    owner: FlaskClient, visitor: FlaskClient, company: Company, password: str, repeated: str | None
) -> None:
    path = path_in(invite(owner))
    answer = accept(visitor, path, password, repeated)
    assert answer.status_code == 422
    assert password not in answer.text
    assert NEW not in roles(company)
    assert accept(visitor, path).status_code == 303


def test_a_user_of_another_workspace_signs_in_and_continues_in_the_new_one(
    owner: FlaskClient, visitor: FlaskClient, company: Company
) -> None:
    with transaction():
        other = create_company()
    path = path_in(invite(owner, other.email))
    page = visitor.get(path).text
    assert "new_password" not in page
    assert f"/sign-in?next={path.replace('/', '%2F')}" in page or f"/sign-in?next={path}" in page
    sign_in(visitor, other)
    assert "Join the workspace" in visitor.get(path).text
    assert visitor.post(f"{path}/join", data=fields(visitor.get(path))).location == "/"
    assert visitor.get("/api/session").json["workspace"]["id"] == str(company.workspace_id)
    assert roles(company)[other.email] == "member"
    assert visitor.get(path).status_code == 404


def test_nobody_takes_the_invitation_of_an_account_of_somebody_else(
    owner: FlaskClient, visitor: FlaskClient, company: Company
) -> None:
    with transaction():
        other, stranger = create_company(), create_company()
    path = path_in(invite(owner, other.email))
    form = fields(visitor.get(path))
    assert visitor.post(f"{path}/join", data=form).status_code == 303
    values = {**form, "new_password": PASSWORD, "repeated_password": PASSWORD}
    assert visitor.post(path, data=values).status_code == 409
    sign_in(visitor, stranger)
    assert "You are signed in as" in visitor.get(path).text
    assert visitor.post(f"{path}/join", data=fields(visitor.get(path)) or form).status_code == 403
    assert set(roles(company)) == {company.email}


def test_an_invitation_ends_when_it_is_withdrawn_replaced_or_old(
    owner: FlaskClient, visitor: FlaskClient, company: Company, clock: Clock
) -> None:
    withdrawn = path_in(invite(owner))
    (form_path,) = re.findall(r'action="(/team/invitations/[^"?]+/revoke)', owner.get("/team").text)
    assert "withdrawn" in send(owner, form_path).location
    assert visitor.get(withdrawn).status_code == 404
    assert send(owner, form_path).status_code == 404
    replaced, current = path_in(invite(owner)), path_in(invite(owner))
    assert [visitor.get(path).status_code for path in (replaced, current)] == [404, 200]
    clock.advance(days=7, minutes=1)
    assert visitor.get(current).status_code == 404
    expire_sign_ins()
    with transaction():
        assert session().scalars(select(Invitation)).all() == []


def test_an_invitation_ends_with_the_role_of_whoever_made_it(
    app: Flask, visitor: FlaskClient, company: Company
) -> None:
    admin = app.test_client()
    sign_in_as(admin, company, "admin")
    path = path_in(invite(admin))
    with transaction():
        members.set_role("admin@example.com", "member")
    assert visitor.get(path).status_code == 404
    assert NEW not in admin.get("/team").text


def test_only_invitations_that_can_be_accepted_are_counted(
    app: Flask, owner: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.accounts.invitations.MAX_OPEN_INVITATIONS", 1)
    admin = app.test_client()
    sign_in_as(admin, company, "admin")
    assert NEW in invite(admin).text
    assert NEW in owner.get("/team").text
    assert invite(owner, "other@example.com").status_code == 409
    with transaction():
        members.remove_user("admin@example.com")
    assert NEW not in owner.get("/team").text
    assert invite(owner, "other@example.com").status_code == 200


def test_only_owners_change_who_is_an_owner(client: FlaskClient, company: Company) -> None:
    sign_in_as(client, company, "admin")
    owner_id = user_id(company, company.email)
    assert invite(client, role="owner").status_code == 403
    assert send(client, f"/team/members/{owner_id}/role", role="member").status_code == 403
    assert send(client, f"/team/members/{owner_id}/remove").status_code == 403
    own_id = user_id(company, "admin@example.com")
    assert send(client, f"/team/members/{own_id}/role", role="owner").status_code == 403
    assert roles(company) == {company.email: "owner", "admin@example.com": "admin"}
    assert 'value="owner"' not in client.get("/team").text
    assert invite(client, role="admin").status_code == 200


def test_a_role_is_changed_and_a_member_removed_after_a_confirmation(
    owner: FlaskClient, visitor: FlaskClient, company: Company
) -> None:
    sign_in_as(visitor, company, "member")
    id_ = user_id(company, "member@example.com")
    assert send(owner, f"/team/members/{id_}/role", role="admin").status_code == 303
    assert visitor.get("/api/session").json["user"]["role"] == "admin"
    path = f"/team/members/{id_}/remove"
    assert "signed out of Example company at once" in owner.get(path).text
    assert roles(company)["member@example.com"] == "admin"
    assert send(owner, path).status_code == 303
    assert set(roles(company)) == {company.email}
    assert visitor.get("/api/session").status_code == 401
    assert actions()[-2:] == ["role.changed", "user.removed"]


def test_the_last_owner_stays(owner: FlaskClient, company: Company) -> None:
    id_ = user_id(company, company.email)
    assert "the last owner" in owner.get("/team").text
    answer = send(owner, f"/team/members/{id_}/remove")
    assert answer.status_code == 409
    assert "last owner" in answer.text
    assert send(owner, f"/team/members/{id_}/role", role="member").status_code == 409
    assert send(owner, f"/team/members/{id_}/role", role="king").status_code == 422
    assert roles(company) == {company.email: "owner"}


def test_whoever_cannot_be_invited_is_named_on_the_form(owner: FlaskClient, company: Company) -> None:
    assert invite(owner, "no address").status_code == 422
    assert invite(owner, "a\x00@example.com").status_code == 422
    assert invite(owner, company.email.upper()).status_code == 409
    assert invite(owner, role="king").status_code == 422
    assert "Invited</h2>" not in owner.get("/team").text


def test_open_invitations_are_bounded(owner: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.invitations.MAX_OPEN_INVITATIONS", 2)
    assert [invite(owner, f"{name}@example.com").status_code for name in "aabc"] == [200, 200, 200, 409]
    assert MAX_OPEN_INVITATIONS > 2


def test_a_member_sees_the_team_and_no_form(client: FlaskClient, company: Company) -> None:
    sign_in_as(client, company, "member")
    page = client.get("/team").text
    assert company.email in page
    assert "Make the link" not in page
    assert "/team/members/" not in page
    id_ = user_id(company, "member@example.com")
    assert invite(client).status_code == 403
    assert client.get(f"/team/members/{id_}/remove").status_code == 403
    assert send(client, f"/team/members/{id_}/role", role="owner").status_code == 403


def test_no_digest_and_no_address_of_an_invitation_is_in_the_audit_log(owner: FlaskClient) -> None:
    path = path_in(invite(owner))
    with transaction():
        texts = [str((entry.subject, entry.details)) for entry in session().scalars(select(AuditEntry))]
    assert not [text for text in texts if NEW in text or path.rpartition("/")[2] in text]


def test_a_link_of_another_workspace_or_another_token_opens_nothing(owner: FlaskClient, visitor: FlaskClient) -> None:
    with transaction():
        other = create_company()
    path = path_in(invite(owner))
    token = path.rpartition("/")[2]
    for text in (f"/invite/{other.workspace_id}/{token}", f"{path[:-43]}{'A' * 43}", f"{path}x", f"{path[:-43]}%00"):
        assert visitor.get(text).status_code == 404


def test_a_form_without_its_token_joins_nobody(owner: FlaskClient, visitor: FlaskClient, company: Company) -> None:
    path = path_in(invite(owner))
    answer = visitor.post(path, data={"new_password": PASSWORD, "repeated_password": PASSWORD})
    assert answer.status_code == 403
    assert NEW not in roles(company)
