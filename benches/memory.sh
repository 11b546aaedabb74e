#!/usr/bin/env bash
# Peak memory and CPU time of `convert` at default options for logs that are made to take memory: a table, and a failure
# where one takes more than 1 GiB.
#
#   benches/memory.sh [MB [ARGUMENT]...]     MB is 64 where it is not given; arguments of `convert`, such as -t turtle
#
# Needs Linux and python3. benches/support/hostile.py says what the logs are.
set -euo pipefail
cd "$(dirname "$0")/.."

megabytes=${1:-64}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RPCGRAPH:-}" ]; then
    cargo build --release --locked --quiet
    RPCGRAPH=$target/release/rpcgraph
fi
folder=$(mktemp -d "$target/memory.XXXXXX")
trap 'rm -rf "$folder"' EXIT

status=0
echo '| log | MB | peak memory | times the log | CPU |'
echo '|---|--:|--:|--:|--:|'
for kind in $(benches/support/hostile.py); do
    benches/support/hostile.py "$kind" "${megabytes}000000" >"$folder/log"
    # 1: records are malformed, which is said; 2: nothing is JSON-RPC.
    read -r _ cpu peak < <(WORST=2 python3 benches/support/timed.py "$RPCGRAPH" convert --quiet "${@:2}" "$folder/log" 2>/dev/null || true)
    [ -n "${peak:-}" ] || { echo "| $kind | $megabytes | failed | | |" && status=1 && continue; }
    awk -v kind="$kind" -v megabytes="$megabytes" -v peak="$peak" -v cpu="$cpu" \
        'BEGIN { printf "| %s | %d | %d MiB | %.1f | %.1f s |\n", kind, megabytes, peak / 1024, peak * 1024 / megabytes / 1e6, cpu }'
    [ "$peak" -le $((1 << 20)) ] || { echo "$kind: more than 1 GiB" >&2 && status=1; }
done
exit $status
