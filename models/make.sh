#!/bin/sh
# Makes a model as graph-14m is: data, vocabulary, training. Usage: models/make.sh DIR [cpu|cuda]; minutes on a GPU, days without.
set -eu
dir=$1 device=${2:-cuda}
cd "$(dirname "$0")/.."
akgen=build/akgen
mkdir -p "$dir/new"
$akgen cot synth --db "$dir/samples.db" --seed 1000000 --count 250000 --machine 0
[ -d "$dir/rows" ] || $akgen cot export --db "$dir/samples.db" --mode graph --format trl-sft --no-chain -o "$dir/rows"
$akgen lm tokenizer "$dir/rows/train.jsonl" -o "$dir/new" --vocab 4096
sed 's/"torch_dtype": "bfloat16"/"torch_dtype": "float32"/' models/graph-14m/config.json >"$dir/new/config.json"
$akgen lm train "$dir/new" --new --data "$dir/rows/train.jsonl" --eval "$dir/rows/validation.jsonl" --eval-every 1000 -o "$dir/model" \
    --steps 7479 --batch 384 --tokens 49152 --length 1024 --rate 1.5e-3 --warmup 200 --decay 0.1 --seed 1 --dtype bfloat16 --device "$device" --resume
