"""Who a company's customers are, by opaque references, and what they chose."""
