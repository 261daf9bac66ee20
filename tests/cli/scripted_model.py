#!/usr/bin/env python3
"""A model that mends what it is told and knows nothing else: `scripted_model.py FIRST` for `akgen gen --provider exec:..`.

The first question is answered with the text of the file FIRST. Every other one holds code and what was found wrong with it (docs/gen.md,
"What a model is told"); the rules below, each of which belongs to a rule, a fault or the words of a message, are tried on the points in
their order until one changes the code, at the place and by the remedy that the point names."""
import re
import sys


class Point:
    """One thing that is wrong: title, and the fields by their words."""

    def __init__(self, text):
        self.title = text.split("\n", 1)[0].split(". ", 1)[1]
        self.fields = {}
        for word, value in re.findall(r"^   (\w+): +(.*)$", text, re.M):
            self.fields.setdefault(word, []).append(value)

    def __getitem__(self, word):
        return (self.fields.get(word) or [""])[0]

    def place(self, text=None):
        """(file, line, column) from 0; column -1 where there is none."""
        match = re.match(r"(\S+?):(\d+)(?::(\d+))?$", text or self["place"])
        return (match[1], int(match[2]) - 1, int(match[3] or 0) - 1) if match else (None, 0, -1)

    def places(self):
        return [self.place()] + [self.place(place) for place in re.findall(r"[^\s,]+:\d+:\d+", self["also"])]


def indent(line):
    return line[:len(line) - len(line.lstrip())]


def end_of_block(lines, at):
    """The line that closes the block in which line `at` stands."""
    depth = 0
    for number in range(at, len(lines)):
        for character in lines[number]:
            depth += {"{": 1, "}": -1}.get(character, 0)
            if depth < 0:
                return number
    return len(lines)


def put_word(lines, line, column, old, new):
    """Writes another name at a place, or wherever the line has the old one."""
    text = lines[line]
    at = text.find(old, max(column, 0))
    lines[line] = text[:at] + new + text[at + len(old):] if at >= 0 else re.sub(rf"\b{re.escape(old)}\b", new, text)


# ---- What a compiler says

def proposed_name(files, point):
    match = re.search(r"'(\w+)'(?: in [^;]*)?; did you mean '(?:\w+::)*(\w+)'", point["what"])
    for file, line, column in point.places() if match else []:
        put_word(files[file], line, column, match[1], match[2])


def missing_token(files, point):
    match = re.search(r"expected '([;)\]}])'", point["what"])
    file, line, column = point.place()
    if match and match[1] == "}":
        files[file].append("}")
    elif match:
        text = files[file][line]
        files[file][line] = text[:column] + match[1] + text[column:]


def too_few_arguments(files, point):
    """As another call of the file ends, or with the count that other calls end with, where the form that is meant has one there."""
    match = re.search(r"requires (\d+) arguments?, but (\d+)", point["what"])
    file, line, column = point.place()
    name = re.match(r"\w+", files[file][line][column:])
    if not match or not name or int(match[1]) <= int(match[2]):
        return
    for other in files[file]:
        call = re.search(rf"\b{name[0]}\(([^()]*)\)", other)
        arguments = call[1].split(", ") if call else []
        if len(arguments) == int(match[1]):
            missing = ", ".join(arguments[int(match[2]):])
            files[file][line] = re.sub(rf"(\b{name[0]}\([^()]*)\)", rf"\1, {missing})", files[file][line])
            return
    last = [form for form in point.fields.get("form", []) if form.count(",") + 1 == int(match[1]) and re.search(r"\b\w*[cC]ount\)$", form)]
    counts = re.findall(r"\w+\([^;]*, (\w*[cC]ount\w*|n)\);", "\n".join(files[file])) if last and int(match[1]) - int(match[2]) == 1 else []
    if counts:
        files[file][line] = files[file][line].replace(");", f", {counts[0]});")


def types_that_differ(files, point):
    """A tensor that was cast just before is meant in its new type; a number gets the tensors' type."""
    file, line, column = point.place()
    if "deduced conflicting types" not in point["what"]:
        return
    text = files[file][line]
    for before in reversed(files[file][:line]):
        cast = re.search(r"\bCast\((\w+), (\w+),", before)
        if cast and re.search(rf"\b{cast[1]}\b", text) and re.search(rf"\b{cast[2]}\b", text[column:]):
            files[file][line] = text[:column] + re.sub(rf"\b{cast[2]}\b", cast[1], text[column:])
            return
    tensor = re.search(r"\w+\((\w+)", text)
    of = tensor and re.search(rf"LocalTensor<(\w+)> {tensor[1]}\b", "\n".join(files[file]))
    if of:
        files[file][line] = re.sub(r", (-?\d[\w.]*)([,)])", rf", static_cast<{of[1]}>(\1)\2", text, count=1)


def other_name(files, point):
    """"float16 is half": what the remedy says that a type is called."""
    name, written = re.search(r"'(\w+)'", point["what"]), re.match(r"write '(\w+)'", point["remedy"])
    for file, line, column in point.places() if name and written else []:
        put_word(files[file], line, column, name[1], written[1])
    for old, new in re.findall(r"(\w+) is (\w+)", point["remedy"]) if name else []:
        if name[1].startswith(old):
            for file, line, column in point.places():
                put_word(files[file], line, column, name[1], new)


def lines_of_opdef(files, point):
    """Each list has as many entries as the longest, and the same."""
    for lines in files.values():
        for call in ("DataType", "Format"):
            lists = [re.search(rf"\.{call}\((\{{.*\}})\)", line) for line in lines]
            longest = max((found[1] for found in lists if found), key=lambda text: text.count(","), default=None)
            for number, found in enumerate(lists):
                if found:
                    lines[number] = lines[number].replace(found[1], longest)


# ---- Faults

def flags(files, point):
    """The order that the report asks for, just before the later access."""
    file, line, _ = point.place()
    event, barrier = re.search(r"SetFlag<(\w+)>", point["what"]), re.search(r"PipeBarrier<(PIPE_\w+)>", point["what"])
    blanks = indent(files[file][line])
    earlier = point.place(point["other"])[1]
    between = "\n".join(files[file][earlier:line])
    if event and f"{event[1]}>" in between and "SetFlag" in between and "WaitFlag" not in between:
        files[file].insert(line, f"{blanks}WaitFlag<HardEvent::{event[1]}>(EVENT_ID0);")
    elif event:
        files[file][line:line] = [f"{blanks}SetFlag<HardEvent::{event[1]}>(EVENT_ID0);", f"{blanks}WaitFlag<HardEvent::{event[1]}>(EVENT_ID0);"]
    elif barrier:
        files[file].insert(line, f"{blanks}PipeBarrier<{barrier[1]}>();")


def set_flag(files, point):
    file, line, _ = point.place()
    files[file].insert(line, files[file][line].replace("WaitFlag", "SetFlag"))


def wait_flag(files, point):
    file, line, _ = point.place()
    files[file].insert(line + 1, files[file][line].replace("SetFlag", "WaitFlag"))


def queue_call(files, point, before, call):
    """In the block where `before` gives a tensor of the queue, `call` at the end."""
    file, line, _ = point.place()
    queue = re.search(r"(\w+)\.\w+<", files[file][line])
    for name in [queue[1], r"\w+"] if queue else []:
        for number, text in enumerate(files[file]):
            tensor = re.search(rf"(\w+) = ({name})\.{before}\b", text)
            end = end_of_block(files[file], number)
            if tensor and f"{tensor[2]}.{call}(" not in "".join(files[file][number:end]):
                files[file].insert(end, f"{indent(text)}{tensor[2]}.{call}({tensor[1]});")
                return


def enque(files, point):
    queue_call(files, point, "AllocTensor", "EnQue")


def free(files, point):
    queue_call(files, point, "DeQue", "FreeTensor")


def drop_line(files, point):
    file, line, _ = point.place()
    del files[file][line]


def init_buffer(files, point):
    """As the file makes another of its kind."""
    file, line, _ = point.place()
    queue = re.search(r"(\w+)\.\w+<", files[file][line])
    declared = {name for text in files[file] for names in re.findall(r"^\s*[\w:]*(?:Que|Buf)\w*(?:<[^;]*>)? +([\w, ]+);", text) for name in names.split(", ")}
    called = [name for text in point.fields.get("code", []) for name in re.findall(r"\w+", text) if name in declared]
    queue = {1: called[0]} if called else queue
    queued = "TQue" in "".join(text for text in files[file] if queue and re.search(rf"\b{queue[1]};|\b{queue[1]},", text))
    for number, text in enumerate(files[file]) if queue else []:
        other = re.search(r"InitBuffer\((\w+), *(.*)\)", text)
        if other and queued == (other[2].count(",") > 0):
            files[file].insert(number + 1, text.replace(f"({other[1]},", f"({queue[1]},"))
            return


def smaller_tiles(files, point):
    """Half of what is divided among the buffers."""
    for lines in files.values():
        size = re.search(r"GetCoreMemSize\([^,]*, *(\w+)\)", "\n".join(lines))
        for number, text in enumerate(lines):
            if size and re.search(rf"= .*\b{size[1]} /", text):
                lines[number] = re.sub(rf"\b{size[1]} /", f"{size[1]} / 2 /", text, count=1)
                return
    for lines in files.values():
        for number, text in enumerate(lines):
            tile = re.search(r"(\btile\w*(?:: tl\.constexpr)? = )(\d+)", text)
            if tile:
                lines[number] = text.replace(tile[0], f"{tile[1]}{int(tile[2]) // 2}")
                return


def no_offset(files, point):
    """An operand that begins nowhere else than its tensor."""
    file, line, _ = point.place()
    tensors = re.findall(r"LocalTensor<\w+> (\w+)", "\n".join(files[file]))
    for tensor in tensors:
        files[file][line] = re.sub(rf"\b{tensor}\[[^\]]*\]", tensor, files[file][line])


def clamped(files, point):
    """The count of the last tile, in the loops of the file that faults; the part of the core that others store over."""
    lines = files[point.place()[0]]
    for number, text in enumerate(lines):
        loop = re.search(r"for \(\w+ (\w+) = 0; \1 < (\w+); \1 \+= (\w+)\)", text)
        for inner in range(number, end_of_block(lines, number)) if loop else []:
            count = re.search(rf"= {loop[3]};", lines[inner])
            if count:
                lines[inner] = lines[inner].replace(count[0], f"= {loop[2]} - {loop[1]} < {loop[3]} ? {loop[2]} - {loop[1]} : {loop[3]};")
                return
    offsets = {match[1] for match in re.finditer(r"SetGlobalBuffer\([^;]*?\w( \+ \w+),", "\n".join(lines))}
    for number, text in enumerate(lines):
        if "SetGlobalBuffer(" in text and len(offsets) == 1 and " + " not in text:
            lines[number] = text.replace(",", f"{min(offsets)},", 1)


def whole_count(files, point):
    """A computation takes the count that is copied, not a part of it."""
    lines = files[point.place()[0]]
    for number, text in enumerate(lines):
        lines[number] = re.sub(r"\b(count|n)\b *[-/] *\d+\)", r"\1)", text)


def cast_before(files, point):
    """A tensor that nothing writes is the wider copy of the one that is loaded."""
    file, line, _ = point.place()
    lines = files[file]
    call = re.search(r"\w+\((\w+), (\w+),.*?(\w+)\);", lines[line])
    types = dict(reversed(pair) for pair in re.findall(r"LocalTensor<(\w+)> (\w+)", "\n".join(lines)))
    loaded = re.findall(r"DataCopy(?:Pad)?\((\w+),", "\n".join(lines))
    if call and call[2] in types and loaded and types.get(loaded[0]) != types[call[2]]:
        lines.insert(line, f"{indent(lines[line])}Cast({call[2]}, {loaded[0]}, RoundMode::CAST_NONE, {call[3]});")


def round_mode(files, point):
    file, line, _ = point.place()
    match = re.search(r"has no (CAST_\w+)", point["what"])
    if match:
        files[file][line] = files[file][line].replace(match[1], "CAST_RINT" if match[1] != "CAST_RINT" else "CAST_NONE")


def tiling_size(files, point):
    for lines in files.values():
        for number, text in enumerate(lines):
            tiling = re.search(r"(\w+)\.SaveToBuffer\((\w+)->", text)
            if tiling:
                lines.insert(number + 1, f"{indent(text)}{tiling[2]}->GetRawTilingData()->SetDataSize({tiling[1]}.GetDataSize());")
                return


def padded_copy(files, point):
    file, line, _ = point.place()
    copy = re.search(r"DataCopy\(([^,]*), ([^,]*), ([^;]*)\);", files[file][line])
    tensor = copy and re.search(rf"LocalTensor<(\w+)> (?:{re.escape(copy[1])}|{re.escape(copy[2])})\b", "\n".join(files[file]))
    if tensor:
        extent = f"DataCopyExtParams{{1, static_cast<uint32_t>(({copy[3]}) * sizeof({tensor[1]})), 0, 0, 0}}"
        pad = f", DataCopyPadExtParams<{tensor[1]}>()" if re.match(r"\w+$", copy[1]) else ""
        files[file][line] = files[file][line].replace(copy[0], f"DataCopyPad({copy[1]}, {copy[2]}, {extent}{pad});")


def all_blocks(files, point):
    """As many blocks as there are parts; the call itself, where it is missing."""
    for lines in files.values():
        host = "\n".join(lines)
        end = next((at for at, text in enumerate(lines) if "GRAPH_SUCCESS" in text), None)
        blocks = re.search(r"\b(blocks|blockDim|block_num|cores|coreNum)\b", host)
        if "SetBlockDim" in point["what"] and end is not None and blocks and "SetBlockDim" not in host:
            lines.insert(end, f"{indent(lines[end])}context->SetBlockDim(static_cast<uint32_t>({blocks[1]}));")
            return
        for number, text in enumerate(lines):
            if "SetBlockDim" in text:
                lines[number] = re.sub(r"(\w+) [-/] \d+", r"\1", text)


def unset_field(files, point):
    """A value of the tiling that is 0 and that nobody sets is the host part's variable of this name."""
    for lines in files.values():
        host = "\n".join(lines)
        for name in re.findall(r'"(\w+)":0[,}]', point["launch"]):
            number = next((at for at, text in enumerate(lines) if "SaveToBuffer(" in text), None)
            if number is not None and f"set_{name}(" not in host and re.search(rf"\b{name} =", host):
                tiling = re.search(r"(\w+)\.SaveToBuffer", lines[number])[1]
                lines.insert(number, f"{indent(lines[number])}{tiling}.set_{name}({name});")
                return


# ---- Rules of AscendDSL

def program_token(files, point):
    file, line, column = point.place()
    lines = files[file]
    if line >= len(lines): # the end of the program
        line, column = len(lines) - 1, len(lines[-1])
    put, drop = re.search(r"write (?:.* or )?'(.)' (?:at|before)", point["remedy"]), re.search(r"take '(.*)' away", point["remedy"])
    if put and not lines[line][:column].strip():
        lines[line - 1] += put[1]
    elif put:
        lines[line] = lines[line][:column] + put[1] + lines[line][column:]
    elif drop:
        lines[line] = lines[line][:column] + lines[line][column + len(drop[1]):].lstrip()


def program_name(files, point):
    near, name = re.search(r"did you mean '(\w+)'", point["remedy"]), re.search(r"'(\w+)'", point["what"])
    for file, line, column in point.places() if near and name else []:
        put_word(files[file], line, column, name[1], near[1])


def rounded_up(files, point):
    """tl.cdiv in place of //, in the host function, and what rounds down again round up."""
    lines = files[point.place()[0]]
    for number, text in enumerate(lines):
        value = re.match(r"(\s*\w+ = )(\w+(?: // \w+)+)((?: \* \w+)?)$", text)
        if value:
            parts = value[2].split(" // ")
            rounded = parts[0]
            for part in parts[1:]:
                rounded = f"tl.cdiv({rounded}, {part})"
            lines[number] = f"{value[1]}{rounded}{value[3]}"


def cut_tile(files, point):
    """The mask that the other copies of the file have, at the place; else the part of the last core ends with the tensor."""
    file, line, _ = point.place()
    lines = files[file]
    mask = re.search(r", (?:mask|count)=[^),]*", "\n".join(lines))
    if mask and "mask=" not in lines[line] and "count=" not in lines[line]:
        lines[line] = lines[line][:lines[line].rindex(")")] + mask[0] + ")"
        return
    count = re.search(r"count=(\w+)", lines[line])
    for number in range(line, -1, -1) if count else []:
        plain = re.match(rf"(\s*{count[1]} = )(\w+)$", lines[number])
        loop = plain and re.search(r"for (\w+) in range\(\w+, (\w+), (\w+)\)", "\n".join(lines[:number][::-1]))
        if loop:
            lines[number] = f"{plain[1]}min({plain[2]}, {loop[2]} - {loop[1]})"
            return
    for number, text in enumerate(lines):
        end = re.match(r"(\s*\w+ = )(\w+ \+ \w+)$", text)
        total = re.search(r"def \w+\(.*\b(total\w*|n)\b", "\n".join(lines))
        if end and total:
            lines[number] = f"{end[1]}min({end[2]}, {total[1]})"
            return


def in_stage(files, point):
    """In a stage of the kind that the remedy names."""
    file, line, _ = point.place()
    lines, stage = files[file], re.search(r"'(with tl\.\w+\(\):)'", point["remedy"])
    if not stage and "beginning of the kernel" in point["remedy"]:
        text = lines.pop(line).strip()
        first = next(number for number in range(line) if "tl.alloc_" in lines[number])
        lines.insert(first, indent(lines[first]) + text)
    elif stage and lines[line - 1].strip().startswith("with "):
        lines[line - 1] = indent(lines[line - 1]) + stage[1]
    elif stage:
        lines[line:line + 1] = [indent(lines[line]) + stage[1], "    " + lines[line]]


def as_called(files, point):
    """The arguments that the remedy's form has and the call lacks: a source is the buffer that is loaded."""
    file, line, _ = point.place()
    form = re.match(r"tl\.(\w+)\((.*)\)", point["remedy"])
    call = form and re.search(rf"tl\.{form[1]}\(([^()]*)\)", files[file][line])
    wanted = [name for name in form[2].split(", ") if not name.endswith("=")] if form else []
    given = [text for text in call[1].split(", ") if text] if call else []
    loaded = re.search(r"tl\.load\([^,]*, (\w+)", "\n".join(files[file]))
    if call and loaded and len(given) < len(wanted):
        files[file][line] = files[file][line].replace(call[0], f"tl.{form[1]}({', '.join(given + [loaded[1]] * (len(wanted) - len(given)))})")


def launch(files, point):
    file, line, _ = point.place()
    form = re.search(r"kernel\[cores\]\((.*)\)", point["remedy"])
    if form:
        files[file][line] = re.sub(r"\]\(.*\)", f"]({form[1]})", files[file][line])


def decorated(files, point):
    file, line, _ = point.place()
    decorator = re.search(r"@\w+", point["remedy"])
    if decorator:
        files[file].insert(line, decorator[0])


def one_type(files, point):
    """Both buffers of the wider type of the two, or the one of the type that is wanted."""
    lines = files[point.place()[0]]
    both = re.search(r"'(\w+)' holds (\w+) and '(\w+)' (\w+)", point["what"])
    one = re.search(r"'(\w+)' holds (\w+), where .* wants (\w+)", point["what"])
    narrow, new = (one[1], one[3]) if one else (both[3], both[2]) if "32" in both[2] else (both[1], both[4])
    for number, text in enumerate(lines):
        if re.match(rf"\s*{narrow} = tl\.alloc", text):
            lines[number] = re.sub(r"dtype=tl\.\w+", f"dtype=tl.{new}", text)


def no_slice(files, point):
    file, line, _ = point.place()
    files[file][line] = re.sub(r"(\w+_ub)\[[^\]]*\]", r"\1", files[file][line])


def indented(files, point):
    file, line, _ = point.place()
    files[file][line] = indent(files[file][line - 1]) + files[file][line].strip()


RULES = [
    ("compile", r"did you mean", proposed_name), ("compile", r"expected '[;)\]}]'", missing_token),
    ("compile", r"requires \d+ arguments", too_few_arguments), ("compile", r"deduced conflicting types", types_that_differ),
    ("compile", r"unknown type name|undeclared|no member named", other_name), ("compile_error", r"every list needs one entry", lines_of_opdef),
    ("fault hazard_|fault gm_race", r"SetFlag<|PipeBarrier<", flags), ("fault flag_wait_without_set", "", set_flag),
    ("(fault|note) flag_not_waited|fault flag_set_twice", "", wait_flag), ("fault que_deque_empty", "", enque),
    ("fault que_alloc_exhausted", "", free), ("fault que_(free|enque)_twice", "", drop_line), ("fault que_uninitialized", "", init_buffer),
    ("fault ub_overflow|note ub_overbooked|error, rule fits", "", smaller_tiles), ("fault (vec|ub)_alignment", "", no_offset),
    ("(fault|note) (gm_out_of_bounds|gm_padding|gm_overlap|gm_same_value)", "", clamped), ("note cast_round_mode", "", round_mode),
    ("note datacopy_ragged_count", "", padded_copy), ("note uninitialized_read", "", cast_before), ("fault undefined_output", "", whole_count),
    ("wrong numbers", "", unset_field), ("fault tiling_missing", "", tiling_size), ("note unwritten_output|tiling failed", "", all_blocks),
    ("error, rule syntax", "", program_token), ("error, rule names", "", program_name), ("error, rule coverage", "", rounded_up),
    ("error, rule (bounds|undefined|shared)", "", cut_tile), ("error, rule stages", "", in_stage), ("error, rule arguments", "", as_called),
    ("error, rule launch", "", launch), ("error, rule functions", "decorate the kernel", decorated), ("error, rule types", "", one_type),
    ("error, rule alignment", "", no_slice), ("error, rule indentation", "", indented), ("error, rule refused", "", drop_line),
]


def mend(code, feedback):
    """The code with one point mended; as it is where no rule fits."""
    parts = re.findall(r"<(\S+?)>\n(.*?)</\1>", code, re.S)
    files = {path: text.split("\n")[:-1] for path, text in parts}
    for text in re.findall(r"^\d+\. .*\n(?:   .*\n)*", feedback, re.M):
        point = Point(text)
        for title, words, rule in RULES:
            if re.match(title, point.title) and re.search(words, point["what"] + point["remedy"]):
                before = {path: list(lines) for path, lines in files.items()}
                try:
                    rule(files, point)
                except (IndexError, KeyError): # the place is none of the code's
                    files = before
                if files != before:
                    return "".join(f"<{path}>\n" + "\n".join(lines) + f"\n</{path}>\n" for path, lines in files.items())
    return code


def main():
    prompt = sys.stdin.read()
    turns = re.split(r"\n\n(?=(?:user|assistant):\n)", prompt)
    if len(turns) < 4:
        print(open(sys.argv[1]).read(), end="")
        return
    code, feedback = turns[-3], turns[-2]
    print(mend(code, feedback), end="")


if __name__ == "__main__":
    main()
