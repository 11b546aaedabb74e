#!/usr/bin/env bash
# Long runs, as a table: what each took, and what has to be the same. Fails where something is not.
#
#   benches/load.sh [MESSAGES [KILLS]]     10,000,000 messages and 200 kills where they are not given
#
# - MESSAGES through `convert` with one thread and with two: the same bytes, in memory that does not grow with them.
# - 1,000 inputs in one call, and 100 sessions that take turns: as much as there was.
# - `load` into a server, killed at KILLS random moments: then a retry leaves what one clean run does.
#
# Needs Linux, python3, and for the last an Oxigraph server: RPCGRAPH_OXIGRAPH, or what `.ci/run` installs.
# RPCGRAPH names a command to use instead of the release build.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

messages=${1:-10000000}
kills=${2:-200}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RPCGRAPH:-}" ]; then
    cargo build --release --locked --quiet --config benches/support/released.toml
    RPCGRAPH=$target/release/rpcgraph
fi
RPCGRAPH=$(realpath "$RPCGRAPH")
folder=$(mktemp -d "$target/load.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
status=0
failed() { echo "$1" >&2 && status=1; }

echo '| run | wall | CPU | peak memory |'
echo '|---|--:|--:|--:|'
# Runs a command, its output into the pipe or file OUT: row NAME OUT ARGUMENT...
row() {
    local wall cpu
    read -r wall cpu peak < <(python3 -c '
import sys
sys.path.insert(0, "benches/support")
import timed
print(*timed.run(sys.argv[2:], sys.argv[1]))' "$2" "$RPCGRAPH" "${@:3}") || return 1
    awk -v name="$1" -v wall="$wall" -v cpu="$cpu" -v peak="$peak" \
        'BEGIN { printf "| %s | %.1f s | %.1f s | %d MiB |\n", name, wall, cpu, peak / 1024 }'
}

# Requests and their answers, ids that grow, four in flight.
session() {
    awk -v messages="$1" -v key="${2:-}" 'BEGIN {
        for (i = 0; i < messages / 2; i++) {
            printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"echo%s\",\"arguments\":{\"n\":%d}}}\n", i, key, i
            if (i >= 4) answer(i - 4)
        }
        for (i -= 4; i < messages / 2; i++) answer(i)
    }
    function answer(id) { printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%d\"}]}}\n", id, id }'
}

session "$messages" >"$folder/log"
head -n $((messages / 10)) "$folder/log" >"$folder/tenth"
row "$((messages / 10)) messages, one thread" /dev/null convert --quiet -t nquads --jobs 1 "$folder/tenth"
small=$peak
mkfifo "$folder/pipe"
# OpenSSL uses what the processor has for it.
sum=sha256sum
! command -v openssl >/dev/null || sum='openssl dgst -sha256'
for jobs in 1 2; do
    $sum <"$folder/pipe" >"$folder/sum$jobs" &
    summing=$!
    row "$messages messages, threads: $jobs" "$folder/pipe" \
        convert --quiet -t nquads --jobs "$jobs" --base https://example.org/log "$folder/log"
    wait "$summing"
    [ "$peak" -le $((small + 65536)) ] || failed "memory grows: $small KiB for a tenth, $peak KiB for all"
done
cmp "$folder/sum1" "$folder/sum2" || failed 'the output depends on the threads'
rm "$folder/log" "$folder/tenth"

mkdir "$folder/many"
for number in $(seq 1000); do session 100 "$number" >"$folder/many/$number.ndjson"; done
row '1,000 inputs of 100 messages' "$folder/many.nq" convert --quiet -t nquads "$folder"/many/*.ndjson
found=$(grep -c '#hasMethod>' "$folder/many.nq" || true)
[ "$found" = 50000 ] || failed "50,000 requests in 1,000 inputs: $found in the graph"

session 2000 | awk 'BEGIN { quote = "\"" } {
    for (key = 1; key <= 100; key++) {
        direction = /"method"/ ? "c2s" : "s2c"
        print "{\"session_id\":\"s" key "\",\"direction\":\"" direction "\",\"raw\":" $0 "}"
    }
}' >"$folder/interleaved.log"
row '100 sessions of 2,000 messages that take turns' "$folder/interleaved.nq" \
    convert --quiet --from mcpsnoop -t nquads "$folder/interleaved.log"
answered=$(grep -c '#respondsTo>' "$folder/interleaved.nq" || true)
[ "$answered" = 100000 ] || failed "100,000 answers in 100 sessions: $answered with their requests"

oxigraph=${RPCGRAPH_OXIGRAPH:-$target/oxigraph/bin/oxigraph}
if ! command -v "$oxigraph" >/dev/null; then
    echo 'no Oxigraph server: killed loads are not tried' >&2
    exit $status
fi
session 2000 >"$folder/killed.ndjson"
port=$((20000 + RANDOM % 20000))
"$oxigraph" serve --location "$folder/store" --bind "127.0.0.1:$port" >/dev/null 2>&1 &
server=$!
for _ in $(seq 50); do curl -s -o /dev/null "http://127.0.0.1:$port/" && break || sleep 0.1; done
# Sets the arguments of a load into the server: arguments GRAPH-BASE
arguments() {
    local server=http://127.0.0.1:$port
    arguments=(load --quiet --base "$1" --endpoint "$server/query" --update "$server/update"
        --graph-store "$server/store" "$folder/killed.ndjson")
}
graph() { curl -sf -H 'Accept: application/n-triples' "http://127.0.0.1:$port/store?graph=$1" | sed "s|$1|BASE|g" | sort; }
start=$(date +%s%N)
arguments https://example.org/clean
"$RPCGRAPH" "${arguments[@]}" >/dev/null
took=$(($(date +%s%N) - start))
graph https://example.org/clean | sha256sum >"$folder/clean"
arguments https://example.org/killed
died=0
for kill in $(seq "$kills"); do
    # The process itself, and not a shell around it, is what is killed.
    "$RPCGRAPH" "${arguments[@]}" >/dev/null 2>&1 &
    loading=$!
    sleep "$(awk -v took="$took" -v random=$RANDOM 'BEGIN { print took / 1e9 * random / 32768 }')"
    kill -9 "$loading" 2>/dev/null || true
    ended=0
    wait "$loading" 2>/dev/null || ended=$?
    died=$((died + (ended == 137)))
    if [ $((kill % 20)) = 0 ] || [ "$kill" = "$kills" ]; then
        # The server may still be at work on what the killed one sent last, which `load` finds out.
        for _ in 1 2 3; do "$RPCGRAPH" "${arguments[@]}" >/dev/null 2>&1 && break || sleep 1; done
        graph https://example.org/killed | sha256sum | cmp - "$folder/clean" || failed "after $kill kills a retry differs"
    fi
done
[ "$died" -ge $((kills / 4)) ] || failed "of $kills loads, only $died were killed before their end"
echo "$kills loads, $died of them killed before their end, each twentieth retried: $([ $status = 0 ] && echo 'as after a clean run' || echo 'see above')"
exit $status
