"""Each piece of synchronisation deleted from every correct kernel is found by the hazard detector, which names both lines, or
explained.

tests/kernels/mutation.py --all; its last line is the figure, and it fails if a mutant ends otherwise than mutation_misses.tsv says."""
import os
import pathlib
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "kernels"
os.execv(sys.executable, [sys.executable, KERNELS / "mutation.py", "--all"])
