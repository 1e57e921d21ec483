"""Settings from the environment, and the data files of the release."""
