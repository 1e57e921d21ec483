"""The delivery ledger: what became of the events that products and exporters have sent, and what was lost before."""
