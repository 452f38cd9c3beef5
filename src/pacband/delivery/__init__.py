"""A fitted model for other systems: its columns, its numbers, and its predictions as a table.

Nothing here imports such a system. `pacband.mlflow` passes it on to MLflow.
"""
