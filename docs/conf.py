"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
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
    "printed",
    "long_names",
    "page_lists",
    "command_pages",
    "schema_pages",
    "docstrings",
    "accessible",
    "benchmark_pages",
]
exclude_patterns = ["_build", "_symbols.md", "gallery/README.rst", "**sg_execution_times.rst"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# In docstrings, a name in backticks is a name of Python: a link where it has a page.
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# In the list of a page, a method is `fit()`: a longer name is cut.
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Without MLflow its script has nothing to show: the page then has the script alone.
    "filename_pattern": r"\.py$" if find_spec("mlflow") else r"^(?!.*mlflow).*\.py$",
    "default_thumb_file": str(HERE / "images" / "report.png"),
    # What a reader should see first.
    "subsection_order": [f"../examples/{room}" for room in ("start", "data", "deployment", "paper")],
    "within_subsection_order": "example_order.ReadingOrder",
    "capture_repr": ("_repr_html_",),
    # Sharp on a dense screen.
    "image_srcset": ["2x"],
    # The page of a name lists the examples that use it.
    "backreferences_dir": "gallery/uses",
    "doc_module": ("pacband",),
    "nested_sections": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    # No page says how long its script ran on the machine of the build.
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.(csv|sh)",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "pacband"
html_static_path = ["_static"]
html_css_files = ["pacband.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
# Pages of their own, without a section to navigate.
html_sidebars = {
    name: [] for name in ("start", "which_promise", "paper", "benchmarks", "glossary", "architecture", "project/*")
}
html_theme_options = {
    "navbar_persistent": ["search-field"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
