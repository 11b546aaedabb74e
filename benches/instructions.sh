#!/usr/bin/env bash
# Counts the instructions that conversions of a fixed log and questions about it take, and fails where one takes over 10 %
# more than benches/instructions.txt says. Counts do not depend on what else the machine does, as times would.
#
#   benches/instructions.sh               compares
#   benches/instructions.sh --update      writes down what is counted now, as the figures to compare with
#
# Needs valgrind. Another compiler makes other instructions, so figures of another compiler or target are printed and not
# judged.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

tolerance=10 # percent
told_bar=25 # percent
messages=2000
figures=benches/instructions.txt
# Prints the number of statements that a conversion writes: the cost of protocols is compared with the statements they add.
statements() {
    "$target/release/rpcgraph" convert --quiet --base https://example.org/log --to nquads --protocol "$1" "$folder/log.ndjson" | wc -l
}
# The cost of inferring senders is the difference between the last two: their logs differ only in methods.
# All but one are counted with `--protocol none`.
cases=(
    'bblock to ntriples' 'session to nquads' 'session to turtle' 'session to nquads, protocols told'
    'session to nquads, senders unknown' 'session to nquads, senders inferred' 'requests by method' 'timeline'
)
by_method='SELECT ?method (COUNT(*) AS ?count) { ?request a jrpc:Request ; jrpc:hasMethod ?method } GROUP BY ?method'

case ${1:-} in
    '' | --update) mode=${1:-compare} ;;
    *) echo "usage: $0 [--update]" >&2 && exit 2 ;;
esac
. benches/support/callgrind.sh
rustc --edition 2024 -O -o "$folder/workload" benches/workload.rs
"$folder/workload" "$messages" >"$folder/log.ndjson"
sed 's#tools/call#tools/l_st#; s#notifications/progress#notifications/messag_#' "$folder/log.ndjson" >"$folder/unknown.ndjson"
sed 's#tools/call#tools/list#; s#notifications/progress#notifications/message#' "$folder/log.ndjson" >"$folder/inferred.ndjson"

# Prints the instructions for one message, once the program has started: for the log, less those for its first message
# alone: count_message LOG COMMAND OPTION...
count_message() {
    local all one
    head -n 1 "$folder/$1.ndjson" >"$folder/one.ndjson"
    all=$(count 0 "${@:2}" "$folder/$1.ndjson")
    one=$(count 0 "${@:2}" "$folder/one.ndjson")
    echo $(((all - one) / (messages - 1)))
}

compiler=$(rustc -vV | awk '/^host:/ { host = $2 } NR == 1 { version = $0 } END { print version, host }')
known=$(sed -n 's/^compiler: //p' "$figures" 2>/dev/null || true)
new="# Instructions for each message, as benches/instructions.sh counts them.
compiler: $compiler"

status=0
outdated=no
for case in "${cases[@]}"; do
    log=log && conversion=${case%%,*}
    protocol=none
    case $case in
        *', senders '*) log=${case#*, senders } ;;
        *', protocols told') protocol=auto ;;
    esac
    case $case in
        'requests by method') command=(query --query "$by_method") ;;
        timeline) command=(timeline) ;;
        *) command=(convert --mapping "${conversion% to *}" --to "${conversion#* to }" --protocol "$protocol") ;;
    esac
    now=$(count_message "$log" "${command[@]}")
    new+=$'\n'"$case: $now"
    before=$(sed -n "s/^$case: //p" "$figures" 2>/dev/null || true)
    verdict=''
    if [ "$mode" = compare ] && [ -n "$before" ]; then
        percent=$(awk "BEGIN { printf \"%+.1f\", ($now / $before - 1) * 100 }")
        verdict=", $percent % from $before"
        if [ "$compiler" != "$known" ]; then
            verdict+=', not judged'
        elif [ $((now * 100)) -gt $((before * (100 + tolerance))) ]; then
            verdict+=': too many'
            status=1 outdated=yes
        elif [ $((now * 100)) -lt $((before * (100 - tolerance))) ]; then
            verdict+=': better than the figure by far'
            outdated=yes
        fi
    fi
    case $case in
        'session to nquads') untold=$now ;;
        # The limit on the extra cost of protocols is $told_bar percent; the actual cost is that of the statements they add.
        *', protocols told')
            verdict+=$(awk "BEGIN { printf \", %+.1f %% over untold (at most $told_bar is wanted)\", ($now / $untold - 1) * 100 }")
            verdict+=$(awk "BEGIN { printf \", for %+.1f %% statements\", ($(statements auto) / $(statements none) - 1) * 100 }")
            ;;
    esac
    echo "$case: $now instructions for each message$verdict"
done

if [ "$mode" = --update ]; then
    echo "$new" >"$figures"
    exit
fi
if [ "$compiler" != "$known" ]; then
    echo "not judged: $figures has the figures of ${known:-no compiler}, this is $compiler"
elif [ "$outdated" = yes ]; then
    echo "if that is meant: benches/instructions.sh --update, and say in the commit what the instructions pay for"
fi
exit $status
