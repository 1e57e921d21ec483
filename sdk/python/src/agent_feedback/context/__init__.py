"""Customer context: request it from customers' agents, retrieve it, and record what came of it."""
