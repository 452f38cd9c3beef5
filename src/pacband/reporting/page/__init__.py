"""The report as a page: figures as inline SVG, and the templates of the HTML and the Markdown."""
