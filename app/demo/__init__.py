"""The sample data of `flask demo seed`: a fortnight of three products, the same for the same day."""
