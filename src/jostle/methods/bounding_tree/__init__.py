"""Trees of any bounding volume and degree (Eckstein and Schömer 1999)."""
