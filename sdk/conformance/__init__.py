"""One black-box suite for the SDK of every language; README.md says how a language joins."""
