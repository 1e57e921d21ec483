"""`flask secrets`: rotate the secrets of the service, and say whether the right ones are configured."""

from dataclasses import asdict

import click

from app.cli.output import Row, command
from app.core.settings import current_settings
from app.products.redigest import redigest_product_keys
from app.secrets import report, sealing, status
from app.secrets.report import PepperReport
from app.secrets.sealing import ResealedColumn

group = click.Group("secrets")


@command(group, "rotate")
def rotate() -> Row:
    """Renew what older secrets protect, and say what remains under them and when each can be removed.

    Run it when every process has the new secrets, and again whenever you want to know what remains. The service may
    run meanwhile; a run that was interrupted is repeated.
    """
    columns = sealing.reseal()
    redigested = redigest_product_keys()
    row: Row = {
        "sealed": [asdict(column) for column in columns],
        "olderSealingSecrets": _sealing_advice(columns),
        "renewedProductKeys": redigested,
        "olderPeppers": [_pepper_row(pepper) for pepper in report.report_peppers()] or "none",
    }
    unconfigured = report.count_unconfigured()
    if unconfigured:
        row["underSecretsThatAreNotConfigured"] = unconfigured
    return row


@command(group, "status", has_problem=lambda row: bool(row["problems"]))
def show_status() -> Row:
    """Say what the configured secrets open and recognise, and what does not work without those that are missing.

    It changes nothing, and exits with 1 when there is a problem. Run it after a restore, before the service takes
    traffic.
    """
    columns, peppers = status.count_sealed_values(), status.list_used_peppers()
    return {
        "sealed": [
            {"name": values.column.name, "readable": values.readable, "unreadable": values.unreadable}
            for values in columns
        ],
        "peppers": [
            {"pepperId": pepper.id.hex(), "configured": pepper.is_configured, "rows": pepper.row_counts}
            for pepper in peppers
        ],
        "problems": status.list_problems(columns, peppers),
    }


def _sealing_advice(columns: list[ResealedColumn]) -> str:
    unreadable = sum(column.unreadable for column in columns)
    if unreadable:
        return f"no configured secret opens {unreadable} values; add the one that does, or renew what they belong to"
    if len(current_settings().sealing_secrets) == 1:
        return "none"
    return "They can be removed now: nothing is sealed with them."


def _pepper_row(pepper: PepperReport) -> Row:
    counts = {need.use.name: need.row_count for need in pepper.needs if need.row_count is not None}
    return {
        "pepper": pepper.position,
        "pepperId": pepper.id,
        "replacedAt": pepper.replaced_at,
        "remaining": counts or "none",
        "removableOn": pepper.removal.removable_on,
        "reason": pepper.removal.reason,
    }
