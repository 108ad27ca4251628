"""The naive baseline of Boyse (1979): every edge against every face."""
