"""Small models for tests of `akgen lm`: a folder with a configuration and a tokenizer of single bytes, and rows to learn from."""
import json
import shutil
import struct


def byte_letters():
    """The letters that byte-level BPE writes the 256 bytes with."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, others = {byte: chr(byte) for byte in printable}, 256
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(others)
            others += 1
    return letters


def make_model(folder, **changed):
    """A configuration of about 60 thousand parameters whose tokens are bytes, 256 behind each text."""
    config = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 257, "hidden_size": 48, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96, "max_position_embeddings": 256,
              "rope_theta": 10000.0, "rms_norm_eps": 1e-6, "initializer_range": 0.05, "tie_word_embeddings": True, "hidden_act": "silu",
              "attention_bias": False, "bos_token_id": None, "eos_token_id": 256, "torch_dtype": "float32"}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config | changed))
    vocabulary = {letter: byte for byte, letter in byte_letters().items()}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": 256, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                          "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": []}}))
    return folder


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def change_weights(folder, to, name, value, first=0, count=None):
    """A copy of a model where elements of a tensor (from `first` on `count`; else all) are `value`."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("checkpoint*"))
    path = to / "model.safetensors"
    rows = bytearray(path.read_bytes())
    length = struct.unpack("<Q", rows[:8])[0]
    tensor = json.loads(rows[8:8 + length])[name]
    begin, end = tensor["data_offsets"]
    assert tensor["dtype"] == "F32"
    count = count or (end - begin) // 4 - first
    struct.pack_into(f"<{count}f", rows, 8 + length + begin + 4 * first, *[value] * count)
    path.write_bytes(rows)
    return to
