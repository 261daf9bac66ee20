#!/bin/sh
# Makes a model as graph-14m is: data, vocabulary, training, then tuning on other seeds. (code-14m is made of it by scripts/experiment programs -o DIR.)
# Usage: models/make.sh DIR [cpu|cuda] [MODEL]. Training takes minutes on a GPU, days without; with MODEL, one that is trained, there is only the tuning,
# an hour on two processors.
set -eu
dir=$1 device=${2:-cuda} trained=${3:-$1/trained}
cd "$(dirname "$0")/.."
akgen=build/akgen

# Rows of operators that are made up: NAME, first seed, number of seeds.
rows() {
    $akgen cot synth --db "$dir/$1.db" --seed "$2" --count "$3" --machine 0
    [ -d "$dir/$1" ] || $akgen cot export --db "$dir/$1.db" --mode graph --format trl-sft --no-chain -o "$dir/$1"
}

mkdir -p "$dir/new"
if [ "$trained" = "$dir/trained" ]; then
    rows training 1000000 250000
    $akgen lm tokenizer "$dir/training/train.jsonl" -o "$dir/new" --vocab 4096
    sed 's/"torch_dtype": "bfloat16"/"torch_dtype": "float32"/' models/graph-14m/config.json >"$dir/new/config.json"
    $akgen lm train "$dir/new" --new --data "$dir/training/train.jsonl" --eval "$dir/training/validation.jsonl" --eval-every 1000 -o "$trained" \
        --steps 7479 --batch 384 --tokens 49152 --length 1024 --rate 1.5e-3 --warmup 200 --decay 0.1 --seed 1 --dtype bfloat16 --device "$device" --resume
fi

# NAME, first seed, number of seeds, steps, rate, steps of warmup, model before, model behind.
tune() {
    rows "$1" "$2" "$3"
    $akgen lm train "$7" --data "$dir/$1/train.jsonl" --eval "$dir/$1/validation.jsonl" -o "$8" --steps "$4" --batch 64 --tokens 16384 --length 1024 \
        --rate "$5" --warmup "$6" --decay 0.1 --seed 1 --dtype bfloat16 --device "$device" --precision bfloat16 --resume
}
tune tuning 57000000 140032 1400 5e-4 40 "$trained" "$dir/tuned"
tune again 59000000 56000 600 3e-4 30 "$dir/tuned" "$dir/model"
