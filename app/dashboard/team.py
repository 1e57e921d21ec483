"""The team page: who belongs to the workspace, who is invited, and what each may do."""

import uuid

from flask import redirect, request, url_for
from werkzeug.wrappers import Response
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length

from app.accounts import invitations, users
from app.accounts import team as members
from app.accounts.guards import require_role
from app.accounts.rules import INVITATION_LIFETIME, MAX_EMAIL_LENGTH, MEMBER, OWNER, ROLES, may_change, may_grant
from app.accounts.sessions import Login
from app.core.errors import ApiError, Conflict, Forbidden, Unprocessable
from app.core.settings import current_settings
from app.dashboard.export_schemas import INVITED, JOINED, TeamRowSchema
from app.dashboard.forms import WriteForm
from app.dashboard.lists import ItemList, export_urls, whole_list
from app.dashboard.pages import Page, PageBlueprint, page_with_error, render
from app.dashboard.scope import scoped_url

NOTICES = {
    "role": "The role is changed, from the next request on.",
    "removed": "The member is removed, and their sessions here have ended.",
    "withdrawn": "The invitation is withdrawn; its link does not work any more.",
}
ROLE_LABELS = {
    "owner": "owner: everything, and who is an owner",
    "admin": "admin: reads and changes everything else",
    "member": "member: reads",
}

team = PageBlueprint("team", has_login=True)


class InvitationForm(WriteForm):
    """Whom to invite."""

    email = StringField("E-mail address", [InputRequired(), Length(max=MAX_EMAIL_LENGTH)])
    role = SelectField(
        "Role", choices=[SelectChoice(role, label) for role, label in ROLE_LABELS.items()], default=MEMBER
    )


@team.page("", "team/page.html")
def list_members(login: Login) -> Page:
    """List the members of the workspace and its open invitations."""
    return _team_page(login, InvitationForm())


@team.export()
def export_team(login: Login) -> ItemList:
    """Export the members, and for those who see them the open invitations."""
    rows = [
        {"user_id": member.user_id, "invitation_id": None, "state": JOINED, "since": member.joined_at}
        | {"email": member.email, "role": member.role, "expires_at": None}
        for member in users.list_members(login.workspace_id)
    ]
    if may_change(login.role):
        rows += [
            {"user_id": None, "invitation_id": invitation.id, "state": INVITED, "since": invitation.created_at}
            | {"email": invitation.email, "role": invitation.role, "expires_at": invitation.expires_at}
            for invitation in invitations.list_invitations(login.workspace_id)
        ]
    return whole_list("team", TeamRowSchema, rows)


@team.form("/invitations", "team/page.html")
def invite(login: Login) -> Page | Response:
    """Make an invitation and show its link this once, or show the form again with the error."""
    form = InvitationForm()
    try:
        if not form.validate():
            raise Unprocessable("Nobody was invited: the form says why.")
        invitation = invitations.create_invitation(login, form.email.data, form.role.data)
    except (Unprocessable, Conflict, Forbidden) as error:
        return _team_page(login, form, error)
    path = url_for("invitation.show_invitation", workspace_id=invitation.workspace_id, token=invitation.token)
    variables = {
        "invitation": invitation,
        "link": f"{current_settings().app_url}{path}",
        "days": INVITATION_LIFETIME.days,
    }
    return render("team/invitation.html", Page(variables))


@team.form("/invitations/<uuid:invitation_id>/revoke")
def revoke_invitation(login: Login, invitation_id: uuid.UUID) -> Response:
    """Withdraw an invitation."""
    invitations.revoke_invitation(login, invitation_id)
    return _done("withdrawn")


@team.form("/members/<uuid:user_id>/role", "team/page.html")
def change_role(login: Login, user_id: uuid.UUID) -> Page | Response:
    """Change the role of a member, or show the page again with the error."""
    users.get_member(login.workspace_id, user_id)
    role = request.form.get("role", "")
    try:
        if role not in ROLES:
            raise Unprocessable("There is no such role.")
        members.change_role(login, user_id, role)
    except (Unprocessable, Conflict, Forbidden) as error:
        return _team_page(login, InvitationForm(), error)
    return _done("role")


@team.page("/members/<uuid:user_id>/remove", "team/removal.html")
def show_removal(login: Login, user_id: uuid.UUID) -> Page:
    """Ask whether a member is to be removed."""
    member = users.get_member(login.workspace_id, user_id)
    require_role()
    return Page({"member": member})


@team.form("/members/<uuid:user_id>/remove", "team/removal.html")
def remove_member(login: Login, user_id: uuid.UUID) -> Page | Response:
    """Remove a member, or say why not."""
    member = users.get_member(login.workspace_id, user_id)
    try:
        members.remove_member(login, user_id)
    except (Conflict, Forbidden) as error:
        return page_with_error({"member": member}, error)
    return _done("removed")


def _done(notice: str) -> Response:
    return redirect(scoped_url("team.list_members", done=notice), 303)


def _team_page(login: Login, form: InvitationForm, error: ApiError | None = None) -> Page:
    team_members = users.list_members(login.workspace_id)
    variables = {
        "members": team_members,
        "invitations": invitations.list_invitations(login.workspace_id),
        "owner_count": sum(member.role == OWNER for member in team_members),
        "roles": [role for role in ROLES if may_grant(login.role, role)],
        "may_grant": may_grant,
        "form": form,
        "export_urls": export_urls(),
        "notice": NOTICES.get(request.args.get("done", "")),
    }
    return page_with_error(variables, error)
