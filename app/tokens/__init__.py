"""Bearer tokens of callers, and the guards that authenticate them."""
