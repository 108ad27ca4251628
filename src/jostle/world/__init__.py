"""World and its bodies: the state of a program, its checks, file and lock."""
