#!/usr/bin/env python3
"""Writing beside llama.cpp, by turns: random weights of Qwen3-0.6B's shape, float32 and int8 (llama.cpp: Q8_0), 1 and 8 texts, all processors.
LLAMA_CPP=SOURCES LLAMA_BUILD=BUILD scripts/peers benchmarks/llama/llama.py [TURNS] [--alone]

SOURCES is a checkout of llama.cpp, or vendor/llama.cpp of the source package of llama-cpp-python; BUILD what `cmake -S SOURCES -B BUILD -DCMAKE_BUILD_TYPE=Release
-DGGML_NATIVE=ON && cmake --build BUILD --target llama` makes of it on this machine. With AMX it takes clang (-DCMAKE_C_COMPILER=.., -DCMAKE_CXX_COMPILER=..): the
_tile_loadconfig of GCC 12.2 reads 8 of the 64 bytes that it is given, as far as the optimizer knows, and int8 with 8 texts dies by SIGILL. Both sides keep keys and values in float32 and compute all scores of each token. --alone: one thread each, and seconds of the processor,
which tell more where others use the machine."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import gguf
import numpy

OURS = pathlib.Path(os.environ["AKGEN"]).parent / "benchmarks/lm"
SOURCES, BUILD = (pathlib.Path(os.environ[name]).resolve() for name in ("LLAMA_CPP", "LLAMA_BUILD"))
ALONE = "--alone" in sys.argv
TURNS = next((int(word) for word in sys.argv[1:] if word != "--alone"), 7)
THREADS = 1 if ALONE else os.cpu_count()
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD, INNER, VOCABULARY, WRITTEN = 28, 1024, 16, 8, 128, 3072, 151936, 16


def write_model(path, kind):
    writer = gguf.GGUFWriter(str(path), "qwen3")
    writer.add_context_length(4096)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("none")
    noise = numpy.random.default_rng(1)

    def matrix(name, rows, columns):
        values = noise.standard_normal((rows, columns), dtype=numpy.float32) * numpy.float32(0.02)
        if kind == gguf.GGMLQuantizationType.F32:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    def ones(name, count):
        writer.add_tensor(name, numpy.ones(count, numpy.float32))

    matrix("token_embd.weight", VOCABULARY, HIDDEN)
    ones("output_norm.weight", HIDDEN)
    for layer in range(LAYERS):
        for name, rows, columns in (("attn_q", HEADS * HEAD, HIDDEN), ("attn_k", KV_HEADS * HEAD, HIDDEN), ("attn_v", KV_HEADS * HEAD, HIDDEN),
                                    ("attn_output", HIDDEN, HEADS * HEAD), ("ffn_gate", INNER, HIDDEN), ("ffn_up", INNER, HIDDEN),
                                    ("ffn_down", HIDDEN, INNER)):
            matrix(f"blk.{layer}.{name}.weight", rows, columns)
        for name, count in (("attn_norm", HIDDEN), ("ffn_norm", HIDDEN), ("attn_q_norm", HEAD), ("attn_k_norm", HEAD)):
            ones(f"blk.{layer}.{name}.weight", count)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare(folder, name, kind, texts):
    shape = map(str, (LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD, INNER, VOCABULARY))
    commands = {"ours": [OURS, "write", *shape, name, str(texts), str(THREADS)],
                "llama.cpp": [folder / "steps", folder / f"{name}.gguf", str(texts), str(THREADS)]}
    programs = {key: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for key, command in commands.items()}
    said = {key: program.stdout.readline().strip() for key, program in programs.items()}
    found = {key: [] for key in programs}
    for turn in range(TURNS + 1):
        for key, program in programs.items():
            program.stdin.write("\n")
            program.stdin.flush()
            line = program.stdout.readline()
            if not line:
                sys.exit(f"{name}, {texts} texts: {key} ended with {program.wait()} (below 0: by that signal)")
            taken = float(line.split()[ALONE])
            if turn:
                found[key].append(taken)
    for program in programs.values():
        program.stdin.close()
        program.wait()
    ratio = statistics.median(b / a for a, b in zip(found["ours"], found["llama.cpp"]))
    rates = {key: WRITTEN * texts / statistics.median(values) for key, values in found.items()}
    print(f"{name}, {texts} texts: ours {rates['ours']:.1f} tokens/s, llama.cpp {rates['llama.cpp']:.1f}; {ratio:.2f} times (median of {TURNS} pairs; {said['ours']})",
          flush=True)


with tempfile.TemporaryDirectory(prefix="akgen-llama-") as name:
    folder = pathlib.Path(name)
    subprocess.run(["cc", "-O2", f"-I{SOURCES}/include", f"-I{SOURCES}/ggml/include", pathlib.Path(__file__).with_name("steps.c"), "-o", folder / "steps",
                    f"-L{BUILD}/bin", f"-Wl,-rpath,{BUILD}/bin", f"-Wl,-rpath-link,{BUILD}/bin", "-lllama"], check=True)
    for name, kind in (("float32", gguf.GGMLQuantizationType.F32), ("int8", gguf.GGMLQuantizationType.Q8_0)):
        write_model(folder / f"{name}.gguf", kind)
        for texts in (1, 8):
            compare(folder, name, kind, texts)
