"""The naive test of Boyse (1979): every edge of one body against every face of the other. The baseline."""
