#!/usr/bin/env bash
# Peak memory and CPU time at default options for logs that are made to take much of them, at four sizes: a table with
# exponents, and a failure where a run takes more than 1 GiB, or CPU time grows faster than n to the power of 1.5.
#
#   benches/memory.sh [MB [ARGUMENT]...]     MB, the largest of the sizes, is 64 where it is not given; arguments of
#                                            `convert`, such as -t turtle
#
# An exponent is 0 if a log eight times as long takes as much, 1 if it takes eight times as much. For CPU time, it is
# the exponent of the last doubling. Needs Linux and python3. benches/support/hostile.py describes the logs.
set -euo pipefail
cd "$(dirname "$0")/.."

megabytes=${1:-64}
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RPCGRAPH:-}" ]; then
    cargo build --release --locked --quiet --config benches/support/released.toml
    RPCGRAPH=$target/release/rpcgraph
fi
folder=$(mktemp -d "$target/memory.XXXXXX")
trap 'rm -rf "$folder"' EXIT

status=0
echo "| log | peak memory for $((megabytes / 8)), $((megabytes / 4)), $((megabytes / 2)) and $megabytes MB, in MiB | exponent | CPU | exponent |"
echo '|---|--:|--:|--:|--:|'
while read -r kind file command arguments; do
    peaks=() times=()
    [ "$command" != convert ] || arguments+=" ${*:2}"
    for part in 8 4 2 1; do
        benches/support/hostile.py "$kind" $((megabytes * 1000000 / part)) >"$folder/$file"
        # Exit status 1: malformed records are reported; 2: the log has no JSON-RPC, or a graph grows too large.
        # shellcheck disable=SC2086
        read -r _ cpu peak < <(WORST=2 python3 benches/support/timed.py "$RPCGRAPH" "$command" --quiet $arguments "$folder/$file" 2>/dev/null || true)
        peaks+=("${peak:-0}") times+=("${cpu:-0}")
        peak='' cpu=''
        rm "$folder/$file"
    done
    awk -v kind="$kind" -v peaks="${peaks[*]}" -v times="${times[*]}" 'BEGIN {
        split(peaks, peak, " "); split(times, time, " ")
        if (!(peak[1] * peak[2] * peak[3] * peak[4])) { print "| " kind " | failed | | | |"; exit 1 }
        cpu = time[3] > 0.2 ? log(time[4] / time[3]) / log(2) : 0
        printf "| %s | %d, %d, %d, %d | %.1f | %.1f s | %.1f |\n", kind, peak[1] / 1024, peak[2] / 1024, peak[3] / 1024,
            peak[4] / 1024, log(peak[4] / peak[1]) / log(8), time[4], cpu
        exit peak[4] > 1048576 || cpu > 1.5
    }' || { echo "$kind: too much" >&2 && status=1; }
done < <(benches/support/hostile.py)
exit $status
