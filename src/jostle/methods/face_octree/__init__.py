"""The face octree of Kitamura, Smith, Takemura and Kishino (1998).

Open `method.py` first: it runs the four stages.
"""
