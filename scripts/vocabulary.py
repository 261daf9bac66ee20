"""A vocabulary that a model has, and tokens behind it for code: grown(model, rows, count, path).

A program is mostly what every program has: lines, and parts of lines, between the names of its tensors. Such fragments, which may be many words or many
lines long, become tokens of their own. They are learned as BPE learns merges, of what stands between the names that a question tells, between
instructions and their operands, and no fragment is in a question or in a formula: these are cut as before. In tokenizer.json they are added tokens: where
several fit, the longest is taken. A new token's embedding begins as the mean of those that it stands for. For models of akgen cot, whose embeddings are
tied and in bfloat16; words with other letters than ASCII's are counted by their bytes."""
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
# Of code in AscendDSL and in Ascend C: values that the planner names, calls, words, line ends with what the next line is indented by, the rest.
VALUE = r"(?:valueTruth|value_truth|value|column|number|parts|part|row|count)\d+(?:_ub)?|part_ub"
LEXEME = re.compile(VALUE + r"|tl\.\w+\(|\w+|\n *| +|.", re.DOTALL)
ALONE = re.compile(VALUE + r"|tl\.(?:v|row_)\w+\(")                                         # is never joined with others
INSTRUCTION = re.compile(r"\n? +(?:tl\.(?:v|row_|load|store|dup|iota)\w*\(|[A-Z]\w*\()")  # a line that begins so has operands
TOLD = re.compile(r"^(?:in|out|attr) (\w+)", re.MULTILINE)
BEHIND = "_ub|_kernel|_host|_tiling|_TILING_H|Queue|Gm|Buffer|Copy|OutQueue|Out|Kernel|TilingData|Shape|Value|List"
LEAST = 12                                                                                  # occurrences of a fragment


def words(text):
    """Its words, as the vocabulary writes them."""
    return [word.replace(" ", "Ġ").replace("\n", "Ċ") for word in WORD.findall(text)]


class Vocabulary:
    """Of a tokenizer.json."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.ids, self.merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
        self.ranks = {tuple(merge.split(" ") if isinstance(merge, str) else merge): rank for rank, merge in enumerate(self.merges)}
        self.size = max(*self.ids.values(), *(token["id"] for token in tokenizer["added_tokens"])) + 1
        self.cut, self.fragments = {}, Fragments(token["content"] for token in tokenizer["added_tokens"])

    def of_word(self, word):
        """Its tokens, by the merges."""
        if word not in self.cut:
            parts = list(word)
            while len(parts) > 1:
                at = min(range(len(parts) - 1), key=lambda i: self.ranks.get((parts[i], parts[i + 1]), len(self.ranks)))
                if (parts[at], parts[at + 1]) not in self.ranks:
                    break
                parts[at:at + 2] = ["".join(parts[at:at + 2])]
            self.cut[word] = parts if word.replace("Ġ", " ").replace("Ċ", "\n").isascii() else list(word.encode())
        return self.cut[word]

    def between(self, text):
        """The tokens of a text without fragments."""
        return [token for word in words(text) for token in self.of_word(word)]

    def length(self, text):
        """How many tokens a text has; bytes where it is not ASCII."""
        return sum(1 if whole else len(self.between(part)) for part, whole in self.fragments.cut(text))

    def add(self, fragments):
        """Makes these tokens, too."""
        for fragment in fragments:
            self.tokenizer["added_tokens"].append({"id": self.size, "content": fragment, "single_word": False, "lstrip": False, "rstrip": False,
                                                   "normalized": False, "special": False})
            self.size += 1
        self.fragments = Fragments(token["content"] for token in self.tokenizer["added_tokens"])


class Fragments:
    """Texts that are found in others, the longest first."""

    def __init__(self, texts):
        self.by_head = collections.defaultdict(list)
        for text in sorted(texts, key=len, reverse=True):
            self.by_head[text[:3]].append(text)

    def cut(self, text):
        """The parts of a text, each with whether it is one of these."""
        at = done = 0
        while at < len(text):
            found = next((some for some in self.by_head.get(text[at:at + 3], ()) if text.startswith(some, at)), None)
            if not found:
                at += 1
                continue
            if done < at:
                yield text[done:at], False
            yield found, True
            at = done = at + len(found)
        if done < len(text):
            yield text[done:], False


def names(question):
    """Names that code may have of what a question tells: tensors, attributes and the operator, in the forms of Python, of C++ and of macros."""
    operator, told = question.split("\n", 1)[0], TOLD.findall(question)
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator).lower()
    return {operator, snake, snake.upper(), *told, *(re.sub(r"_+(\w)", lambda found: found[1].upper(), name) for name in told), *(name.upper() for name in told)}


def segments(question, answer):
    """What stands between names, and between instructions and operands: tuples of lexemes."""
    name = re.compile(r"(?<!\w)(?:set_|DTYPE_|)(?P<name>" + "|".join(sorted(map(re.escape, names(question)), key=len, reverse=True)) + rf")(?=(?:{BEHIND}|\d)*(?!\w))")
    segment = []
    for line in ("\n" + answer).split("\n")[1:]:
        line = "\n" + line
        has_operands, at = INSTRUCTION.match(line), 0
        for found in (*name.finditer(line), None):
            for lexeme in LEXEME.findall(line[at:found.start("name") if found else len(line)]):
                if ALONE.fullmatch(lexeme) or has_operands and (lexeme[0].isdigit() or lexeme[0].isupper() and segment and segment[-1][0] == "\n"):
                    yield from filter(None, (tuple(segment), (lexeme,)))
                    segment = []
                else:
                    segment.append(lexeme)
            if found:
                yield from filter(None, (tuple(segment),))
                segment, at = [], found.end()
    yield from filter(None, (tuple(segment),))


def candidates(rows):
    """Fragments that occur often enough, by merges of neighbours: several merges at a time that have nothing in common."""
    seen, texts, ids = collections.Counter(), [], {}
    for question, answer in rows:
        seen.update(segments(question, answer))

    def number(text):
        if text not in ids:
            ids[text] = len(texts)
            texts.append(text)
        return ids[text]
    found = {segment[0] for segment, times in seen.items() if len(segment) == 1 and times >= LEAST}
    parts = [([number(lexeme) for lexeme in segment], times) for segment, times in seen.items() if len(segment) > 1]
    while True:
        pairs = collections.Counter()
        for cut, times in parts:
            for pair in zip(cut, cut[1:]):
                pairs[pair] += times
        most = pairs.most_common(400)
        chosen, used = {}, set()
        for (left, right), times in most:
            if times >= max(LEAST, 0.6 * most[0][1]) and not used & {left, right}:
                used |= {left, right}
                chosen[left] = right, number(texts[left] + texts[right])
        if not chosen:
            return found
        found.update(texts[both] for _, both in chosen.values())
        for cut, _ in parts:
            if used.isdisjoint(cut):
                continue
            for at in range(len(cut) - 2, -1, -1):
                right, both = chosen.get(cut[at], (None, None))
                if cut[at + 1] == right:
                    cut[at:at + 2] = [both]


def head(answer):
    """The formulas that an answer begins with, in a comment."""
    return re.sub(r"^(#|//) ", "", answer.split("\n", 2)[1 if answer[0] == "<" else 0])


def fragments(vocabulary, rows, count):
    """At most so many fragments of the answers of these rows, (question, answer), those that save the most tokens."""
    told = "\n".join(text for question, answer in rows for text in (question, head(answer)))
    kept = {text for text in candidates(rows) if len(text) > 2 and text not in told and (ALONE.match(text) or not (text[0].islower() or text[0].isdigit()))}
    for _ in range(3):                                  # what a longer one leaves no use for goes
        used, several = collections.Counter(), Fragments(kept)
        for _, answer in rows:
            used.update(part for part, whole in several.cut(answer) if whole)
        kept = {text for text in kept if used[text] >= LEAST / 2}
    return sorted(sorted(kept), key=lambda text: -used[text] * (len(vocabulary.between(text)) - 1))[:count]


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


def grown(model, rows, count, path):
    """A folder with the model, whose vocabulary has at most so many fragments more, of the answers of rows, (question, answer)."""
    model, path = pathlib.Path(model), pathlib.Path(path)
    vocabulary = Vocabulary(json.loads((model / "tokenizer.json").read_text()))
    weights, config = (model / "model.safetensors").read_bytes(), json.loads((model / "config.json").read_text())
    rows_of, old = embeddings(weights), vocabulary.size
    if old != len(rows_of) or not config["tie_word_embeddings"]:
        raise ValueError(f"{model}: {len(rows_of)} embeddings of {old} tokens, or others for what is written")
    new = fragments(vocabulary, rows, count)
    for fragment in new:
        parts = [rows_of[vocabulary.ids[part]] for part in vocabulary.between(fragment)]
        rows_of.append(array.array("f", (sum(some) / len(parts) for some in zip(*parts))))
    vocabulary.add(new)
    bits = [[(word + 0x8000) >> 16 for word in array.array("I", row.tobytes())] for row in rows_of[old:]]
    config["vocab_size"] = len(rows_of)
    path.mkdir()
    (path / "tokenizer.json").write_text(json.dumps(vocabulary.tokenizer, ensure_ascii=False))
    (path / "config.json").write_text(json.dumps(config, indent=2))
    shutil.copy(model / "tokenizer_config.json", path)
    (path / "model.safetensors").write_bytes(with_rows(weights, bits))
    return vocabulary
