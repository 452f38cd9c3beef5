"""What knows nothing of promises: arrays, checks, labels, floats, documents, words."""
