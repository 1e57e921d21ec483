"""`python -m agent_feedback` is `agent-feedback`."""

from agent_feedback.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
