#!/bin/sh
# Makes a model as graph-14m is: data, vocabulary, training, then tuning on data of a later generator, and the mean of both.
# Usage: models/make.sh DIR [cpu|cuda] [MODEL]. Training takes minutes on a GPU, days without; with MODEL, one that is trained, there is only the tuning,
# under an hour on two processors that others share.
set -eu
dir=$1 device=${2:-cuda} trained=${3:-$1/trained}
cd "$(dirname "$0")/.."
akgen=build/akgen

# Rows of operators that are made up: NAME, first seed, number of seeds.
rows() {
    $akgen cot synth --db "$dir/$1.db" --seed "$2" --count "$3" --machine 0
    [ -d "$dir/$1" ] || $akgen cot export --db "$dir/$1.db" --mode graph --format trl-sft --no-chain -o "$dir/$1"
}

# A run of the tuning: MODEL, NAME, seed, steps, schedule, options.
tune() {
    from=$1 to=$dir/$2 seed=$3 steps=$4 schedule=$5
    shift 5
    $akgen lm train "$from" --data "$dir/tuning/train.jsonl" -o "$to" --steps "$steps" --batch 32 --tokens 8192 --length 1024 --rate 4e-4 \
        --schedule "$schedule" --warmup 5 --seed "$seed" --device "$device" --precision bfloat16 --resume "$@"
}

mkdir -p "$dir/new"
if [ "$trained" = "$dir/trained" ]; then
    rows training 1000000 250000
    $akgen lm tokenizer "$dir/training/train.jsonl" -o "$dir/new" --vocab 4096
    sed 's/"torch_dtype": "bfloat16"/"torch_dtype": "float32"/' models/graph-14m/config.json >"$dir/new/config.json"
    $akgen lm train "$dir/new" --new --data "$dir/training/train.jsonl" --eval "$dir/training/validation.jsonl" --eval-every 1000 -o "$trained" \
        --steps 7479 --batch 384 --tokens 49152 --length 1024 --rate 1.5e-3 --warmup 200 --decay 0.1 --seed 1 --dtype bfloat16 --device "$device" --resume
fi

rows tuning 54000000 20000
tune "$trained" tuned-1 1 50 constant
tune "$dir/tuned-1" tuned-2 2 50 constant
tune "$dir/tuned-2" tuned-3 3 50 constant
tune "$dir/tuned-3" tuned 4 80 cosine --dtype bfloat16 --eval "$dir/tuning/validation.jsonl"
[ -d "$dir/model" ] || $akgen lm convert "$trained" --toward "$dir/tuned" --share 0.5 -o "$dir/model"
