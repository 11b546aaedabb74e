# Shared by benches/instructions.sh and benches/complexity.sh: the release build, a folder for logs, and the count.
# Sourced at the top of the project, under `set -euo pipefail`.

if ! command -v valgrind >/dev/null; then
    echo 'valgrind is not installed, so instructions are not counted'
    exit 0
fi

target=${CARGO_TARGET_DIR:-target}
cargo build --release --locked --quiet --config benches/support/released.toml
folder=$(mktemp -d "$target/callgrind.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# Instructions of a command in one thread that ends with a status of at most WORST: count WORST COMMAND ARGUMENT...
count() {
    local worst=$1 said status=0
    said=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$target/release/rpcgraph" "$2" --quiet --jobs 1 --base https://example.org/log "${@:3}" 2>&1 >/dev/null) || status=$?
    [ "$status" -le "$worst" ] || { echo "$said" >&2 && exit 1; }
    sed -n 's/^.*Collected : //p' <<<"$said"
}
