"""Is the process alive, and is everything there that it needs?"""
