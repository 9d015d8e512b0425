"""Tests of the benchmark report, a Markdown file."""

from datetime import date

from benchmarks.report import Section, Table, document, met


def test_section_renders_heading_text_and_formatted_table_in_order() -> None:
    table = Table({"page": "", "ms": ".1f"}, [("first", 1.25), ("last", None), ("none", "slow")])
    assert Section("Pages", ["Two pages.", table]).markdown() == (
        "## Pages\n\nTwo pages.\n\n| page | ms |\n| --- | ---: |\n| first | 1.2 |\n| last |  |\n"
        "| none | slow |"
    )


def test_section_names_exceeded_limits() -> None:
    section = Section("Pages", ["Two pages."], ["first: 14.0, at most 13.5", "last: 2, at most 1"])
    assert section.markdown() == (
        "## Pages\n\nTwo pages.\n\nExceeded limits: first: 14.0, at most 13.5; last: 2, at most 1."
    )


def test_targets_are_met_or_missed() -> None:
    assert met({"one": True, "two": False}) == "one (met); two (missed)"


def test_report_contains_date_and_machine() -> None:
    text = document([Section("Pages", ["Two."])], "two cores", date(2026, 11, 20))
    assert text.startswith("# Performance\n\nWritten by `make bench` on 2026-11-20: two cores.")
    assert text.endswith("## Pages\n\nTwo.\n")
