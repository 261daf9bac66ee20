#!/usr/bin/env python3
"""src/eval/eager.def, the rates of the vendor's kernels by kind, is what the published timings say.

benchmarks/vendor/published.tsv lists kernels of the vendor on a 910B2 with shape, data type and microseconds. Rows of one kernel, of
a kind that is listed below, are held against the least that their bytes and products take at full rate; causal attention, which need
not multiply all, and other layouts of its tensors are left out. Of each kind:
  launch    what the quickest of its small kernels (up to 16 MiB) takes beyond that; kinds without small rows take elementwise's
  resident  median share of the L2's rate, of rows whose bytes fit into it
  streamed  median share of the memory's rate, of the others; without such rows the bytes per second are those of `resident`
  compute   median share of the cube's rate, of rows that their products bound
The shares are of the time beyond the launch, and at most 1."""
import collections
import csv
import json
import math
import pathlib
import re
import statistics
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
MEMORY, L2, L2_BYTES = 1.5e6, 5e6, 192 << 20  # bytes per microsecond; bytes
SMALL = 16 << 20
SIZE = {"float32": 4, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1}
CUBE = 24 * 1800 * 2  # cores * cycles per microsecond * 2 operations per multiplication
PEAK = {"float16": CUBE * 4096, "bfloat16": CUBE * 4096, "int8": CUBE * 8192, "float32": CUBE * 1024}

KINDS = {
    "elementwise": ["Mish", "Sigmoid", "Gelu", "SwiGlu", "Maximum", "Gcd", "AutomaticBufferFusionOp"],
    "foreach": ["ForeachAddcdivScalar"],
    "optimizer": ["ApplyAdamW"],
    "reduction": ["ForeachNorm", "LpNormV2", "ReduceMean"],
    "softmax": ["SoftmaxV2"],
    "norm": ["RmsNorm", "GroupNormSilu", "AddRmsNormDynamicQuant"],
    "quant": ["DynamicQuant", "DequantSwigluQuant"],
    "gather": ["MoeReRouting", "MoeFinalizeRoutingV2"],
    "layout": ["Transpose"],
    "matmul": ["QuantBatchMatmulV3", "WeightQuantBatchMatmulV2", "GroupedMatmul"],
    "attention": ["FusedInferAttentionScore"],
}
KIND = {kernel: kind for kind, kernels in KINDS.items() for kernel in kernels}
# Kinds of which no single kernel is published take the rates of another.
LIKE = {"scan": "reduction", "pooling": "reduction", "sort": "reduction"}


def flat(shapes):
    """The shapes in a list of any depth."""
    if shapes is None:
        return []
    return [shapes] if all(isinstance(size, int) for size in shapes) else [shape for inner in shapes for shape in flat(inner)]


def moved(kernel, shapes, types):
    """(bytes read and written, operations of products) of a row."""
    def size(i):
        return math.prod(shapes[i]) * SIZE[types[i]] if i < len(shapes) and shapes[i] is not None else 0

    if kernel in ("ForeachAddcdivScalar", "ForeachNorm", "LpNormV2"):
        read = sum(math.prod(shape) for shape in flat(shapes)) * SIZE[types[0]]
        return read * 4 // 3 if kernel == "ForeachAddcdivScalar" else read, 0
    if kernel in ("QuantBatchMatmulV3", "WeightQuantBatchMatmulV2", "GroupedMatmul"):
        rows, deep, weight = math.prod(shapes[0][:-1]), shapes[0][-1], shapes[1][-2:]
        wide = weight[1] if weight[0] == deep else weight[0]
        return size(0) + size(1) + 2 * rows * wide, 2 * rows * deep * wide
    if kernel == "FusedInferAttentionScore":
        # [batch, length, heads, depth]; five tensors: parts of query and key that are multiplied apart, then the value
        batch, queries, heads, deep = shapes[0]
        keys, wide = shapes[-1][1], shapes[-1][3]
        deep += shapes[1][3] if len(shapes) == 5 else 0
        kept = sum(size(i) for i in range(len(shapes)) if len(shapes) == 3 or i != 4)  # that value is the key's first part
        return kept + batch * queries * heads * wide * SIZE[types[0]], 2 * batch * heads * queries * keys * (deep + wide)
    first, elements = size(0), math.prod(shapes[0])
    return {
        "SwiGlu": first * 3 // 2,
        "Maximum": 2 * first + size(1),
        "Gcd": 2 * first + size(1),
        "ReduceMean": first,
        "AddRmsNormDynamicQuant": first + size(1) + first + elements,
        "DynamicQuant": first + elements,
        "DequantSwigluQuant": first + elements // 2,
        "ApplyAdamW": 4 * first + 3 * first,
        "MoeFinalizeRoutingV2": first + size(2) + size(3) + size(2),
    }.get(kernel, 2 * first), 0


Row = collections.namedtuple("Row", "us bytes bound ideal")


def rows(path=HOME / "benchmarks/vendor/published.tsv"):
    """{kind: [Row, ...]}; `ideal` is the time at full rate and `bound` which rate that is."""
    found = collections.defaultdict(list)
    with open(path) as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["kernel"] not in KIND or re.search('"is_causal": true|BNSD', row["attributes"]):
                continue
            types = row["dtype"].split(",")
            size, operations = moved(row["kernel"], json.loads(row["shape"]), types)
            bound = "resident" if size <= L2_BYTES else "streamed"
            ideal = size / (L2 if bound == "resident" else MEMORY)
            if operations and operations / PEAK[types[0]] > ideal:
                bound, ideal = "compute", operations / PEAK[types[0]]
            found[KIND[row["kernel"]]].append(Row(float(row["us"]), size, bound, ideal))
    return found


def launch(group):
    return min((row.us - row.ideal for row in group if row.bytes <= SMALL), default=None)


def rates(found):
    """{kind: (rows, launch, resident, streamed, compute)}, rounded as the table has them; compute 0 where nothing is multiplied."""
    result = {}
    for kind, group in found.items():
        start = launch(group)
        start = launch(found["elementwise"]) if start is None else start
        shares = {bound: [row.ideal / max(row.us - start, row.ideal) for row in group if row.bound == bound]
                  for bound in ("resident", "streamed", "compute")}
        median = {bound: statistics.median(list_) if list_ else None for bound, list_ in shares.items()}
        if median["resident"] is None:
            median["resident"] = median["streamed"] * MEMORY / L2
        if median["streamed"] is None:
            median["streamed"] = min(1, median["resident"] * L2 / MEMORY)
        result[kind] = (len(group), round(start, 2), round(median["resident"], 3), round(median["streamed"], 3),
                        round(median["compute"] or 0, 3))
    for kind, model in LIKE.items():
        result[kind] = (0,) + result[model][1:]
    return result


def table():
    """{kind: (rows, launch, resident, streamed, compute)} of eager.def, in its order."""
    text = (HOME / "src/eval/eager.def").read_text()
    found = {}
    for kind, *numbers in re.findall(r"^EAGER_RATE\((\w+), (\d+), ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+)\)$", text, re.M):
        found[kind.lower()] = (int(numbers[0]),) + tuple(map(float, numbers[1:]))
    return found


class Eager(unittest.TestCase):
    def test_the_table_is_what_the_rows_say(self):
        expected = rates(rows())
        lines = [f"EAGER_RATE({kind.upper()}, {count}, {start:.2f}, {resident:.3f}, {streamed:.3f}, {compute:.3f})"
                 for kind, (count, start, resident, streamed, compute) in expected.items()]
        self.assertEqual(table(), expected, "eager.def should have\n" + "\n".join(lines))

    def test_a_row_by_hand(self):
        # Sigmoid of 1024 x 1024 float16: 2 MiB in and 2 MiB out, 4194304 / 5e6 us at the L2's rate.
        self.assertEqual(moved("Sigmoid", [[1024, 1024]], ["float16"]), (4 << 20, 0))
        # 4096 cubed of int8 with a half result: 16 MiB, 16 MiB, 32 MiB.
        self.assertEqual(moved("QuantBatchMatmulV3", [[4096, 4096], [4096, 4096], [4096]], ["int8", "int8", "float32"]), (64 << 20, 2 << 36))
        # Transposed weights of 4 groups: [512, 1024] x [1056, 1024].
        self.assertEqual(moved("GroupedMatmul", [[512, 1024], [4, 1056, 1024]], ["float16", "float16"]),
                         (2 * (512 * 1024 + 4 * 1056 * 1024 + 512 * 1056), 2 * 512 * 1024 * 1056))
        # One query of 32 heads over 2048 keys of depth 128.
        self.assertEqual(moved("FusedInferAttentionScore", [[1, 1, 32, 128], [1, 2048, 32, 128], [1, 2048, 32, 128]], ["float16"] * 3),
                         (2 * 128 * 32 * (1 + 2048 + 2048 + 1), 2 * 32 * 2048 * 256))

    def test_the_model_comes_near_its_rows(self):
        """Of each kind, half of the rows take between 0.6 and 1.6 times what the table says: it fits the middle, not the ends."""
        for kind, group in rows().items():
            _, start, *shares = table()[kind]
            share = dict(zip(("resident", "streamed", "compute"), shares))
            ratios = [(start + row.ideal / share[row.bound]) / row.us for row in group]
            near = sum(0.6 <= ratio <= 1.6 for ratio in ratios)
            self.assertGreaterEqual(near, len(ratios) / 2, f"{kind}: {sorted(ratios)}")
            self.assertTrue(0.8 < statistics.median(ratios) < 1.25, f"{kind}: {statistics.median(ratios)}")


if __name__ == "__main__":
    unittest.main()
