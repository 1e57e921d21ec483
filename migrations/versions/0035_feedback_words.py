"""Indexes by which words are found in reviews and reports.

The tenant is one of the words, since a GIN index without an extension has no uuid: a search reads the rows of its
environment alone. 256 kB of pending entries keep an insert cheap, and the one that moves them into the index short.
"""

from migrations.online import create_index

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Build the indexes beside the traffic."""
    tenant = "array_to_tsvector(ARRAY[environment_id::text])"
    options = "WITH (gin_pending_list_limit = 256)"
    create_index("ix_reviews_words", f"reviews USING gin ((to_tsvector('simple', note) || {tenant})) {options}")
    report_words = "to_tsvector('simple', summary) || to_tsvector('simple', findings)"
    create_index("ix_reports_words", f"reports USING gin (({report_words} || {tenant})) {options}")
