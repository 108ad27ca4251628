"""Sample pairs on layered shells (Guy and Debunne 2004): contact regions within a time budget, for rigid and deforming bodies."""
