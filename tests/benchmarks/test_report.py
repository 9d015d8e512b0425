"""Tests of the benchmark report, a Markdown file."""

from datetime import date

from benchmarks.report import Section, Table, document


def test_section_renders_heading_text_and_table_in_order() -> None:
    section = Section(
        "Pages", ["Two pages.", Table(("page", "ms"), [("first", "1"), ("last", "2")])]
    )
    assert section.markdown() == (
        "## Pages\n\nTwo pages.\n\n| page | ms |\n| --- | ---: |\n| first | 1 |\n| last | 2 |"
    )


def test_report_contains_date_and_machine() -> None:
    text = document([Section("Pages", ["Two."])], "two cores", date(2026, 11, 20))
    assert text.startswith("# Performance\n\nWritten by `make bench` on 2026-11-20: two cores.")
    assert text.endswith("## Pages\n\nTwo.\n")
