#!/usr/bin/env python3
# test: cost=24
"""Every project in faults/ has one planted bug on a line marked `// BUG:`; the file `expected` says which verdict and which
fault it must give, at that line. Projects in good/ must pass without a fault.

Each fault must also be found under one random schedule. Keys of `expected`: task, scope, case, mode, sync; auto, manual: the
verdict under that --sync where it matters, strict: under --profile=strict; strict_order: of a project in good/, a conflict that is a
note on a line marked `// NOTE:` and a fault under --strict-order; verdict; fault and kind (a finding's name and kind), note: yes if the
finding is a note, operand, first: index of the first wrong element, line: none if the finding has no place; scalar_loads, scalar_stores: exact counts; message: a part of the
finding's message; reason: a part of the verdict's; kernel_type; printed: the whole text that the kernel prints, \\n for a new line. A line marked
`// OTHER:` is the other access of the finding."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import verdicts  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SEED = 5


def read_expected(project):
    lines = (project / "expected").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line)


def marked_line(project, mark):
    """(file relative to the project, line number) of the only line with the mark, or (None, None)."""
    found = [(str(path.relative_to(project)), number)
             for path in sorted(project.rglob("*")) if path.suffix in (".cpp", ".h")
             for number, line in enumerate(path.read_text().splitlines(), 1) if mark in line]
    assert len(found) <= 1, found
    return found[0] if found else (None, None)


def evaluation(project, expected, *more):
    given = " ".join(more)
    options = [f"--{key}={expected[key]}" for key in ("scope", "mode", "sync") if key in expected and f"--{key}=" not in given]
    return expected["task"], project, "--case", expected.get("case", "0"), *options, *more


def evaluate_all(folder, runs):
    """project -> (expected, {run: verdict}); runs(expected): name of a run -> options."""
    projects = sorted(path.parent for path in (HERE / folder).glob("*/expected"))
    all_expected = {project: read_expected(project) for project in projects}
    asked = [(project, name, evaluation(project, expected, *options)) for project, expected in all_expected.items()
             for name, options in runs(expected).items()]
    found = {project: (expected, {}) for project, expected in all_expected.items()}
    for (project, name, _), result in zip(asked, verdicts(one for _, _, one in asked), strict=True):
        found[project][1][name] = result
    return found


def fault_runs(expected):
    runs = {"in order": (), "random": (f"--schedule=random:{SEED}",)}
    runs.update({key: (f"--sync={key}",) for key in ("auto", "manual") if key in expected})
    runs.update({key: (f"--profile={key}",) for key in ("strict",) if key in expected})
    return runs


def conflict_runs(expected):
    if "strict_order" not in expected:
        return {}
    return {"in order": (), "random": (f"--schedule=random:{SEED}",), "seeds": ("--seeds=2",), "strict order": ("--strict-order",)}


class Planted(unittest.TestCase):
    def check_finding(self, project, expected, result, message):
        row = result["cases"][0]
        findings = row["notes" if expected.get("note") else "faults"]
        named = [f for f in findings if f["name"] == expected["fault"]]
        self.assertTrue(named, [(f["name"], f["line"], f["message"]) for f in row["faults"] + row["notes"]])
        finding = named[0]
        self.assertEqual(finding["kind"], expected["kind"])
        if expected.get("line") == "none":
            self.assertIsNone(finding["line"])
        else:
            self.assertEqual((finding["file"], finding["line"]), marked_line(project, "// BUG:"), finding["message"])
        if "operand" in expected:
            self.assertEqual(finding["operand"], expected["operand"])
        self.assertIn(message, finding["message"])
        other = marked_line(project, "// OTHER:")
        if other[0]:
            self.assertEqual((finding["other_file"], finding["other_line"]), other)

    def test_faults(self):
        projects = evaluate_all("faults", fault_runs)
        self.assertGreaterEqual(len(projects), 60)
        for project, (expected, results) in projects.items():
            for name, result in results.items():
                with self.subTest(project=project.name, run=name):
                    self.assertEqual(result["verdict"], expected.get(name, expected["verdict"]), result["reason"])
                    if name in expected:
                        continue
                    self.assertIn(expected.get("reason", ""), result["reason"] or "")
                    if "first" in expected:
                        self.assertEqual(result["cases"][0]["comparison"]["first"]["index"], int(expected["first"]))
                    if "fault" in expected:
                        # Which core is named first, and where, is the schedule's choice.
                        message = expected.get("message", "") if name == "in order" else ""
                        self.check_finding(project, expected, result, message)

    def check_conflict(self, project, name, findings):
        found = [(f["file"], f["line"], f["other_file"], f["other_line"]) for f in findings if f["name"] == name]
        self.assertEqual(found, [marked_line(project, "// NOTE:") + marked_line(project, "// OTHER:")])

    def test_conflicts_that_change_nothing(self):
        conflicts = {project: found for project, found in evaluate_all("good", conflict_runs).items() if found[1]}
        self.assertGreaterEqual(len(conflicts), 6)
        for project, (expected, results) in conflicts.items():
            for name, result in results.items():
                with self.subTest(project=project.name, run=name):
                    strict, row = name == "strict order", result["cases"][0]
                    self.assertEqual(result["verdict"], "fault" if strict else "pass", result["reason"])
                    self.assertEqual(result["strict_order"], strict)
                    self.check_conflict(project, expected["strict_order"], row["faults" if strict else "notes"])
                    self.assertEqual(row["faults"] if not strict else row["notes"], [])

    def test_good(self):
        for project, (expected, results) in evaluate_all("good", lambda expected: {"in order": ()}).items():
            with self.subTest(project=project.name):
                result = results["in order"]
                self.assertEqual((result["verdict"], result["reason"]), ("pass", None))
                self.assertEqual(result["cases"][0]["faults"], [])
                self.assertEqual(result["cases"][0]["printed"], expected.get("printed", "").replace("\\n", "\n") or None)
                if "kernel_type" in expected:
                    self.assertEqual(result["cases"][0]["run"]["kernel_type"], expected["kernel_type"])
                for key in ("scalar_loads", "scalar_stores"):
                    if key in expected:
                        self.assertEqual(result["cases"][0]["run"][key], int(expected[key]))


if __name__ == "__main__":
    unittest.main()
