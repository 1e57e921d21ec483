"""Ask the agents that use your product whether it worked."""
