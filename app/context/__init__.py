"""What a company may know about a customer right now."""
