"""N-Triples of a log with PyLD, a message at a time: pyld_messages.py CONTEXT LOG"""

import json
import re
import sys

from pyld import jsonld

with open(sys.argv[1]) as file:
    options = {"expandContext": json.load(file), "format": "application/n-quads"}
label = re.compile(r"(^|> )_:b(?=\d+ )", re.MULTILINE)
with open(sys.argv[2]) as log:
    for record, line in enumerate(log, 1):
        triples = jsonld.to_rdf(json.loads(line), options)
        # Blank nodes are numbered from 0 in each message.
        sys.stdout.write(label.sub(rf"\1_:m{record}b", triples))
