#!/usr/bin/env python3
"""The steps of `akgen lm train --engine torchrun`: transformers' Trainer (the loop of TRL's trainers, too) over the rows, the order and the settings
that lie beside this file. One process is one part of a step; the loss of a step is one mean over all of them, so that how many there are decides
nothing. Started by run.sh, under torchrun (CPUs: DDP) or accelerate's launcher (GPUs: FSDP)."""
import json
import math
import pathlib
import shutil
import sys
import time

import torch
import torch.nn.functional as F
import transformers
from transformers.trainer_utils import get_last_checkpoint

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "settings.json").read_text())
OUT = pathlib.Path(SETTINGS["out"])
KIND, GROUP = SETTINGS["objective"], SETTINGS["texts_of_a_row"]
NOT_LEARNED = -100
SUMS = ("loss", "chosen", "rejected", "right", "kl", "reward", "tokens")  # what a step adds up over passes and processes


class Lines:
    """A file's lines as JSON, read when they are asked for."""

    def __init__(self, path):
        self.file, self.starts = open(path, "rb"), [0]
        for line in self.file:
            self.starts.append(self.starts[-1] + len(line))

    def __len__(self):
        return len(self.starts) - 1

    def __getitem__(self, i):
        self.file.seek(self.starts[i])
        return json.loads(self.file.read(self.starts[i + 1] - self.starts[i]))


class Rows:
    """Rows of texts, and what models that do not change say of their tokens, if the objective asks for it: (reference, old), a list for each row."""

    def __init__(self, path):
        self.lines, self.frozen = Lines(path), None

    def batch(self, rows):
        """A pass of some rows, padded on the right. No rows: one that counts nothing, for a process must not stay away from a pass of the others."""
        given = [self.lines[row] for row in rows or [0]]
        texts, labels = ([text for row in given for text in row[key]] for key in ("input_ids", "labels"))
        longest = max(map(len, texts))

        def padded(lists, value, dtype):
            return torch.tensor([[*list_, *[value] * (longest - len(list_))] for list_ in lists], dtype=dtype)

        batch = {"input_ids": padded(texts, 0, torch.long), "labels": padded(labels, NOT_LEARNED, torch.long),
                 "attention_mask": padded([[1] * len(text) for text in texts], 0, torch.long), "counts": float(bool(rows))}
        if self.frozen:
            for place, name in enumerate(("reference", "old")):
                batch[name] = padded([text for row in rows or [0] for text in self.frozen[row][place]], 0.0, torch.float32)
        if "rewards" in given[0]:
            batch["rewards"] = torch.tensor([row["rewards"] for row in given])
        return batch


class Deal(torch.utils.data.Dataset):
    """The passes of one of `processes` processes: `accumulation` for each step, of at most `size` rows."""

    def __init__(self, rows, steps, rank, processes):
        self.rows, self.steps, self.rank, self.processes = rows, steps, rank, processes
        self.size = max(1, SETTINGS["tokens"] // (GROUP * SETTINGS["longest"]))
        self.size = min(self.size, -(-SETTINGS["batch"] // processes))
        self.accumulation = -(-SETTINGS["batch"] // (self.size * processes))

    def __len__(self):
        return len(self.steps) * self.accumulation

    def __getitem__(self, i):
        step = self.steps[i // self.accumulation]
        first = (i % self.accumulation * self.processes + self.rank) * self.size
        batch = self.rows.batch(step["rows"][first:first + self.size])
        batch["whole"] = step["whole"]
        return batch


def log_probs(model, batch):
    """(texts, tokens - 1): of each learned token but the first, given those before it; 0 elsewhere."""
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], use_cache=False).logits[:, :-1].float()
    labels = batch["labels"][:, 1:]
    return -F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none", ignore_index=NOT_LEARNED).view(labels.shape)


def objective(now, batch):
    """The sums of a pass, before they are divided by what the step's mean is over. SFT: over tokens. DPO: over pairs, the better text first, of
    -log sigmoid(beta * how much more it gained). GRPO: over texts of their tokens' mean, with the ratio to the model at the begin."""
    learned = (batch["labels"][:, 1:] != NOT_LEARNED).float()
    if KIND == "sft":
        return {"loss": -now.sum()}
    beta = SETTINGS["beta"]
    reference = batch["reference"][:, 1:]
    if KIND == "dpo":
        gain = beta * ((now - reference) * learned).sum(1)
        chosen, rejected = gain[0::2], gain[1::2]
        return {"loss": -F.logsigmoid(chosen - rejected).sum(), "chosen": chosen.sum(), "rejected": rejected.sum(),
                "right": (chosen > rejected).float().sum()}
    rewards = batch["rewards"]
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).flatten()[:, None]
    ratio = torch.exp(now - batch["old"][:, 1:])
    clipped = torch.clamp(ratio, 1 - SETTINGS["ratio_clip"], 1 + SETTINGS["ratio_clip"])
    apart = reference - now
    kl = torch.exp(apart) - apart - 1
    token = beta * kl - torch.minimum(ratio * advantages, clipped * advantages)
    counts = learned.sum(1)
    return {"loss": ((token * learned).sum(1) / counts).sum(), "kl": ((kl * learned).sum(1) / counts).sum(), "reward": rewards.sum()}


class Training(transformers.Trainer):
    def __init__(self, *arguments, deal, evaluated, **more):
        super().__init__(*arguments, **more)
        self.deal, self.evaluated = deal, evaluated
        self.model_accepts_loss_kwargs = False  # the loss is divided here
        self.sums, self.tokens, self.began, self.stepped = {}, 0, time.monotonic(), time.monotonic()

    def get_train_dataloader(self):
        """Each process has passes of its own already; accelerate must not deal them again."""
        return torch.utils.data.DataLoader(self.deal, batch_size=1, shuffle=False, collate_fn=lambda batches: batches[0])

    def create_optimizer(self):
        """AdamW whose weight decay is for matrices: all but norms' weights."""
        if self.optimizer is None:
            how = SETTINGS["optimizer"]
            groups = [[], []]
            for name, parameter in self.model.named_parameters():
                if parameter.requires_grad:
                    groups["norm" in name].append(parameter)
            self.optimizer = torch.optim.AdamW([{"params": groups[0], "weight_decay": how["decay"]}, {"params": groups[1], "weight_decay": 0.0}],
                                               lr=how["rate"], betas=(how["beta1"], how["beta2"]), eps=how["eps"])
        return self.optimizer

    def compute_loss(self, model, batch, *_, **__):
        """The share of this pass in the step's mean, times what Trainer (accumulation) and DDP or FSDP (processes) divide by."""
        found = objective(log_probs(model, batch), batch)
        for name, value in found.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.detach().double() * batch["counts"] / batch["whole"]
        self.sums["tokens"] = self.sums.get("tokens", 0.0) + batch["attention_mask"].sum() * batch["counts"]
        return found["loss"] * (batch["counts"] * self.accelerator.num_processes * self.args.gradient_accumulation_steps / batch["whole"])

    def over_all(self, sums):
        """The sums of all processes."""
        values = torch.tensor([float(sums.get(name, 0.0)) for name in SUMS], device=self.args.device, dtype=torch.float64)
        return dict(zip(SUMS, self.accelerator.reduce(values, "sum").tolist()))

    def _load_rng_state(self, *_):
        """Nothing here is drawn; and PyTorch 2.1 cannot read what transformers 4.51 keeps of it."""

    def go_on(self, done):
        """metrics.jsonl as it was after so many steps; the others are written again."""
        path = OUT / "metrics.jsonl"
        kept = [line for line in path.read_text().splitlines() if json.loads(line)["step"] <= done] if done and path.exists() else []
        for row in map(json.loads, kept):
            self.tokens, self.began = row.get("tokens", self.tokens), time.monotonic() - row.get("seconds", 0.0)
        if self.is_world_process_zero():
            path.write_text("".join(line + "\n" for line in kept))

    def write(self, row):
        if self.is_world_process_zero():
            with open(OUT / "metrics.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps({name: None if isinstance(value, float) and not math.isfinite(value) else value
                                       for name, value in row.items()}) + "\n")

    def log(self, logs, *_):
        """A step is done (Trainer logs each)."""
        if "learning_rate" not in logs:
            return
        sums, self.sums = self.over_all(self.sums), {}
        now = time.monotonic()
        step, seconds, self.stepped = self.state.global_step, now - self.stepped, now
        self.tokens += int(sums["tokens"])
        norm = logs.get("grad_norm", math.nan)
        row = {"step": step, "epoch": step / SETTINGS["steps_of_an_epoch"], "loss": sums["loss"], "rate": logs["learning_rate"], "norm": float(norm)}
        names = {"dpo": ("chosen", "rejected", "right"), "grpo": ("reward", "kl")}.get(KIND, ())
        row.update({name: sums[name] for name in names})
        row.update(tokens=self.tokens, tokens_per_second=sums["tokens"] / seconds, seconds=now - self.began)
        self.write(row)
        last = SETTINGS["steps"]
        if self.is_world_process_zero() and (step % max(1, last // 100) == 0 or step == last):
            left = (now - self.began) / step * (last - step)
            print(f"step {step} of {last}: loss {sums['loss']:.4f}, norm {row['norm']:.3g}, {row['tokens_per_second']:.0f} tokens/s, "
                  f"{left / 60:.0f}m left", file=sys.stderr, flush=True)
        every = SETTINGS["eval_every"]
        if self.evaluated and (step == last or every and step % every == 0):
            self.evaluate_rows(self.model_wrapped)

    @torch.no_grad()
    def evaluate_rows(self, model):
        rows, size, processes = self.evaluated, self.deal.size, self.accelerator.num_processes
        sums, whole = {}, 0.0
        model.eval()
        for first in range(0, len(rows.lines), size * processes):
            mine = range(first + self.args.process_index * size, first + (self.args.process_index + 1) * size)
            batch = self._prepare_inputs(rows.batch([row for row in mine if row < len(rows.lines)]))
            found = objective(log_probs(model, batch), batch)
            sums["loss"] = sums.get("loss", 0.0) + found["loss"].double() * batch["counts"]
            learned = (batch["labels"][:, 1:] != NOT_LEARNED).sum() if KIND == "sft" else len(batch["labels"]) / (2 if KIND == "dpo" else 1)
            whole += float(learned) * batch["counts"]
        model.train()
        whole = self.over_all({"tokens": whole})["tokens"]
        loss = self.over_all(sums)["loss"] / whole
        step = self.state.global_step
        self.write({"step": step, "epoch": step / SETTINGS["steps_of_an_epoch"], "eval_loss": loss})
        if self.is_world_process_zero():
            print(f"step {step}: evaluation loss {loss:.4f}", file=sys.stderr, flush=True)


def load(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32)


def start_model():
    """What is trained: all of a model, or adapters that akgen drew."""
    model = load(HERE / "begin" if SETTINGS["new"] else SETTINGS["model"])
    if SETTINGS["adapters"]:
        import peft  # which nothing else needs

        base, model = model, peft.PeftModel.from_pretrained(model, HERE / "begin", is_trainable=True)
        if SETTINGS["recompute"]:
            base.enable_input_require_grads()
    return model


@torch.no_grad()
def ask(trainer, folder, sets):
    """What the model of a folder says of the tokens of some sets: for each a list of rows of texts of log-probabilities."""
    accelerator, size = trainer.accelerator, trainer.deal.size
    model = accelerator.prepare(load(folder)).eval()
    said = []
    for rows in sets:
        mine = {}
        for first in range(0, len(rows.lines), size * accelerator.num_processes):
            from_ = first + accelerator.process_index * size
            taken = [row for row in range(from_, from_ + size) if row < len(rows.lines)]
            batch = trainer._prepare_inputs(rows.batch(taken))
            found = F.pad(log_probs(model, batch), (1, 0)).cpu().tolist()
            lengths = batch["attention_mask"].sum(1).tolist()
            for i, row in enumerate(taken):
                mine[row] = [found[text][:lengths[text]] for text in range(i * GROUP, (i + 1) * GROUP)]
        parts = [None] * accelerator.num_processes
        if accelerator.num_processes > 1:
            torch.distributed.all_gather_object(parts, mine)
        else:
            parts = [mine]
        every = {row: texts for part in parts for row, texts in part.items()}
        said.append([every[row] for row in range(len(rows.lines))])
    accelerator.free_memory()
    return said


def freeze(trainer, sets):
    """Asks the reference and the model at the begin, once: a run that goes on finds what they said."""
    path = HERE / f"reference-{SETTINGS['data'][:16]}.pt"
    if path.exists():
        said = torch.load(path)
    else:
        begin = HERE / "begin" if SETTINGS["new"] else SETTINGS["model"]
        old = ask(trainer, begin, sets)
        said = [ask(trainer, SETTINGS["reference"], sets) if SETTINGS["reference"] else old, old]
        trainer.accelerator.wait_for_everyone()
        if trainer.is_world_process_zero():
            torch.save(said, path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)
    for i, rows in enumerate(sets):
        rows.frozen = list(zip(said[0][i], said[1][i]))


def save(trainer):
    """The model, or PEFT's adapters, as any program reads it."""
    weights = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if not trainer.is_world_process_zero():
        return
    for name in SETTINGS["companions"]:
        if (pathlib.Path(SETTINGS["model"]) / name).exists():
            shutil.copyfile(pathlib.Path(SETTINGS["model"]) / name, OUT / name)
    model = trainer.accelerator.unwrap_model(trainer.model_wrapped)
    if SETTINGS["adapters"]:
        model.save_pretrained(OUT, state_dict=weights)
        return
    if model.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    kind = getattr(torch, SETTINGS["dtype"])
    model.config.torch_dtype = kind
    model.save_pretrained(OUT, state_dict={name: value.to(kind) for name, value in weights.items()}, safe_serialization=True)


def arguments(accumulation):
    how = SETTINGS["optimizer"]
    every = SETTINGS["save_every"]
    return transformers.TrainingArguments(
        output_dir=str(OUT), max_steps=SETTINGS["steps"], learning_rate=how["rate"], warmup_steps=how["warmup"],
        lr_scheduler_type="cosine" if how["schedule"] == "cosine" else "constant_with_warmup", max_grad_norm=how["clip"] or 1e30,
        per_device_train_batch_size=1, gradient_accumulation_steps=accumulation, logging_steps=1, logging_nan_inf_filter=False,
        save_strategy="steps" if every else "no", save_steps=every or 1, save_total_limit=max(1, SETTINGS["keep"]), seed=SETTINGS["seed"],
        use_cpu=SETTINGS["device"] == "cpu", bf16=SETTINGS["precision"] == "bfloat16", gradient_checkpointing=SETTINGS["recompute"],
        gradient_checkpointing_kwargs={"use_reentrant": False} if SETTINGS["recompute"] else None, report_to=[], disable_tqdm=True,
        remove_unused_columns=False, accelerator_config={"dispatch_batches": False})


def describe(trainer):
    processes = trainer.accelerator.num_processes
    if trainer.is_fsdp_enabled:
        return f"{processes} GPUs: FSDP, {SETTINGS['precision']}"
    if SETTINGS["device"] == "cpu":
        return f"{processes} processes on CPUs: DDP over gloo, float32" if processes > 1 else "1 process on a CPU, float32"
    return f"{processes} GPUs: DDP, {SETTINGS['precision']}"


def main():
    transformers.utils.logging.set_verbosity_error()
    probe = arguments(1)
    rows, steps = Rows(HERE / "rows.jsonl"), Lines(HERE / "steps.jsonl")
    evaluated = Rows(HERE / "eval.jsonl") if (HERE / "eval.jsonl").exists() else None
    deal = Deal(rows, steps, probe.process_index, probe.world_size)
    how = arguments(deal.accumulation)
    trainer = Training(start_model(), how, deal=deal, evaluated=evaluated)
    trainer.remove_callback(transformers.PrinterCallback)
    if trainer.is_world_process_zero():
        print(f"engine    torchrun: {describe(trainer)}; {deal.accumulation} passes of {deal.size} rows a step", flush=True)
    if KIND != "sft":
        freeze(trainer, [rows] + ([evaluated] if evaluated else []))
    newest = get_last_checkpoint(OUT)
    trainer.go_on(int(newest.rsplit("-", 1)[1]) if newest else 0)
    trainer.train(resume_from_checkpoint=newest)
    save(trainer)
    trainer.accelerator.wait_for_everyone()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
