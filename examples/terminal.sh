#!/usr/bin/env bash
# Draws what a terminal shows of the example log: `examples/terminal.sh > examples/terminal.svg`
set -euo pipefail
cd "$(dirname "$0")/.."
rpcgraph=${RPCGRAPH:-target/release/rpcgraph}

run() {
    printf '\033[1m$ rpcgraph %s\033[0m\n' "$*"
    "$rpcgraph" "$@" --quiet --color always
    echo
}

{
    run examples/mcp-session.ndjson
    run errors examples/mcp-session.ndjson --columns message,method,code,error
    run ask tool-failures examples/mcp-session.ndjson --columns answer,tool,reason
} | awk '
    {
        gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); gsub(/>/, "\\&gt;")
        gsub(/\033\[1m/, "<tspan class=\"command\">"); gsub(/\033\[31m/, "<tspan class=\"failed\">")
        gsub(/\033\[0m/, "</tspan>")
        lines[NR] = $0
    }
    END {
        # The last line is empty.
        height = 18 * NR + 24
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"940\" height=\"%d\" viewBox=\"0 0 940 %d\">\n", height, height
        print "<style>text{font:14px ui-monospace,monospace;fill:#d8dee9;white-space:pre}.command{font-weight:bold;fill:#fff}.failed{fill:#ff6b68}</style>"
        print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e222a\"/>"
        for (line = 1; line < NR; line++) printf "<text x=\"16\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", 18 * line + 12, lines[line]
        print "</svg>"
    }'
