"""Flask and flask-smorest: blueprints, mounts, errors, and the hooks of every request."""
