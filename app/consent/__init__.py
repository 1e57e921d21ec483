"""Who may send feedback: decisions, introspection, receipts."""
