"""SQL fragments about reports that statements of other packages are made of."""

from app.core.database.words import separate

WORDS = (
    f"((to_tsvector('simple', {separate('summary')}) || to_tsvector('simple', {separate('findings::text')}::jsonb))"
    " || array_to_tsvector(ARRAY[environment_id::text]))"
)
"""The words of a report with its findings, and its tenant, as they are indexed; written as PostgreSQL writes it."""

FEEDBACK = f"""
    SELECT environment_id, interaction_id, 'report'::text AS kind, id, NULL::text AS outcome, impact, summary AS note,
           findings, created_at, {WORDS} AS words
    FROM reports
"""
"""Reports with the columns of feedback."""
