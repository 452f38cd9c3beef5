"""The JSON Schemas of the files pacband writes."""
