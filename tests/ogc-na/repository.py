"""The contexts that ogc-na makes of the blocks of a repository: `repository.py REPOSITORY REGISTER URL URL=FOLDER...`.

The register is ours, made of the repository for that URL; what a block refers to is taken from it and from the folders that
stand for other registers. One JSON object, contexts by identifier; null where ogc-na makes none.
"""

import json
import sys
import tempfile
from pathlib import Path
from urllib.parse import urljoin

from ogc.na.annotate_schema import ContextBuilder, SchemaAnnotator, SchemaResolver
from ogc.na.util import dump_yaml, load_yaml

repository, register, base = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
sources = base.removesuffix("build/")
folders = {base: register, sources: repository}
folders |= {url + "/": Path(folder) for url, folder in (argument.split("=", 1) for argument in sys.argv[4:])}


def local(location):
    """The file that stands for a URL."""
    for url in sorted(folders, key=len, reverse=True):
        if str(location).startswith(url):
            return folders[url] / str(location).removeprefix(url)
    return location


class Resolver(SchemaResolver):
    def load_contents(self, s):
        file = local(s)
        # What is not here adds nothing, as with us.
        return super().load_contents(file) if isinstance(file, Path) else ({}, False)


def blocks():
    """The blocks of all registers."""
    for folder in folders.values():
        for name in ["register.json", "build/register.json"]:
            if (folder / name).is_file() and folder != repository:
                yield from json.loads((folder / name).read_text())["bblocks"]


schemas, published = {}, {}
for block in blocks():
    url = (block.get("schema") or {}).get("application/yaml")
    if url and block["itemIdentifier"] not in schemas:
        schemas[block["itemIdentifier"]] = url
        published[block.get("sourceSchema")] = url


def whole(value, source):
    """References as URLs, to annotated schemas where there are."""
    if isinstance(value, list):
        return [whole(item, source) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: whole(item, source) for name, item in value.items()}
    reference = value.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        document, _, fragment = reference.partition("#")
        if document.startswith("bblocks://"):
            document = schemas[document.removeprefix("bblocks://")]
        else:
            document = urljoin(source, document)
            document = published.get(document, document)
        value["$ref"] = document + ("#" + fragment if fragment else "")
    return value


def context(block, folder):
    """What ogc-na makes of a block."""
    source, metadata = block.get("sourceSchema"), local(block["sourceFiles"])
    metadata = json.loads((metadata / "bblock.json").read_text())
    schema = local(block["schema"]["application/yaml"])
    # What extends another one is written by the tool around ogc-na.
    if source and not {"extends", "extensionPoints"} & metadata.keys():
        own = local(source).parent / "context.jsonld"
        contents = whole(load_yaml(filename=local(source)), source)
        own = load_yaml(filename=own) if own.is_file() else None
        if own is not None and "@context" not in own:
            own = {"@context": own}
        annotated = SchemaAnnotator(schema_resolver=Resolver()).process_schema(local(source), own, contents)
        schema = folder / "schema.yaml"
        dump_yaml(annotated.schema, filename=schema)
    return ContextBuilder(schema, schema_resolver=Resolver()).context


found = {}
for block in json.loads((register / "register.json").read_text())["bblocks"]:
    if "schema" in block:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found[block["itemIdentifier"]] = context(block, Path(folder))
            except Exception as error:
                print(block["itemIdentifier"], repr(error), file=sys.stderr)
                found[block["itemIdentifier"]] = None
print(json.dumps(found))
