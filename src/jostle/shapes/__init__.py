"""Meshes: what they are, how they are built, loaded and saved."""
