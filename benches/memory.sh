#!/usr/bin/env bash
# Peak memory and time of `convert -t nquads` for logs of growing size, in megabytes.
#
#   benches/memory.sh [MB]...        default: 3 30 300
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --quiet
workload() { cargo bench --quiet --bench workload -- "$1"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf '%10s %12s %10s %14s %10s\n' 'input MB' 'messages' 'seconds' 'output MB' 'peak MiB'
for megabytes in "${@:-3 30 300}"; do
    for size in $megabytes; do
        messages=$((size * 4125)) # a message has 242 bytes
        workload "$messages" >"$folder/log.ndjson"
        # GNU time or the shell's own: peak memory of the command itself.
        /usr/bin/env time -f '%e %M' -o "$folder/time" \
            target/release/rpcgraph convert --quiet -t nquads "$folder/log.ndjson" | wc -c >"$folder/bytes"
        read -r seconds kilobytes <"$folder/time"
        printf '%10d %12d %10s %14d %10d\n' $(($(stat -c %s "$folder/log.ndjson") / 1000000)) "$messages" "$seconds" \
            $(($(cat "$folder/bytes") / 1000000)) $((kilobytes / 1024))
    done
done
