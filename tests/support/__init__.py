"""What several tests share: independent solvers, galleries of models, tables and files."""
