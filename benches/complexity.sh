#!/usr/bin/env bash
# Counts the instructions that conversions of hostile logs, and questions, take at n, 2n and 4n, and fails where they grow
# faster than n to the power of 1.3: buffers grow in steps, which make 1 up to 1.2; what is quadratic makes 2. Each log has n times in one
# line, one event or one entry what is mostly there once. benches/growth.py does so for each rule and each question.
#
#   benches/complexity.sh [N]       N is 500 where it is not given
#
# Needs valgrind. The exponent describes the growth, so the cost of starting the program does not count.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

n=${1:-500}
most=1.3
. benches/support/callgrind.sh

# Prints TEXT, with escapes as in printf, TIMES times: repeat TEXT TIMES
repeat() { awk -v text="$1" -v times="$2" 'BEGIN { for (i = 0; i < times; i++) printf "%s", text }'; }

# Text for `repeat`, with the message as it is and in a string.
message='{"jsonrpc":"2.0","method":"a"}'
request='{"jsonrpc":"2.0","id":1,"method":"a"}'
response='{"jsonrpc":"2.0","id":1,"result":1}'
quoted='{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"a\\"}'
# Elements of an array, the last one without a comma: list TEXT TIMES
list() { repeat "$1," $(($2 - 1)) && repeat "$1" 1; }

# A name, the format, and the commands that write a log of $1 parts.
cases=(
    'lengths on a line|content-length|printf x; repeat Content-Length: $1'
    'frames on a line|content-length|repeat "Content-Length: 30$message" $1'
    'lines in an event|sse|printf "data: {\n"; repeat "junk\n" $1; printf "data: }\n\n"'
    'blank before data|sse|printf "data: {}\n"; repeat " data: $message\n" $1'
    'records on a line|mcpsnoop|repeat "{\"session_id\":\"s\",\"direction\":\"c2s\",\"raw\":$message}" $1'
    'records without end|mcpsnoop|repeat "{\"session_id\":\"s\",\"direction\":\"c2s\",\"raw\":$message" $1'
    'wires on a line|mcpspy|repeat "{\"transport_type\":\"http\",\"raw\":\"$quoted\"}" $1'
    'events on a line|lsp-test|repeat "{\"tag\":\"FromClient\",\"contents\":[\"t\",$message]}" $1'
    'entries on a line|claude-desktop|repeat "2025-03-10T17:03:18.764Z [a] [info] Message from client: $message { metadata: undefined }" $1'
    'frames of a socket|har|har "\"_webSocketMessages\":[$(list "{\"type\":\"send\",\"data\":\"$quoted\"}" $1)]"'
    'broken frames|har|har "\"_webSocketMessages\":[$(list "{\"data\":oops},{\"data\":\"$quoted\"}" $1)]"'
    'events told apart|har|har "\"_eventSourceMessages\":[$(list "{\"data\":\"$quoted\"}" $1)]"'
    'events of a body|har|har "\"response\":{\"content\":{\"text\":\"$(repeat "data: $quoted\\\\n\\\\n" $1)\"}}"'
    'answers of a batch|har|har "$(batch $1)"'
    'values without end|learned|printf "$message\n"; repeat "[{\"\":" $1'
    'requests with one id|arrows|repeat ">> $request\n" $1; repeat "<< $request\n" $1; repeat "<< $response\n" $1'
    'requests between|arrows|repeat ">> $request\n<< $request\n" $1; repeat ">> $response\n" $1; repeat "<< $response\n" $1'
)
# An archive with an entry of these members.
har() { printf '{"log":{"entries":[{%s}]}}' "$1"; }
# A request with N messages and the answer to each: batch N
batch() {
    seq "$1" | awk '
        { asked = asked comma "{\\\"id\\\":" $1 ",\\\"method\\\":\\\"a\\\"}"
          answered = answered comma "{\\\"id\\\":" $1 ",\\\"result\\\":1}"; comma = "," }
        END { printf "\"request\":{\"postData\":{\"text\":\"[%s]\"}},\"response\":{\"content\":{\"text\":\"[%s]\"}}", asked, answered }'
}

# Prints the exponent of the growth of three counts, and notes one that is too high: judge NAME COUNT COUNT COUNT
judge() {
    local exponent verdict=''
    exponent=$(awk -v OFMT=%.2f -v a="$2" -v b="$3" -v c="$4" \
        'BEGIN { print (b > a && c > b) ? log((c - b) / (b - a)) / log(2) : 0 }')
    if awk "BEGIN { exit !($exponent > $most) }"; then
        verdict=": grows faster than n to the power of $most"
        status=1
    fi
    echo "$1: ${*:2} instructions, exponent $exponent$verdict"
}

status=0
for case in "${cases[@]}"; do
    IFS='|' read -r name format write <<<"$case"
    counts=()
    for times in 1 2 4; do
        set -- $((n * times))
        eval "$write" >"$folder/log"
        from=(--from "$format")
        [ "$format" != learned ] || from=()
        counts+=("$(count 1 convert --log-lines "${from[@]}" --to nquads "$folder/log")")
    done
    judge "$format, $name" "${counts[@]}"
done
# Questions that join what payloads say, over 8n, 16n and 32n messages of one session. Payloads that fall out of the cache
# are decompressed again, which makes up to 1.3.
most=1.6
rustc --edition 2024 -O -o "$folder/workload" benches/workload.rs
for question in progress operations capabilities; do
    counts=()
    for times in 8 16 32; do
        "$folder/workload" $((n * times)) >"$folder/log"
        counts+=("$(count 0 ask "$question" "$folder/log")")
    done
    judge "ask $question" "${counts[@]}"
done
# Every rule and every question, by processor time. It takes minutes, and some rules may still grow faster than the log: only where
# RPCGRAPH_GROWTH is set.
[ -z "${RPCGRAPH_GROWTH:-}" ] || benches/growth.py "$target/release/rpcgraph" || status=1
exit $status
