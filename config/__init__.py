"""What the service is told from outside, and the data it is built with."""
