"""Find words that stand beside a slash or a point: PostgreSQL takes a path or the name of a host for one word.

The findings have no numbers, so that the text with spaces for these characters is JSON still.
"""

from migrations.online import create_index

revision = "0041"
down_revision = "0040"

TRANSLATION = "translate({}, '/.@<>&+-', '        ')"


def upgrade() -> None:
    """Build both anew beside the traffic; while one is missing, a search reads the rows of its days."""
    tenant = "array_to_tsvector(ARRAY[environment_id::text])"
    options = "WITH (gin_pending_list_limit = 256)"
    review_words = f"to_tsvector('simple', {TRANSLATION.format('note')})"
    create_index("ix_reviews_words", f"reviews USING gin (({review_words} || {tenant})) {options}")
    finding_words = f"to_tsvector('simple', {TRANSLATION.format('findings::text')}::jsonb)"
    report_words = f"to_tsvector('simple', {TRANSLATION.format('summary')}) || {finding_words}"
    create_index("ix_reports_words", f"reports USING gin (({report_words} || {tenant})) {options}")
