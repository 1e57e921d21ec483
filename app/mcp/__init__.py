"""The read server of the Model Context Protocol, for a company's own agents."""
