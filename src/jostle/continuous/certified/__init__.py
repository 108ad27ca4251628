"""Faces on lines and screws: the first time at which they come near, never missed and never late."""
