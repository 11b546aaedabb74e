#!/usr/bin/env bash
# Measures the release build from nothing: wall time, and three figures, of which none may be over 10 % above benches/build.txt:
# crates, processor time as a ratio to Oxigraph's library alone (same versions, Cargo's default release profile, same run), and the
# size of the binary.
#
#   benches/build.sh               compares
#   benches/build.sh --update      writes the figures to compare with
#
# Needs a target folder without a release build: set CARGO_TARGET_DIR=EMPTY-FOLDER to measure anew.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

tolerance=10 # percent
figures=benches/build.txt
target=${CARGO_TARGET_DIR:-target}
case ${1:-} in
    '' | --update) mode=${1:-compare} ;;
    *) echo "usage: $0 [--update]" >&2 && exit 2 ;;
esac
if [ -e "$target/release" ]; then
    echo "no clean build was made: $target/release has one already"
    [ "$mode" = compare ] || exit 2
    exit
fi

# Seconds of processor time and of wall time, of a command and all that it starts: seconds COMMAND...
seconds() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" >&3 2>&3; } 3>&2 2>&1 | awk '{ printf "%.1f %.0f", $1 + $2, $3 }'
}
cargo fetch --locked --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
version=$(awk '/^name = / { name = $3 } /^version = / && name == "\"oxigraph\"" { print $3 }' Cargo.lock)
mkdir "$folder/src"
touch "$folder/src/lib.rs"
cp Cargo.lock "$folder"
cat >"$folder/Cargo.toml" <<TOML
[package]
name = "oxigraph-alone"
edition = "2024"
[dependencies]
oxigraph = { version = ${version/\"/\"=}, default-features = false }
TOML
measured=$(seconds cargo build --quiet --offline --release --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target")
oxigraph=${measured% *}
measured=$(seconds cargo build --quiet --locked --release --target-dir "$target")
ours=${measured% *} wall=${measured#* }

ratio=$(awk "BEGIN { printf \"%.2f\", $ours / $oxigraph }")
crates=$(cargo tree --locked --edges normal,build --prefix none --format '{p}' | sed 's/ (\*)$//' | sort -u | wc -l)
megabytes=$(wc -c <"$target/release/rpcgraph" | awk '{ printf "%.1f", $1 / 1e6 }')
echo "clean release build: $wall s on $(nproc) cores; $ours s of processor time, Oxigraph's library alone $oxigraph s"
if [ "$mode" = --update ]; then
    printf '%s\n' "# A clean release build, as benches/build.sh measures it." "ratio: $ratio" "crates: $crates" "megabytes: $megabytes" >"$figures"
fi
status=0
for figure in ratio crates megabytes; do
    now=${!figure}
    before=$(sed -n "s/^$figure: //p" "$figures")
    verdict=$(awk "BEGIN { printf \"%+.1f %% from %s\", ($now / $before - 1) * 100, $before; if ($now * 100 > $before * (100 + $tolerance)) printf \": too much\" }")
    [[ $verdict != *': too much' ]] || status=1
    echo "$figure: $now, $verdict"
done
[ "$status" = 0 ] || echo 'if that is meant: benches/build.sh --update with an empty target folder, and say in the commit what the build pays for'
exit $status
