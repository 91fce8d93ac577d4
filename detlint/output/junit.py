"""The output of `--format junit`: a test suite whose failed tests are the findings, for viewers of test results."""

from __future__ import annotations

from xml.etree import ElementTree

from detlint.output.files import Files
from detlint.output.words import related, remarks, spot
from detlint.report import Judged, Report
from detlint.support.printed import no_command, one_line, printable


def render(report: Report, files: Files) -> str:
    """Return a test suite as XML: a failed test for each finding, or one passed test if there are none."""
    suite = ElementTree.Element(
        "testsuite",
        name="detlint",
        tests=str(len(report.findings) or 1),
        failures=str(len(report.findings)),
        errors="0",
        skipped="0",
        time=f"{report.seconds:.3f}",
    )
    for judged in report.findings:
        _case(suite, judged, files)
    if not report.findings:
        ElementTree.SubElement(suite, "testcase", name="nothing found", classname="detlint", time="0")
    if report.errors:
        ElementTree.SubElement(suite, "system-err").text = "\n".join(map(one_line, report.errors))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(suite: ElementTree.Element, judged: Judged, files: Files) -> None:
    finding, rule = judged.finding, judged.rule
    path = one_line(files.name(finding.place.path))
    at = spot(finding.place)
    case = ElementTree.SubElement(
        suite, "testcase", name=f"{finding.code} {rule.name} at {at}", classname=path, time="0"
    )
    failure = ElementTree.SubElement(case, "failure", type=judged.severity.value, message=printable(finding.message))
    told = (f"{path}:{at}: {finding.code} {finding.message}", *related(finding), *remarks(judged))
    failure.text = "\n".join(no_command(line) for part in told for line in part.splitlines())
