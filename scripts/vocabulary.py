"""A vocabulary that a model has, and merges behind it for texts of another kind: grown(model, texts, count, path).

Old tokens keep their ids and their texts: words are cut by the old merges first, then by the new ones, which are learned of what is left (byte-level BPE as
'akgen lm tokenizer' learns it). A new token's embedding begins as the mean of the two that it joins. For models of akgen cot, whose embeddings are tied and
in bfloat16. Words with other letters than ASCII's are cut as before."""
import array
import collections
import json
import pathlib
import re
import shutil
import struct

EMBEDDING = "model.embed_tokens.weight"
# Qwen's pre-tokenizer, of ASCII.
WORD = re.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:[^\w\r\n]|_)?[^\W\d_]+|\d| ?(?:[^\w\s]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def words(text):
    """Its words, as the vocabulary writes them."""
    return [word.replace(" ", "Ġ").replace("\n", "Ċ") for word in WORD.findall(text)]


def is_ascii(word):
    return word.replace("Ġ", " ").replace("Ċ", "\n").isascii()


class Vocabulary:
    """Of a tokenizer.json."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.ids, self.merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
        self.ranks = {tuple(merge.split(" ") if isinstance(merge, str) else merge): rank for rank, merge in enumerate(self.merges)}
        self.size = max(*self.ids.values(), *(token["id"] for token in tokenizer["added_tokens"])) + 1
        self.cut = {}

    def tokens(self, word):
        if word not in self.cut:
            parts = list(word)
            while len(parts) > 1:
                pair = min(zip(parts, parts[1:]), key=lambda two: self.ranks.get(two, len(self.ranks)))
                if pair not in self.ranks:
                    break
                parts = joined(parts, *pair)
            self.cut[word] = parts
        return self.cut[word]

    def length(self, text):
        """Its tokens; bytes where it is not ASCII."""
        return sum(len(self.tokens(word)) if is_ascii(word) else len(word.encode()) for word in words(text))

    def grow(self, texts, count):
        """Appends so many merges, the most frequent pair each; returns them."""
        seen = collections.Counter(word for text in texts for word in words(text) if is_ascii(word))
        parts, grown = {word: self.tokens(word) for word in seen}, []
        while len(grown) < count:
            pairs = collections.Counter()
            for word, cut in parts.items():
                for pair in zip(cut, cut[1:]):
                    pairs[pair] += seen[word]
            new = next(((pair, times) for pair, times in pairs.most_common() if "".join(pair) not in self.ids), None)
            if not new or new[1] < 2:
                break
            (left, right), _ = new
            grown.append((left, right))
            self.ids[left + right] = self.size + len(grown) - 1
            self.merges.append(f"{left} {right}" if isinstance(self.merges[0], str) else [left, right])
            self.ranks[left, right] = len(self.ranks)
            parts = {word: joined(cut, left, right) if left in cut else cut for word, cut in parts.items()}
        self.cut = {}
        return grown


def joined(parts, left, right):
    """The parts with each pair of these in one."""
    kept, at = [], 0
    while at < len(parts):
        pair = at + 1 < len(parts) and parts[at] == left and parts[at + 1] == right
        kept.append(left + right if pair else parts[at])
        at += 2 if pair else 1
    return kept


def head_and_body(weights):
    """Of a safetensors file."""
    size, = struct.unpack("<Q", weights[:8])
    return json.loads(weights[8:8 + size]), weights[8 + size:]


def with_rows(weights, rows):
    """A safetensors file whose embedding, the first tensor, has these rows (of bfloat16's bits) behind its own."""
    head, body = head_and_body(weights)
    embedding, more = head[EMBEDDING], b"".join(struct.pack(f"<{len(row)}H", *row) for row in rows)
    end = embedding["data_offsets"][1]
    embedding["shape"][0] += len(rows)
    for name, tensor in head.items():
        if name != "__metadata__":
            tensor["data_offsets"] = [at + len(more) if at >= end else at for at in tensor["data_offsets"]]
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body[:end] + more + body[end:]


def embeddings(weights):
    """The rows of the embedding, as float32."""
    head, body = head_and_body(weights)
    tensor = head[EMBEDDING]
    (rows, width), (begin, end) = tensor["shape"], tensor["data_offsets"]
    if tensor["dtype"] != "BF16" or begin != 0:
        raise ValueError("the embedding is not the first tensor, or not in bfloat16")
    bits = array.array("H", body[:end])
    return [array.array("f", array.array("I", (bit << 16 for bit in bits[row * width:(row + 1) * width])).tobytes()) for row in range(rows)]


def grown(model, texts, count, path):
    """A folder with the model, its vocabulary `count` merges larger."""
    model, path = pathlib.Path(model), pathlib.Path(path)
    vocabulary = Vocabulary(json.loads((model / "tokenizer.json").read_text()))
    weights, config = (model / "model.safetensors").read_bytes(), json.loads((model / "config.json").read_text())
    rows = embeddings(weights)
    old = len(rows)
    if old != vocabulary.size or not config["tie_word_embeddings"]:
        raise ValueError(f"{model}: {old} embeddings of {vocabulary.size} tokens, or others for what is written")
    for left, right in vocabulary.grow(texts, count):
        rows.append(array.array("f", ((a + b) / 2 for a, b in zip(*(rows[vocabulary.ids[part]] for part in (left, right))))))
    bits = [[(word + 0x8000) >> 16 for word in array.array("I", row.tobytes())] for row in rows[old:]]
    config["vocab_size"] = len(rows)
    path.mkdir()
    (path / "tokenizer.json").write_text(json.dumps(vocabulary.tokenizer, ensure_ascii=False))
    (path / "config.json").write_text(json.dumps(config, indent=2))
    shutil.copy(model / "tokenizer_config.json", path)
    (path / "model.safetensors").write_bytes(with_rows(weights, bits))
    return vocabulary
