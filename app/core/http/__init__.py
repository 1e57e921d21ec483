"""Flask and flask-smorest: blueprints, mounts, errors, and what surrounds every request."""
