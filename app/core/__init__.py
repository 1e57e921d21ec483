"""What every package stands on; imports none of them."""
