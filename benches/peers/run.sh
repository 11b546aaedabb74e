#!/usr/bin/env bash
# Runs others on the work of rpcgraph, checks that they come to the same triples, and prints a Markdown table of time
# and memory.
#
#   benches/peers/run.sh [MESSAGES]      default: 100000
#
# Needs Linux, python3 with venv, node and npm; jq and hyperfine are used where they are installed. Whatever is made or
# installed is in target/peers.
set -euo pipefail
cd "$(dirname "$0")/../.."

messages=${1:-100000}
target=${CARGO_TARGET_DIR:-target}
peers=benches/peers
folder=$target/peers
rpcgraph=$target/release/rpcgraph
mkdir -p "$folder"

# True if a file is unchanged since it was last installed.
installed() { cmp -s "$peers/$1" "$folder/$1.installed"; }
if ! installed requirements.txt; then
    python3 -m venv --clear "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --requirement "$peers/requirements.txt"
    cp "$peers/requirements.txt" "$folder/requirements.txt.installed"
fi
if ! installed package.json; then
    cp "$peers/package.json" "$folder/"
    npm install --prefix "$folder" --no-package-lock --no-audit --no-fund --silent
    cp "$peers/package.json" "$folder/package.json.installed"
fi
# A module finds what is installed beside it.
cp "$peers/jsonld-messages.mjs" "$folder/"

cargo build --release --locked --quiet --config benches/support/released.toml
rustc --edition 2024 -O -o "$folder/workload" benches/workload.rs
"$folder/workload" "$messages" >"$folder/log.ndjson"

python3 "$peers/compare.py" "$rpcgraph" "$folder"

echo
if command -v hyperfine >/dev/null; then
    hyperfine --shell=none --warmup 1 --runs 5 --style basic \
        -n 'rpcgraph convert -m bblock -t ntriples' \
        "$rpcgraph convert --quiet -m bblock -t ntriples $folder/log.ndjson -o $folder/ours.nt" \
        -n 'oxigraph convert' \
        "$folder/venv/bin/oxigraph convert --from-file $folder/log.jsonld --to-format nt --to-file $folder/oxigraph.nt"
else
    echo 'hyperfine is not installed, so it does not time them again'
fi
