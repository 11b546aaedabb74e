#!/usr/bin/env python3
"""Prints published.toml: the names of members, and the words that are values, in the published schemas of MCP, LSP and ACP.

    src/redact/names.py CORPORA PROTOCOLS >src/redact/published.toml

CORPORA and PROTOCOLS are the folders that `src/record/methods.py` describes.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

# Names and words of JSON-RPC, of the extensions of MCP, and of files of messages that no schema has.
names, words = {"jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "processId"}, set()


def schema(node):
    """JSON Schema."""
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            names.update(properties)
        words.update(word for word in [node.get("const"), *node.get("enum", [])] if isinstance(word, str))
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        schema(child)


def meta_model(node):
    """The meta model of LSP."""
    if isinstance(node, dict):
        for member in node.get("properties", []):
            names.add(member["name"])
        if node.get("kind") == "stringLiteral":
            words.add(node["value"])
        values = node.get("values")
        for value in values if isinstance(values, list) else []:
            if isinstance(value.get("value"), str):
                words.add(value["value"])
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        meta_model(child)


corpora, protocols = map(Path, sys.argv[1:])
for file in corpora.glob("mcp-spec/schema/*/schema.json"):
    schema(json.loads(file.read_text()))
    words.add(file.parent.name)
for file in protocols.glob("acp/schema*.json"):
    schema(json.loads(file.read_text()))
for file in protocols.glob("lsp/metaModel-*.json"):
    meta_model(json.loads(file.read_text()))
print("# Made by names.py.")
for key, found in ("members", names), ("words", words):
    listed = ", ".join(json.dumps(word) for word in sorted(found) if re.fullmatch(r"[^\s]+", word))
    lines = textwrap.wrap(listed, 114, break_long_words=False, break_on_hyphens=False)
    print(f"{key} = [", *(f"    {line}" for line in lines), "]", sep="\n")
