#!/usr/bin/env bash
# Measures the page of a large log: RPCGRAPH_BROWSER=FOLDER benches/report/run.sh LOG [RPCGRAPH]
#
# It is to be made in at most 3 times the processor time that converting the log takes, to show its first screen within 2
# seconds of opening, and to scroll at 50 frames a second.
set -euo pipefail
cd "$(dirname "$0")/../.."
log=$1
rpcgraph=${2:-target/release/rpcgraph}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
TIMEFORMAT='%U s'
echo -n "convert: " && time "$rpcgraph" convert "$log" -t ntriples -o "$folder/graph.nt" --quiet
echo -n "report:  " && time "$rpcgraph" report "$log" -o "$folder/page.html" --quiet
[ -n "${RPCGRAPH_BROWSER:-}" ] && node benches/report/look.mjs "$(command -v chromium)" "$folder/page.html"
