"""Pairs (T, σ̂) that may be certified: members that share work, the automatic family and its screening."""
