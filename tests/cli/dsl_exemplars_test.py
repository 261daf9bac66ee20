#!/usr/bin/env python3
"""akgen dsl exemplars: every category has a program to learn it from, and one beside it for the task whose own that is."""
import json
import pathlib
import unittest

from akgen_program import HOME, akgen


def exemplars(*options):
    process = akgen("dsl", "exemplars", "--json", *options)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


class Exemplars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = exemplars()
        cls.tasks = json.loads(akgen("task", "list", "--json").stdout)

    def programs(self, suite, category):
        folder = HOME / "tasks" / suite
        return {f"{suite}/{path.parent.relative_to(folder)}" for path in folder.glob(f"*/{category}/*/program.py")}

    def test_each_category_has_two(self):
        categories = {(task["suite"], task["category"]) for task in self.tasks}
        self.assertEqual([(row["suite"], row["category"]) for row in self.rows[::2]], sorted(categories))
        self.assertEqual([row["rank"] for row in self.rows], [1, 2] * len(categories))

    def test_they_are_programs_of_the_category(self):
        for first, second in zip(self.rows[::2], self.rows[1::2]):
            own = self.programs(first["suite"], first["category"])
            self.assertIn(first["task"], own)
            self.assertNotEqual(first["task"], second["task"])
            if len(own) > 1:
                self.assertIn(second["task"], own)
            for row in (first, second):
                self.assertEqual(pathlib.Path(row["program"]), HOME / "tasks" / row["task"] / "program.py")
                self.assertTrue(pathlib.Path(row["program"]).is_file())

    def test_no_task_is_shown_its_own_program(self):
        for task in self.tasks[::9] + [task for task in self.tasks
                                       if any(row["task"] == f"{task['suite']}/{task['name']}" for row in self.rows)]:
            name = f"{task['suite']}/{task['name']}"
            rows = exemplars("--task", name)
            self.assertEqual([(row["suite"], row["category"]) for row in rows], [(task["suite"], task["category"])])
            self.assertNotEqual(rows[0]["task"], name)
        self.assertEqual([row["rank"] for row in exemplars("--task", "Sqrt")], [2])
        self.assertEqual([row["rank"] for row in exemplars("--task", "Neg")], [1])

    def test_text_and_one_category(self):
        text = akgen("dsl", "exemplars", "--category", "Norm").stdout
        self.assertEqual([line.split() for line in text.splitlines()],
                         [["npukernelbench", "Norm", "1", "npukernelbench/level2/Norm/RmsNorm"],
                          ["npukernelbench", "Norm", "2", "npukernelbench/level2/Norm/AddLayerNorm"]])
        self.assertEqual({row["suite"] for row in exemplars("--category", "Math")}, {"npukernelbench", "multikernelbench"})
        process = akgen("dsl", "exemplars", "--category", "Nothing")
        self.assertEqual((process.returncode, process.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
