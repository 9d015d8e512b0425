"""Compile the translations of the words of pages, messages and reports.

`po/` contains a gettext catalogue for each language. Babel compiles the catalogues and writes a
table of number formats, so the service needs only the gettext module of the standard library.
"""
