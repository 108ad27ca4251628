"""The methods, one folder each, after their papers; none knows another."""
