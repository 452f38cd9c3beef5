"""Documents edited as someone who knows the format would: with a digest that is right again."""

import json

from pacband.core.documents import _digest, _serialize


def rewrite(path, change, *, resign=True):
    """Change a document by a function of it; without `resign`, it keeps its old digest."""
    document = json.loads(path.read_text())
    change(document)
    if resign:
        document.pop("sha256")
        document["sha256"] = _digest(document)
    path.write_bytes(_serialize(document))


def redigested(path, change):
    """Change a document by a function of its content, and give it the digest of what it now is."""
    rewrite(path, lambda document: change(document["content"]))
