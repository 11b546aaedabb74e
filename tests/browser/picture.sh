#!/usr/bin/env bash
# Makes examples/report.png, the picture of a page in README: RPCGRAPH_BROWSER=FOLDER tests/browser/picture.sh [RPCGRAPH]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"${1:-target/release/rpcgraph}" report examples/mcp-session.ndjson -o "$folder/page.html"
node tests/browser/look.mjs "$(command -v chromium)" "$folder/page.html" "$folder" >"$folder/seen.json"
cp "$folder/sequence-1280-light.png" examples/report.png
