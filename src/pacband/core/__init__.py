"""Foundations that know nothing of certificates: arrays, checks, labels, floats, documents, wording."""
