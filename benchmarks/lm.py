#!/usr/bin/env python3
"""The language model beside PyTorch, step by step in turns: training with AdamW, clipping and texts of 512 tokens, in float32 and with
products of bfloat16 (PyTorch: under autocast), on a Qwen3 of about 20 and of about 120 million parameters. scripts/peers benchmarks/lm.py [STEPS] [--alone]

Both have all processors; with --alone one thread each, and what counts are seconds of the processor: these tell more where others use
the machine. A step is forward, backward, clipping and the optimizer; PyTorch's is transformers' Qwen3 with SDPA attention
and the fused AdamW. The matrix products alone are those of a step (6 N tokens) in torch.matmul; each step has its own beside it, for
others may use the machine, and shares are medians of such pairs."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")

import torch
import transformers

PROGRAM = pathlib.Path(os.environ["AKGEN"]).parent / "benchmarks/lm"
ALONE = "--alone" in sys.argv
STEPS = next((int(word) for word in sys.argv[1:] if word != "--alone"), 7)
if ALONE:
    torch.set_num_threads(1)
clock = time.process_time if ALONE else time.perf_counter
TEXT = 512
# layers, hidden, heads, kv heads, head size, inner, vocabulary, texts in a step
SIZES = {"20M": (10, 384, 6, 2, 64, 1152, 4096, 4), "120M": (14, 768, 12, 4, 64, 2304, 8192, 2)}


def of_one_type(attention):
    """PyTorch 2.1's autocast gives attention queries and keys of float32 and values of bfloat16, which it then refuses."""
    def call(q, k, v, attn_mask=None, **options):
        mask = attn_mask.to(v.dtype) if attn_mask is not None and attn_mask.is_floating_point() else attn_mask
        return attention(q.to(v.dtype), k.to(v.dtype), v, attn_mask=mask, **options)
    return call


torch.nn.functional.scaled_dot_product_attention = of_one_type(torch.nn.functional.scaled_dot_product_attention)


def torch_step(size, rounded):
    layers, hidden, heads, kv_heads, head, inner, vocabulary, texts = size
    config = transformers.Qwen3Config(vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                                      num_key_value_heads=kv_heads, head_dim=head, intermediate_size=inner, tie_word_embeddings=True,
                                      rope_theta=1e6, max_position_embeddings=TEXT, use_cache=False)
    config._attn_implementation = "sdpa"
    torch.manual_seed(0)
    model = transformers.Qwen3ForCausalLM(config).float().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, foreach=True)
    tokens = torch.randint(0, vocabulary, (texts, TEXT))

    def step():
        start = clock()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=rounded):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return clock() - start, loss.item()
    return step, sum(p.numel() for p in model.parameters())


def products(size, rounded):
    """Seconds of a step's matrix products, by torch.matmul."""
    layers, hidden, heads, kv_heads, head, inner, vocabulary, texts = size
    n, total = texts * TEXT, 0.0
    shapes = [(hidden, (heads + 2 * kv_heads) * head, layers), (heads * head, hidden, layers), (hidden, 2 * inner, layers), (inner, hidden, layers),
              (hidden, vocabulary, 1)]
    for width, out, times in shapes:
        x, w, y = (torch.randn(*shape).to(torch.bfloat16 if rounded else torch.float32) for shape in ((n, width), (out, width), (n, out)))
        for one in (lambda: x @ w.T, lambda: y @ w, lambda: y.T @ x):
            seconds = []
            for _ in range(3):
                start = clock()
                one()
                seconds.append(clock() - start)
            total += statistics.median(seconds) * times
    return total


def compare(name, size, rounded):
    step, parameters = torch_step(size, rounded)
    ours = subprocess.Popen([PROGRAM, "train", *map(str, size[:7]), str(TEXT), str(size[7]), "1" if ALONE else "0",
                             *(["bfloat16"] if rounded else [])],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(f"{name}, {'bfloat16' if rounded else 'float32'}: {ours.stdout.readline().strip()}; PyTorch {torch.__version__} with {parameters} parameters, {torch.get_num_threads()} threads")
    found = {"ours": [], "PyTorch": [], "products": []}
    for turn in range(STEPS + 1):
        ours.stdin.write("\n")
        ours.stdin.flush()
        seconds = {"ours": float(ours.stdout.readline().split()[ALONE]), "products": products(size, rounded), "PyTorch": step()[0]}
        for key, value in seconds.items():
            if turn: # the first one grows tables
                found[key].append(value)
    ours.stdin.close()
    ours.wait()
    median = {key: statistics.median(values) for key, values in found.items()}
    tokens = TEXT * size[7]
    def ratios(over, under):
        return sorted(a / b for a, b in zip(found[over], found[under]))
    for key in ("ours", "PyTorch"):
        shares = ratios("products", key)
        print(f"  {key:8} {tokens / median[key]:8.0f} tokens/s, {6 * parameters * tokens / median[key] / 1e9:6.0f} GFLOP/s, "
              f"{statistics.median(shares):4.0%} of the rate of its products alone ({shares[0]:.0%} to {shares[-1]:.0%})")
    print(f"  {statistics.median(ratios('PyTorch', 'ours')):.2f} times PyTorch (medians of {STEPS} pairs)", flush=True)


for name, size in SIZES.items():
    for rounded in (False, True):
        compare(name, size, rounded)
