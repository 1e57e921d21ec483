"""Records of requests that agents and assistants made to the product, without their content."""
