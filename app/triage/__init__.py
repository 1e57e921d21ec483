"""Triage: what a company does about reviews and reports."""
