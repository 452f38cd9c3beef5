"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pacband

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Examples draw without a screen, and no cell of the gallery asks for colours.
os.environ["MPLBACKEND"] = "Agg"

project = "pacband"
author = "The pacband authors"
copyright = author
release = version = pacband.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "mathml",
    "computed",
    "unbroken",
    "command_pages",
]
exclude_patterns = ["_build", "gallery/README.rst"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "substitution"]
myst_heading_anchors = 3
# A link to a file of the project that is not a page.
myst_substitutions = {"version": release}

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.(csv|sh)",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "pacband"
html_static_path = ["_static"]
html_css_files = ["pacband.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
# Pages of their own, without a section to navigate.
html_sidebars = {"start": [], "which_promise": []}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
