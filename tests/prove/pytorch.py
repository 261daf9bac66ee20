"""Upstream and golden references agree with PyTorch on every case of the tasks, not only on those that `make peers` chooses."""
import os
import pathlib

HOME = pathlib.Path(__file__).resolve().parents[2]
os.execv(HOME / "scripts/peers", ["peers", HOME / "tests/peers/references_test.py", "--all"])
