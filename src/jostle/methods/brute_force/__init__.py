"""The oracle: every face against every face."""
