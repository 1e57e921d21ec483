"""Day counts, recounted whenever the rows of a day change."""
