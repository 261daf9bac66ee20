#!/usr/bin/python3
"""What `akgen export` writes, read by those whose formats it has: datasets and TRL, whose trainers prepare the rows and make a step with
a tiny model of random weights, and LLaMA-Factory's loader, converters and processors, by the entries of dataset_info.json in docs/export.md.
Everything is local: no model, tokenizer or data set is fetched."""
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import types
import unittest

HOME = pathlib.Path(os.environ["AKGEN_HOME"])
sys.path.insert(0, str(HOME / "tests/cli"))
CACHE = tempfile.TemporaryDirectory()
os.environ.update(HF_HOME=CACHE.name, HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", CUDA_VISIBLE_DEVICES="",
                  TOKENIZERS_PARALLELISM="false", DISABLE_VERSION_CHECK="1", WANDB_DISABLED="true", OMP_NUM_THREADS="2")

import datasets
import tokenizers
import transformers
import trl

from akgen_program import akgen
from export_runs import Runs

SYSTEM, QUESTION = "You write kernels.\n", "Write the operator {}, \u7528 Ascend C."
TASKS = ["level1/Math/Sqrt", "level1/Math/Abs", "level2/Norm/RmsNorm"]
# What a template makes of a conversation, and how LLaMA-Factory calls the same.
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def make_tokenizer():
    """Bytes are tokens: what is encoded decodes to itself."""
    model = tokenizers.models.BPE(vocab={c: i for i, c in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}, merges=[])
    plain = tokenizers.Tokenizer(model)
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|pad|>",
                                                additional_special_tokens=["<|im_start|>"], model_max_length=1 << 20)
    made.chat_template = TEMPLATE
    return made


def make_model(tokenizer):
    config = transformers.LlamaConfig(vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                                      num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=2048)
    return transformers.LlamaForCausalLM(config)


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)
        runs = Runs(cls.at / "runs.db")
        runs.begin(1)
        for task in TASKS:
            prompt = runs.prompt(task, {"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION.format(task)})
            for i in range(3):
                runs.add(1, task, "pass", f"right {i}\n// \U0001f600\n", prompt=prompt, reasoning="because")
                runs.add(1, task, "wrong", f"<think>hm</think>\nwrong {i}", prompt=prompt)
                runs.add(1, task, "compile_error", f"broken {i} \u2028 \"\\", prompt=prompt)
        # A repair: the question holds an answer.
        repair = runs.prompt("repair", {"role": "user", "content": "Write."}, {"role": "assistant", "content": "bad"},
                             {"role": "user", "content": "It does not compile."})
        runs.add(1, "level9/Last/Repair", "pass", "repaired", prompt=repair, round=1)
        runs.add(1, "level9/Last/Repair", "wrong", "worse", prompt=repair, round=1)
        # More than the 10 MB that datasets takes the columns from.
        for i in range(300):
            runs.add(1, f"level8/Long/Op{i:03}", "pass", f"right {i} " + "kernel " * 3000)
            runs.add(1, f"level8/Long/Op{i:03}", "wrong", f"wrong {i} " + "kernel " * 3000)
        runs.commit()
        cls.tokenizer = make_tokenizer()

    def export(self, what, form, *options):
        """(data set as loaded, rows of the file, its path)"""
        path = self.at / f"{what}-{form}.jsonl"
        process = akgen("export", what, "--db", self.at / "runs.db", "--format", form, "-o", path, *options)
        self.assertEqual(process.returncode, 0, process.stderr)
        rows = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
        return datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(self.at / "cache")), rows, path


class Datasets(Exported):
    def test_every_form_loads_as_it_was_written(self):
        for what, forms in (("preferences", ("trl", "trl-text", "alpaca", "sharegpt")),
                            ("sft", ("trl", "trl-text", "trl-messages", "alpaca", "sharegpt"))):
            for form in forms:
                for options in ((), ("--provenance", "--reasoning")):
                    with self.subTest(what=what, form=form, options=options):
                        loaded, rows, _ = self.export(what, form, *options)
                        self.assertGreater(len(rows), 300)
                        self.assertEqual(list(loaded), rows)


class Trl(Exported):
    SMALL = ("--exclude", "level8/*")

    def arguments(self):
        return dict(output_dir=str(self.at / "out"), report_to=[], use_cpu=True, max_steps=1, per_device_train_batch_size=2,
                    save_strategy="no", disable_tqdm=True, logging_steps=1)

    def test_conversations(self):
        for what in ("preferences", "sft"):
            loaded, rows, _ = self.export(what, "trl", *self.SMALL)
            self.assertTrue(all(trl.is_conversational(row) for row in loaded))
            texts = trl.apply_chat_template(loaded[0], self.tokenizer)
            asked = rows[0]["prompt"][-1]["content"]
            self.assertTrue(texts["prompt"].endswith(f"{asked}<|im_end|>\n<|im_start|>assistant\n"), texts["prompt"])
            said = "chosen" if what == "preferences" else "completion"
            self.assertEqual(texts[said], rows[0][said][0]["content"] + "<|im_end|>\n")
        self.assertFalse(any(trl.is_conversational(row) for row in self.export("preferences", "trl-text", *self.SMALL)[0]))

    def test_dpo_trains_on_either_form(self):
        for form in ("trl", "trl-text"):
            with self.subTest(form=form):
                loaded, rows, _ = self.export("preferences", form, "--provenance", *self.SMALL)
                trainer = trl.DPOTrainer(make_model(self.tokenizer), args=trl.DPOConfig(max_prompt_length=None, max_length=None, **self.arguments()),
                                         train_dataset=loaded, processing_class=self.tokenizer)
                self.assertEqual(len(trainer.train_dataset), len(rows))
                for row, made in zip(rows, trainer.train_dataset):
                    for side in ("chosen", "rejected"):
                        text = row[side] if form == "trl-text" else row[side][0]["content"]
                        self.assertIn(text, self.tokenizer.decode(made[f"{side}_input_ids"], clean_up_tokenization_spaces=False))
                    asked = row["prompt"] if form == "trl-text" else row["prompt"][-1]["content"]
                    self.assertIn(asked, self.tokenizer.decode(made["prompt_input_ids"], clean_up_tokenization_spaces=False))
                self.assertTrue(math.isfinite(trainer.train().training_loss))

    def test_sft_trains_on_every_form(self):
        for form in ("trl", "trl-text", "trl-messages"):
            with self.subTest(form=form):
                loaded, rows, _ = self.export("sft", form, "--provenance", *self.SMALL)
                trainer = trl.SFTTrainer(make_model(self.tokenizer), args=trl.SFTConfig(max_length=None, **self.arguments()), train_dataset=loaded,
                                         processing_class=self.tokenizer)
                self.assertEqual(len(trainer.train_dataset), len(rows))
                for row, made in zip(rows, trainer.train_dataset):
                    text = self.tokenizer.decode(made["input_ids"], clean_up_tokenization_spaces=False)
                    if form == "trl-text":
                        self.assertTrue(text.startswith(row["prompt"] + row["completion"]))
                    else:
                        messages = row["messages"] if form == "trl-messages" else row["prompt"] + row["completion"]
                        self.assertTrue(text.startswith(self.tokenizer.apply_chat_template(messages, tokenize=False)), text)
                self.assertTrue(math.isfinite(trainer.train().training_loss))


class LlamaFactory(Exported):
    def read(self, what, form, *options):
        """Rows as LLaMA-Factory has them behind its converter, and behind its processor; the file's."""
        from llamafactory.data.converter import align_dataset
        from llamafactory.data.parser import get_dataset_list
        from llamafactory.data.processor import PairwiseDatasetProcessor, SupervisedDatasetProcessor
        from llamafactory.data.template import get_template_and_fix_tokenizer
        _, rows, path = self.export(what, form, *options)
        entries = json.loads(re.search(r"```json\n(.*?)```", (HOME / "docs/export.md").read_text(), re.S)[1])
        name = {"preferences": "akgen_pairs", "sft": "akgen_right"}[what] + ("_sharegpt" if form == "sharegpt" else "")
        entries[name]["file_name"] = path.name
        (self.at / "dataset_info.json").write_text(json.dumps(entries))
        entry, = get_dataset_list([name], str(self.at))
        self.assertEqual((entry.load_from, entry.dataset_name, entry.ranking, entry.formatting),
                         ("file", path.name, what == "preferences", form))
        loaded = datasets.load_dataset("json", data_files=str(self.at / entry.dataset_name), split="train", cache_dir=str(self.at / "cache"))
        data_args = types.SimpleNamespace(streaming=False, preprocessing_num_workers=None, overwrite_cache=True, template="chatml", train_on_prompt=False,
                                          tool_format=None, cutoff_len=1 << 20, mask_history=False, neat_packing=False, packing=False)
        aligned = align_dataset(loaded, entry, data_args, types.SimpleNamespace(local_process_index=0))
        tokenizer = make_tokenizer()
        template = get_template_and_fix_tokenizer(tokenizer, data_args)
        kind = PairwiseDatasetProcessor if what == "preferences" else SupervisedDatasetProcessor
        processor = kind(template=template, tokenizer=tokenizer, processor=None, data_args=data_args)
        made = processor.preprocess_dataset({key: aligned[key] for key in aligned.column_names})
        return aligned, made, rows, tokenizer

    def test_preferences(self):
        for form in ("alpaca", "sharegpt"):
            with self.subTest(form=form):
                aligned, made, rows, tokenizer = self.read("preferences", form, "--provenance", "--exclude", "level8/*")
                self.assertEqual(len(rows), 3 * 8 + (form == "sharegpt"))
                self.assertEqual(len(made["chosen_input_ids"]), len(rows))  # none was dropped as invalid
                for i, (row, got) in enumerate(zip(rows, aligned)):
                    chosen, rejected = (row["chosen"], row["rejected"]) if form == "alpaca" else (row["chosen"]["value"], row["rejected"]["value"])
                    asked = row["instruction"] if form == "alpaca" else row["conversations"][-1]["value"]
                    self.assertEqual([m["content"] for m in got["_response"]], [chosen, rejected])
                    self.assertEqual(got["_prompt"][-1], {"role": "user", "content": asked})
                    self.assertEqual(got["_system"], row["system"])
                    labels = [token for token in made["rejected_labels"][i] if token != -100]
                    self.assertEqual(tokenizer.decode(labels, clean_up_tokenization_spaces=False).removesuffix("\n").removesuffix("<|im_end|>"), rejected)

    def test_demonstrations(self):
        for form in ("alpaca", "sharegpt"):
            with self.subTest(form=form):
                aligned, made, rows, _ = self.read("sft", form, "--exclude", "level8/*")
                self.assertEqual(len(rows), 3 * 3 + (form == "sharegpt"))
                self.assertEqual(len(made["input_ids"]), len(rows))
                for row, got in zip(rows, aligned):
                    said = row["output"] if form == "alpaca" else row["conversations"][-1]["value"]
                    self.assertEqual(got["_response"], [{"role": "assistant", "content": said}])
                    self.assertEqual(got["_system"], row["system"])


if __name__ == "__main__":
    unittest.main()
