#!/usr/bin/env bash
# Time and peak memory of `convert` for logs of growing size, and for logs that are one large message.
#
#   benches/scaling.sh [--large]      --large: also a log of 1000 MB
#
# Needs Linux and python3. Times are CPU time, so that other work on the machine disturbs them less; each is the median
# of three runs. "relative" is the time for a megabyte, as a multiple of what it is in the log of 100 MB. In the mapping
# `session`, memory grows with the requests that are open, and in this log one request in ten is never answered.
set -euo pipefail
cd "$(dirname "$0")/.."

sizes=(1 10 100)
case ${1:-} in
    '') ;;
    --large) sizes+=(1000) ;;
    *) echo "usage: $0 [--large]" >&2 && exit 2 ;;
esac

target=${CARGO_TARGET_DIR:-target}
cargo build --release --locked --quiet --config benches/support/released.toml
folder=$(mktemp -d "$target/scaling.XXXXXX")
trap 'rm -rf "$folder"' EXIT
rustc --edition 2024 -O -o "$folder/workload" benches/workload.rs
log=$folder/log.ndjson

# Writes N megabytes of messages, 241 bytes each: workload N
workload() { "$folder/workload" $(($1 * 4150)); }

# Median time and peak of three runs.
measure() {
    for _ in 1 2 3; do
        python3 benches/support/timed.py "$target/release/rpcgraph" convert --quiet "$@" "$log" | cut -d' ' -f2-
    done | sort -g | awk 'NR == 2 { print $1, $2 }'
}

print_header() {
    printf '| log | MB | session → N-Quads | relative | peak | bblock → N-Triples | relative | peak |\n'
    printf '|---|--:|--:|--:|--:|--:|--:|--:|\n'
}

# A row about the log, under that name. What it is relative to stands in `unit_…`.
print_row() {
    local bytes session bblock
    bytes=$(stat -c %s "$log")
    session=$(measure -t nquads)
    bblock=$(measure -m bblock -t ntriples)
    if [ "$1" = unit ]; then
        unit_session=$(awk -v bytes="$bytes" '{ print $1 / bytes }' <<<"$session")
        unit_bblock=$(awk -v bytes="$bytes" '{ print $1 / bytes }' <<<"$bblock")
        return
    fi
    awk -v name="$1" -v bytes="$bytes" -v unit_session="$unit_session" -v unit_bblock="$unit_bblock" '{
        printf "| %s | %.1f | %.2f s | %.2f | %d MiB | %.2f s | %.2f | %d MiB |\n", name, bytes / 1e6,
            $1, $1 / bytes / unit_session, $2 / 1024, $3, $3 / bytes / unit_bblock, $4 / 1024
    }' <<<"$session $bblock"
}

workload 100 >"$log"
print_row unit
print_header
for size in "${sizes[@]}"; do
    workload "$size" >"$log"
    print_row 'small messages'
done

# A line of Docker's for each message, and one that comes in pieces of 16 KiB. The first is to take at most twice as long for a
# message as the plain log.
docker() {
    python3 -c '
import json, sys
for line in sys.stdin:
    for at in range(0, len(line), 16384):
        print(json.dumps({"log": line[at:at + 16384], "stream": "stdout", "time": "2026-01-05T10:00:00.123456789Z"}))
'
}
workload 100 | docker >"$log"
print_row 'the 100 MB in the log of Docker'

{
    printf '{"jsonrpc":"2.0","id":1,"result":['
    workload 100 | paste -sd,
    printf ']}'
} | tr -d '\n' >"$log"
print_row 'one message: the 100 MB as an array'

{
    printf '{"jsonrpc":"2.0","id":1,"result":['
    seq -s, 1000000
    printf ']}'
} | tr -d '\n' >"$log"
print_row 'one message: an array of 1,000,000 numbers'
