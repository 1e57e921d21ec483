"""A company's customers, known by opaque references, and their choices."""
