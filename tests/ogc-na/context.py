"""The context that ogc-na makes of a schema: `context.py FILE`. The file is annotated in its place."""

import json
import sys
from pathlib import Path

from ogc.na.annotate_schema import ContextBuilder, SchemaAnnotator
from ogc.na.util import dump_yaml

source = Path(sys.argv[1])
schema = SchemaAnnotator().process_schema(source).schema
if source.suffix == ".json":
    source.write_text(json.dumps(schema))
else:
    dump_yaml(schema, filename=source)
print(json.dumps(ContextBuilder(source).context))
