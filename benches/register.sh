#!/usr/bin/env bash
# CPU time of `register` for repositories of building blocks: a table, and a failure where one of 25 blocks takes more than
# 2 seconds.
#
#   benches/register.sh FOLDER...     each a repository; --import URL=DIR where others are needed may stand among them
#
# A program that RPCGRAPH names is measured; else one is built without SHACL. Needs Linux and python3. Each time is the median
# of three runs. Blocks are read, annotated, uplifted and validated; what is elsewhere is not fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

repositories=() options=()
while (($#)); do
    case $1 in
        --import) options+=("$1" "$2") && shift 2 ;;
        *) repositories+=("$1") && shift ;;
    esac
done
target=${CARGO_TARGET_DIR:-target}
if [ -z "${RPCGRAPH:-}" ]; then
    cargo build --release --locked --quiet --config benches/support/released.toml --no-default-features --features cli,register
    RPCGRAPH=$target/release/rpcgraph
fi
folder=$(mktemp -d "$target/register.XXXXXX")
trap 'rm -rf "$folder"' EXIT

status=0
echo '| repository | blocks | files | s | MiB |'
echo '|---|--:|--:|--:|--:|'
for repository in "${repositories[@]}"; do
    run=("$RPCGRAPH" register "$repository" -o "$folder/out" --offline --quiet --base-url https://example.org/build/)
    read -r time memory < <(for _ in 1 2 3; do
        # 1: some of the blocks have faults.
        WORST=1 python3 benches/support/timed.py "${run[@]}" "${options[@]}" 2>/dev/null | cut -d' ' -f2-
    done | sort -g | awk 'NR == 2 { print $1, int($2 / 1024) }')
    blocks=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["bblocks"]))' "$folder/out/register.json")
    files=$(find "$folder/out" -type f | wc -l)
    echo "| $(basename "$repository") | $blocks | $files | $time | $memory |"
    awk -v time="$time" -v blocks="$blocks" 'BEGIN { exit time * 25 > 2 * (blocks > 25 ? blocks : 25) }' || status=1
done
exit $status
