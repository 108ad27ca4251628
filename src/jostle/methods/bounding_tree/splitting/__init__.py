"""The methods that split a set of faces (§3.1–3.3), and the binary rival."""
