"""The shared base of all packages; imports none of them."""
