"""World and its bodies: the state that a user holds, its checks, its file and its lock."""
