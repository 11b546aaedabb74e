#!/usr/bin/env bash
# Asks logs of 10,000 to 1,000,000 messages: two questions that DuckDB's SQL answers too, from the same file, and every
# named query. Prints Markdown tables of ratios and memory.
#
#   benches/ask/run.sh [--large]      with --large also 10,000,000 messages
#
# Needs Linux and python3 with venv. Whatever is made or installed is in target/ask.
set -euo pipefail
cd "$(dirname "$0")/../.."

sizes=(10000 100000 1000000)
case ${1:-} in
    '') ;;
    --large) sizes+=(10000000) ;;
    *) echo "usage: $0 [--large]" >&2 && exit 2 ;;
esac
target=${CARGO_TARGET_DIR:-target}
folder=$target/ask
mkdir -p "$folder"

if ! cmp -s benches/peers/requirements.txt "$folder/requirements.txt"; then
    python3 -m venv --clear "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --requirement benches/peers/requirements.txt
    cp benches/peers/requirements.txt "$folder/"
fi
cargo build --release --locked --quiet --config benches/support/released.toml
rustc --edition 2024 -O -o "$folder/workload" benches/workload.rs
for size in "${sizes[@]}"; do
    "$folder/workload" "$size" >"$folder/$size.ndjson"
done
python3 benches/ask/ask.py "$target/release/rpcgraph" "$folder" "${sizes[@]}"
