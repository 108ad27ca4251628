"""Meshes: built, loaded, checked and saved."""
