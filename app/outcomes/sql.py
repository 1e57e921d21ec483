"""SQL fragments about reviews that statements of other packages are made of."""

from app.core.database.words import separate

WORDS = f"(to_tsvector('simple', {separate('note')}) || array_to_tsvector(ARRAY[environment_id::text]))"
"""The words of a review and its tenant, as they are indexed; written as PostgreSQL writes it."""

FEEDBACK = f"""
    SELECT environment_id, interaction_id, 'review'::text AS kind, id, outcome, NULL::text AS impact, note,
           NULL::jsonb AS findings, created_at, {WORDS} AS words
    FROM reviews
"""
"""Reviews with the columns of feedback."""
