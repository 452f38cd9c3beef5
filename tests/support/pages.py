"""What tests of pages share: a name that would be a script, and the outline of a page."""

from html.parser import HTMLParser

EVIL = "<script>alert(1)</script>"


class Outline(HTMLParser):
    """The tags of a page, its ids and what it would load."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.sources, self.text = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("src", "href", "xlink:href"):
            if attributes.get(name):
                self.sources.append(attributes[name])

    def handle_data(self, data):
        self.text.append(data)


def ten_candidates(rng, n=300):
    """Errors of ten candidates that are equally good: the best one is chosen by its luck."""
    return {f"m{k}": rng.standard_normal(n) for k in range(10)}
