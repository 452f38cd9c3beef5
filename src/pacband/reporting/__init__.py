"""Figures, and a report that people can read, sign and share.

Numbers first (`rows`, `summary`), then a figure from the numbers (`figures`), then a page or Markdown from both
(`page`). `terminal` prints certificates and plans. README.md in this folder is for maintainers.
"""
