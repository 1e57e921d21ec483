"""Reports: concrete findings, for an agent that has some."""
