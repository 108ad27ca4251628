"""The face octree of Kitamura, Smith, Takemura and Kishino (1998)."""
