"""N-Triples of one JSON-LD document with rdflib: rdflib_document.py DOCUMENT"""

import sys

from rdflib import Graph

graph = Graph()
graph.parse(sys.argv[1], format="json-ld")
graph.serialize(sys.stdout.buffer, format="nt", encoding="utf-8")
