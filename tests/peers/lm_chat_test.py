#!/usr/bin/env python3
"""Qwen3's chat template as transformers renders it, from the template's own text: it comes with trl from 1.0 on, of which only this file is taken. The
template that a new vocabulary gets says the same."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import zipfile

import transformers

AKGEN = os.environ["AKGEN"]
TRL = "trl==1.16.0"
TOOLS = [{"type": "function", "function": {"name": "evaluate", "description": "builds \"and\" runs 矩阵", "parameters": {
    "type": "object", "properties": {"task": {"type": "string", "enum": ["a", "b"]}, "cases": {"type": "integer", "default": 3}},
    "required": ["task"]}}}, {"type": "function", "function": {"name": "stop", "parameters": {}}}]
WORDS = ["", "\n", "a", "kernel", "<think>", "</think>", "\n\n", " 🚀 ", "<tool_response>", "</tool_response>", "x < y", "\"q\"", "矩阵"]


def template(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, TRL], check=True)
    with zipfile.ZipFile(next(pathlib.Path(folder).glob("trl-*.whl"))) as wheel:
        return wheel.read("trl/chat_templates/qwen3.jinja").decode()


def conversation(choose):
    """Some messages of all roles."""
    def text():
        return "".join(choose.choice(WORDS) for _ in range(choose.randrange(6)))
    messages = [{"role": "system", "content": text()}] if choose.random() < 0.5 else []
    for _ in range(choose.randrange(1, 5)):
        role = choose.choice(["user", "user", "assistant", "assistant", "tool", "system"])
        message = {"role": role, "content": text()}
        if role == "user" and choose.random() < 0.2:
            message["content"] = f"<tool_response>{text()}</tool_response>"
        if role == "assistant" and choose.random() < 0.3:
            message["reasoning_content"] = text()
        elif role == "assistant" and choose.random() < 0.5:
            message["content"] = f"<think>\n{text()}\n</think>\n\n{text()}"
        if role == "assistant" and choose.random() < 0.4:
            calls = [{"name": "evaluate", "arguments": {"task": "a", "cases": 2}}, {"name": "stop", "arguments": "{}"}][:choose.randrange(1, 3)]
            message["tool_calls"] = [{"type": "function", "function": call} if choose.random() < 0.5 else call for call in calls]
        messages.append(message)
    return {"messages": messages} | ({"tools": TOOLS[:choose.randrange(1, 3)]} if choose.random() < 0.4 else {})


class Chat(unittest.TestCase):
    def test_as_transformers(self):
        choose = random.Random(11)
        rows = [conversation(choose) for _ in range(1000)]
        with tempfile.TemporaryDirectory() as folder:
            text = template(folder)
            # A folder with this very text is not refused for its template.
            pathlib.Path(folder, "chat_template.jinja").write_text(text)
            said = subprocess.run([AKGEN, "lm", "sample", folder, "--chat", "--prompt", "a"], capture_output=True, text=True).stderr
            self.assertIn("config.json: No such file", said)
            given = pathlib.Path(folder, "rows.jsonl")
            given.write_text("".join(json.dumps(row) + "\n" for row in rows))
            from tokenizers import Tokenizer, models
            tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
            new = pathlib.Path(folder, "new")
            subprocess.run([AKGEN, "lm", "tokenizer", given, "-o", new, "--vocab", "300"], check=True, capture_output=True)
            made = transformers.AutoTokenizer.from_pretrained(new)
            for options, ask in (([], {}), (["--ask"], dict(add_generation_prompt=True)),
                                 (["--no-thinking"], dict(add_generation_prompt=True, enable_thinking=False))):
                done = subprocess.run([AKGEN, "lm", "chat", given, "--json", *options], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = [json.loads(line) for line in done.stdout.splitlines()]
                for row, ours in zip(rows, found, strict=True):
                    wanted = tokenizer.apply_chat_template(row["messages"], tools=row.get("tools"), chat_template=text, tokenize=False, **ask)
                    self.assertEqual(ours["text"], wanted, row)
                    self.assertEqual(made.apply_chat_template(row["messages"], tools=row.get("tools"), tokenize=False, **ask), wanted, row)
                    self.assertEqual("".join(part["text"] for part in ours["parts"]), wanted)
                    answers = [part for part in ours["parts"] if part["learned"]]
                    self.assertEqual(len(answers), sum(message["role"] == "assistant" for message in row["messages"]))
                    self.assertTrue(all(part["text"].endswith("<|im_end|>") for part in answers))


if __name__ == "__main__":
    unittest.main()
