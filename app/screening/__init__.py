"""No text with a secret or personal data gets past here."""
