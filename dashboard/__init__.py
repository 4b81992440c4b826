"""The screens: one file a page, over one read-only analysis file."""
