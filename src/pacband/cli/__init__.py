"""The command line: one file a command; no mathematics here.

A command is imported when it is called for, so that ``pacband --version`` and ``pacband plan`` start no
scientific library.
"""
