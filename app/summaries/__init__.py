"""Day counts, kept true by recounting."""
