"""World and its bodies: the state that a program holds, its checks, its file and its lock."""
