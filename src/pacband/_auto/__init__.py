"""How the automatic family is found: tables, default models, blend, screening. Its face is `pacband.auto`."""
