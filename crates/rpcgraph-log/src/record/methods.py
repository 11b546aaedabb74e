#!/usr/bin/env python3
"""Prints methods.txt: the methods of published protocols, the side that sends each, and the protocols that have it.

    src/record/methods.py CORPORA PROTOCOLS >src/record/methods.txt
    src/record/methods.py --sources CORPORA PROTOCOLS      also the files that say so, behind a #

CORPORA has `mcp-spec/schema/REVISION/schema.json` (modelcontextprotocol/modelcontextprotocol); PROTOCOLS has
`lsp/metaModel-*.json` (microsoft/language-server-protocol) and `acp/meta-v*.json` (agentclientprotocol/agent-client-protocol).
What the extension "tasks" of MCP adds is in no schema: it stands below.
A method that both sides send in any version, or different sides in two protocols, has `-` for its side.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path


# https://modelcontextprotocol.io/extensions/tasks
EXTENSIONS = {"tasks/update": {"client"}, "notifications/tasks": {"server"}}


def mcp(file):
    """The members of the unions that say who sends what."""
    schema = json.loads(file.read_text())
    types = schema.get("definitions") or schema["$defs"]
    for side in ("client", "server"):
        for union in (side.capitalize() + "Request", side.capitalize() + "Notification"):
            members = [types[member["$ref"].rsplit("/")[-1]] for member in types.get(union, {}).get("anyOf", [])]
            for member in members or ([types[union]] if union in types else []):
                yield member["properties"]["method"]["const"], side
    # A message of the protocol that is in no union: its sender is not known.
    for name, member in types.items():
        method = member.get("properties", {}).get("method", {}).get("const")
        if method and name.endswith(("Request", "Notification")):
            yield method, None


def lsp(file):
    sides = {"clientToServer": ["client"], "serverToClient": ["server"], "both": ["client", "server"]}
    model = json.loads(file.read_text())
    for message in model["requests"] + model["notifications"]:
        for side in sides[message["messageDirection"]]:
            yield message["method"], side


def acp(file):
    """An agent is the server of an editor; what it handles, the client sends."""
    meta = json.loads(file.read_text())
    sides = {"agentMethods": ["client"], "clientMethods": ["server"], "protocolMethods": ["client", "server"]}
    for table, senders in sides.items():
        for method in meta.get(table, {}).values():
            for side in senders:
                yield method, side


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--sources"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    corpora, protocols = map(Path, arguments)
    readers = {
        "MCP": (mcp, sorted(corpora.glob("mcp-spec/schema/*/schema.json"))),
        "LSP": (lsp, sorted(protocols.glob("lsp/metaModel-*.json"))),
        "ACP": (acp, sorted(protocols.glob("acp/meta-v*.json"))),
    }
    sides = defaultdict(lambda: defaultdict(set))
    sources = defaultdict(set)
    for protocol, (read, files) in readers.items():
        if not files:
            sys.exit(f"no file of {protocol} in {corpora} or {protocols}")
        for file in files:
            for method, side in read(file):
                sides[method][protocol] |= {side} - {None}
                sources[method].add("/".join(file.parts[-2:]))
    for method, senders in EXTENSIONS.items():
        sides[method]["MCP"] = senders
        sources[method].add("extensions/tasks")
    for method, by_protocol in sorted(sides.items(), key=lambda item: item[0].encode()):
        senders = set.union(*by_protocol.values())
        agreed = len(senders) == 1 and all(by_protocol.values())
        line = f"{method} {senders.pop() if agreed else '-'} {','.join(sorted(by_protocol))}"
        print(line + (f" # {' '.join(sorted(sources[method]))}" if "--sources" in sys.argv else ""))


main()
