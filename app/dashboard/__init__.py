"""Pages for people: signing in, the home page and the playground."""
