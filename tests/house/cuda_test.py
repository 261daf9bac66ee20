#!/usr/bin/env python3
"""akgen-cuda.so in a build: on a machine without a GPU nothing but its own target compiles it."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
NVCC = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
GPU = any(pathlib.Path("/dev").glob("nvidia[0-9]*")) or pathlib.Path("/dev/dxg").exists()
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(cuda NONE)
set(CMAKE_SOURCE_DIR {home})
include({home}/cmake/cuda.cmake)
"""


@unittest.skipUnless(NVCC, "there is no nvcc")
@unittest.skipIf(GPU, "there is a GPU")
class Cuda(unittest.TestCase):
    def commands(self, choice, target):
        """How many compilations of CUDA a target has."""
        with tempfile.TemporaryDirectory(prefix="akgen-cuda-") as directory:
            folder = pathlib.Path(directory)
            (folder / "CMakeLists.txt").write_text(PROJECT.format(home=HOME))
            subprocess.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DAKGEN_CUDA={choice}"], check=True,
                           capture_output=True)
            done = subprocess.run(["ninja", "-C", folder / "build", "-t", "commands", target], capture_output=True, text=True, check=False)
            return len(re.findall(r"nvcc .*-c ", done.stdout))

    def test_only_who_asks_compiles_it(self):
        files = len(list((HOME / "src/lm/cuda").glob("*.cu")))
        self.assertEqual([self.commands("AUTO", "all"), self.commands("AUTO", "akgen-cuda"), self.commands("ON", "all"),
                          self.commands("OFF", "all")], [0, files, files, 0])


if __name__ == "__main__":
    unittest.main()
