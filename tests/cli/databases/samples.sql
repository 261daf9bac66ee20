-- A file of samples to train on, as the commit 2a6f54d0 of AKGen wrote it, so that its readers can be tested for ever:
--   akgen cot synth --db samples.db --count 2 --programs=short
--   akgen cot corpus rows.jsonl --db samples.db --max-perplexity inf
-- samples.txt is what that commit prints of it.
PRAGMA application_id = 1095459700;
PRAGMA user_version = 1;
CREATE TABLE samples (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, part TEXT NOT NULL, mode TEXT NOT NULL, question TEXT NOT NULL, chain TEXT, answer TEXT NOT NULL, verdict TEXT, provenance TEXT NOT NULL, licence TEXT NOT NULL, graph TEXT, split TEXT NOT NULL, bytes INTEGER NOT NULL, tags TEXT, step TEXT NOT NULL, source TEXT NOT NULL);
CREATE INDEX samples_of ON samples (step, source);
CREATE TABLE done (step TEXT NOT NULL, source TEXT NOT NULL, samples INTEGER NOT NULL, finished TEXT NOT NULL, PRIMARY KEY (step, source)) WITHOUT ROWID;
CREATE TABLE dropped (step TEXT NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (step, source, reason)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (question, chain, answer, content='samples', content_rowid='number');
CREATE TRIGGER samples_words AFTER INSERT ON samples BEGIN INSERT INTO words (rowid, question, chain, answer) VALUES (new.number, new.question, new.chain, new.answer); END;
INSERT INTO samples VALUES (1, 'b44d78a10ed399ae2218496b613d50eb', 'synth', 'graph', 'TemiStepDeltaBias
Element by element `fo_va_pa4` is the sum of `vecma` and `base`, and `o` holds the nearest integer of `vecma`, for which 2.5 is 2 and -1.5 is -2.
- complex64 takes eight bytes.
in vecma float32 [4,3,32,64]
in base float32 [4,3,32,64]
out o float32 [4,3,32,64]
out fo_va_pa4 float32 [4,3,32,64]', 'fo_va_pa4 = vecma + base
o = round(vecma)
Element by element, in float32: each core takes a part of the elements, a tile at a time.', 'fo_va_pa4 = vecma + base; o = round(vecma)', '{"verdict":"pass","by":"machine","profile":"strict","cases_passed":1,"cases_total":1}', 'akgen cot synth, seed 0', 'Apache-2.0', '07166e0cafa1cc80', 'train', 484, '["pair","operations 2"]', 'synth', 'seeds 0 to 1, every 10 on the machine, with short programs');
INSERT INTO samples VALUES (2, 'ac73b84308b37b14d8e92ee187c22ed6', 'synth', 'dsl', 'TemiStepDeltaBias
Element by element `fo_va_pa4` is the sum of `vecma` and `base`, and `o` holds the nearest integer of `vecma`, for which 2.5 is 2 and -1.5 is -2.
- complex64 takes eight bytes.
in vecma float32 [4,3,32,64]
in base float32 [4,3,32,64]
out o float32 [4,3,32,64]
out fo_va_pa4 float32 [4,3,32,64]
Answer: a program in AscendDSL', 'fo_va_pa4 = vecma + base
o = round(vecma)
Element by element, in float32: each core takes a part of the elements, a tile at a time.', '# fo_va_pa4 = vecma + base; o = round(vecma)
import tile.language as tl


@ascend_kernel
def temi_step_delta_bias_kernel(vecma, base, fo_va_pa4, o, total, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, total)
    vecma_ub = tl.alloc_ub(tile, dtype=tl.float32)
    base_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value1_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value2_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(first, last, tile):
        m = min(tile, last - at)
        with tl.copyin():
            tl.load(vecma + at, vecma_ub, count=m)
            tl.load(base + at, base_ub, count=m)
        with tl.compute():
            tl.vadd(value1_ub, vecma_ub, base_ub, count=m)
            tl.vround(value2_ub, vecma_ub, count=m)
        with tl.copyout():
            tl.store(fo_va_pa4 + at, value1_ub, count=m)
            tl.store(o + at, value2_ub, count=m)


def temi_step_delta_bias_host(
    vecma: torch.Tensor,
    base: torch.Tensor,
    fo_va_pa4: torch.Tensor,
    o: torch.Tensor,
    tile: tl.constexpr = 2560,
):
    if fo_va_pa4.numel() + o.numel() == 0:
        return
    total = fo_va_pa4.numel()
    cores = max(1, min(tl.num_vec_cores(), tl.cdiv(total, 8192)))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    temi_step_delta_bias_kernel[cores](vecma, base, fo_va_pa4, o, total, per_core, tile)
', '{"verdict":"pass","by":"interpreter","profile":"strict","cases":[{"case":1,"max_abs":1.19e-07},{"case":2,"max_abs":1.19e-07}]}', 'akgen cot synth, seed 0', 'Apache-2.0', '07166e0cafa1cc80', 'train', 1864, '["pair","operations 2"]', 'synth', 'seeds 0 to 1, every 10 on the machine, with short programs');
INSERT INTO samples VALUES (3, '63cd90b472f550a80901c1bc0df6dcd7', 'synth', 'graph', 'FoldRonmarBlend
For every element `yout[i, j]` is false (0) where `oms[i, j] + 0.5` is no number and true (1) where it is no nan.
- Test values lie between -5 and 5.
- Intermediate values are float32.
in oms float32 [32,32,768]
out yout bool [32,32,768]', 'yout = oms + 0.5 == oms + 0.5
Element by element, in float32: each core takes a part of the elements, a tile at a time.', 'yout = oms + 0.5 == oms + 0.5', '{"verdict":"pass","by":"interpreter","profile":"strict","cases":[{"case":1,"max_abs":0},{"case":2,"max_abs":0}]}', 'akgen cot synth, seed 1', 'Apache-2.0', 'cb9e666537e9fb7c', 'valid', 401, '["single","operations 3"]', 'synth', 'seeds 0 to 1, every 10 on the machine, with short programs');
INSERT INTO samples VALUES (4, '02fa092fe6123bbc32369112ded7e27f', 'synth', 'dsl', 'FoldRonmarBlend
For every element `yout[i, j]` is false (0) where `oms[i, j] + 0.5` is no number and true (1) where it is no nan.
- Test values lie between -5 and 5.
- Intermediate values are float32.
in oms float32 [32,32,768]
out yout bool [32,32,768]
Answer: a program in AscendDSL', 'yout = oms + 0.5 == oms + 0.5
Element by element, in float32: each core takes a part of the elements, a tile at a time.', '# yout = oms + 0.5 == oms + 0.5
import tile.language as tl


@ascend_kernel
def fold_ronmar_blend_kernel(oms, yout, total, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, total)
    oms_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value1_ub = tl.alloc_ub(tile, dtype=tl.float32)
    value_truth1_ub = tl.alloc_ub(tile, dtype=tl.bool)
    for at in range(first, last, tile):
        m = min(tile, last - at)
        with tl.copyin():
            tl.load(oms + at, oms_ub, count=m)
        with tl.compute():
            tl.vadd(value1_ub, oms_ub, 0.5, count=m)
            tl.veq(value_truth1_ub, value1_ub, value1_ub, count=m)
        with tl.copyout():
            tl.store(yout + at, value_truth1_ub, count=m)


def fold_ronmar_blend_host(oms: torch.Tensor, yout: torch.Tensor, tile: tl.constexpr = 3840):
    if yout.numel() == 0:
        return
    total = yout.numel()
    cores = max(1, min(tl.num_vec_cores(), tl.cdiv(total, 8192)))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    fold_ronmar_blend_kernel[cores](oms, yout, total, per_core, tile)
', '{"verdict":"pass","by":"interpreter","profile":"strict","cases":[{"case":1,"max_abs":0},{"case":2,"max_abs":0}]}', 'akgen cot synth, seed 1', 'Apache-2.0', 'cb9e666537e9fb7c', 'valid', 1510, '["single","operations 3"]', 'synth', 'seeds 0 to 1, every 10 on the machine, with short programs');
INSERT INTO samples VALUES (5, 'f182eda555261106eae994b204fba5ef', 'general', 'text', 'What does DataCopyPad do?', NULL, 'It copies between GM and UB lengths that are no multiple of 32 bytes.', NULL, 'rows.jsonl', 'MIT', NULL, 'train', 94, NULL, 'corpus', 'rows.jsonl (a0dafffe259dd116ae84650fa1f23b61), 20 to 65536 bytes, similarity 0.8, perplexity at most inf to ad6970b57ed25e9d2016ee9d49693c0c, piece 0');
INSERT INTO samples VALUES (6, 'd26af301bb6804eb18e649ee4571d431', 'general', 'text', 'What is a tiling key?', NULL, 'A number by which the host part chooses a branch of the kernel.', NULL, 'rows.jsonl', 'unknown', NULL, 'train', 84, NULL, 'corpus', 'rows.jsonl (a0dafffe259dd116ae84650fa1f23b61), 20 to 65536 bytes, similarity 0.8, perplexity at most inf to ad6970b57ed25e9d2016ee9d49693c0c, piece 0');
INSERT INTO done VALUES ('corpus', 'rows.jsonl (a0dafffe259dd116ae84650fa1f23b61), 20 to 65536 bytes, similarity 0.8, perplexity at most inf to ad6970b57ed25e9d2016ee9d49693c0c, piece 0', 2, '2026-11-30 03:16:12');
INSERT INTO done VALUES ('synth', 'seeds 0 to 1, every 10 on the machine, with short programs', 4, '2026-11-30 03:16:11');
INSERT INTO dropped VALUES ('corpus', 'rows.jsonl (a0dafffe259dd116ae84650fa1f23b61), 20 to 65536 bytes, similarity 0.8, perplexity at most inf to ad6970b57ed25e9d2016ee9d49693c0c, piece 0', 'near duplicate', 1);
