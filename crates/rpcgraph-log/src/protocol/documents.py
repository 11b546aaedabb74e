#!/usr/bin/env python3
"""Prints documents.txt: where messages of the Language Server Protocol name documents, by their methods.

    src/protocol/documents.py PROTOCOLS >src/protocol/documents.txt

PROTOCOLS has `lsp/metaModel-*.json` (microsoft/language-server-protocol). A line has the method, `params` or `result`, and
paths: members with dots between them, `[]` for the elements of an array, `{}` for the values of an object and `{key}` for
the names of its members. Of results, only reports of diagnostics are listed.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

REPORTS = {"textDocument/diagnostic", "workspace/diagnostic"}
# Folders are not documents.
FOLDERS = {"rootUri"}
# `FileCreate`, `FileRename` and `FileDelete` have strings that are URIs.
STRINGS = {
    f"workspace/{when}{what}Files": members
    for when in ("did", "will")
    for what, members in {"Create": ["uri"], "Rename": ["oldUri", "newUri"], "Delete": ["uri"]}.items()
}


class Model:
    def __init__(self, file):
        self.model = json.loads(file.read_text())
        self.structures = {each["name"]: each for each in self.model["structures"]}
        self.aliases = {each["name"]: each["type"] for each in self.model["typeAliases"]}

    def paths(self, kind, inside=()):
        """Paths to what is a document in a value of that type."""
        match kind["kind"]:
            case "base":
                # Other things have URIs too.
                if kind["name"] == "DocumentUri" or kind["name"] == "URI" and "NotebookDocument" in "".join(inside[-1:]):
                    yield ()
            case "reference" if kind["name"] not in inside:
                name = kind["name"]
                if name in self.structures:
                    yield from self.members(self.structures[name], (*inside, name))
                elif name in self.aliases:
                    yield from self.paths(self.aliases[name], (*inside, name))
            case "array":
                yield from (("[]", *path) for path in self.paths(kind["element"], inside))
            case "map":
                yield from (("{key}", *path) for path in self.paths(kind["key"], inside))
                yield from (("{}", *path) for path in self.paths(kind["value"], inside))
            case "and" | "or" | "tuple":
                for item in kind["items"]:
                    yield from self.paths(item, inside)
            case "literal":
                yield from self.members(kind["value"], inside)

    def members(self, structure, inside):
        for parent in structure.get("extends", []) + structure.get("mixins", []):
            yield from self.paths(parent, inside)
        for member in structure["properties"]:
            yield from ((member["name"], *path) for path in self.paths(member["type"], inside))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = defaultdict(set)
    for file in sorted(Path(sys.argv[1]).glob("lsp/metaModel-*.json")):
        model = Model(file)
        for message in model.model["requests"] + model.model["notifications"]:
            method = message["method"]
            if isinstance(message.get("params"), dict):
                found[method, "params"] |= set(model.paths(message["params"]))
            if method in REPORTS:
                found[method, "result"] |= set(model.paths(message["result"]))
    for method, members in STRINGS.items():
        found[method, "params"] |= {("files", "[]", member) for member in members}
    for (method, part), paths in sorted(found.items()):
        # The document that a message is about comes first.
        named = [".".join(path) for path in sorted(paths, key=lambda path: (len(path), path)) if not FOLDERS & set(path)]
        if named:
            print(method, part, *named)


main()
