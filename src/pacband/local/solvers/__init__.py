"""Ways to solve the same local problem; all agree. Each module turns models and points into jobs."""
