#!/usr/bin/env bash
# Builds the page that opens logs in a browser: static files for any host, and one HTML file.
#
#   web/build.sh [FOLDER]        target/web-site by default
#
# Needs Rust's target wasm32-unknown-unknown, and Node. The tools that it installs stay in the target folder; without them, the exit
# status is 3.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$target/web-tools
site=${1:-$target/web-site}
bindings=$target/web-bindings

version=$(awk '/^name = / { name = $3 } /^version = / && name == "\"wasm-bindgen\"" { gsub(/"/, "", $3); print $3 }' Cargo.lock)
if [ "$("$tools/bin/wasm-bindgen" --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
    install=(cargo install --quiet wasm-bindgen-cli --version "$version" --no-default-features --root "$tools")
    # Builds without the lock file if the registry lacks one of its versions.
    "${install[@]}" --locked || "${install[@]}" || exit 3
fi
if [ ! -x "$tools/node_modules/.bin/wasm-opt" ]; then
    npm install --prefix "$tools" --no-save --no-audit --no-fund binaryen@132.0.0 >&2 || exit 3
fi

# Deep logs and queries need more than the usual megabyte of stack.
cargo rustc --locked --profile web --package rpcgraph-web --target wasm32-unknown-unknown -- -C link-arg=-zstack-size=67108864
"$tools/bin/wasm-bindgen" --target no-modules --no-typescript --out-dir "$bindings" "$target/wasm32-unknown-unknown/web/rpcgraph_web.wasm"
"$tools/node_modules/.bin/wasm-opt" -Os -o "$bindings/small.wasm" "$bindings/rpcgraph_web_bg.wasm"
mv "$bindings/small.wasm" "$bindings/rpcgraph_web_bg.wasm"
node web/build.mjs "$bindings" "$site"
