# The register as RDF: its prefixes, and an array of triples.
#
# A subject is an IRI, which may be relative, or a blank node (`_:x`). The member of an object says what it is: `node` is an
# IRI or a blank node, `term` a prefixed name, `date` a date or a time, `markdown` a text in Markdown.

def say($subject; $property; object):
  object | [$subject, $property, if type == "string" then { text: . } elif type == "boolean" then { boolean: . } else . end];
def each: if type == "array" then .[] else . end | values;
def node($base): strings | { node: (if contains("://") then . else $base + . end) };

# The members of a register or a block that have a property of their own.
def members($subject):
  def member($name; $property; object): say($subject; $property; .[$name] | each | object);
  def text($name; $property): member($name; $property; strings);
  def markdown($name; $property): member($name; $property; strings | { markdown: . });
  def date($name; $property): member($name; $property; strings | { date: . });
  def link($name; $property; $base): member($name; $property; node($base));
  text("title"; "dct:title"),
  markdown("abstract"; "dct:abstract"),
  markdown("description"; "dct:description"),
  link("status"; "bblocks:status"; "http://www.opengis.net/def/status/"),
  link("scope"; "bblocks:scope"; "http://www.opengis.net/def/bblocks/scope/"),
  text("version"; "dct:hasVersion"),
  date("dateTimeAddition"; "dct:created"),
  date("dateOfLastChange"; "dct:modified"),
  date("modified"; "dct:modified"),
  text("tags"; "dcat:keyword"),
  link("dependsOn"; "bblocks:dependsOn"; "bblocks://"),
  link("isProfileOf"; "prof:isProfileOf"; "bblocks://"),
  link("sourceLdContext"; "bblocks:hasSourceJsonLdContext"; ""),
  member("validationPassed"; "bblocks:validationPassed"; booleans),
  link("validationReport"; "bblocks:hasValidationReport"; ""),
  link("imports"; "owl:imports"; ""),
  link("sparqlEndpoint"; "void:sparqlEndpoint"; ""),
  link("viewerURL"; "foaf:homepage"; ""),
  link("concept"; "skos:closeMatch"; ""),
  link("rdfType"; "rdfs:subClassOf"; ""),
  link("conformanceClasses"; "modspec:class"; ""),
  link("requirementClasses"; "modspec:requirementsClass"; "");

# The files of a block. Where they are of one media type, their names are those of blocks, and of media types elsewhere.
def resources:
  def resource($name; $role; $standard; $format):
    .[$name]
    | if type == "object" then to_entries[] else { key: "", value: . } end
    | .key as $key
    | .value | each | strings
    | { artifact: ., role: "role:\($role)", $standard }
      + if $format == "" then { format: $key, block: "" } else { $format, block: $key } end;
  resource("schema"; "schema"; "https://json-schema.org/draft/2020-12/schema"; ""),
  resource("ldContext"; "mapping"; "https://www.w3.org/TR/json-ld11/"; "application/ld+json"),
  resource("openAPIDocument"; "schema"; "https://spec.openapis.org/oas/v3.1.0.html"; "application/yaml"),
  resource("ontology"; "specification"; "http://www.w3.org/2002/07/owl#Ontology"; "text/turtle"),
  resource("rdfData"; "data"; ""; "text/turtle"),
  resource("shaclShapes"; "validation"; "https://www.w3.org/TR/shacl/"; "text/turtle");

def example($block; $scheme):
  .node as $node
  | say($node; "rdf:type"; { term: ("skos:Concept", "dcat:Dataset") }),
    say($node; "dct:title", "skos:prefLabel"; .title),
    say($node; "dct:description"; .content | values),
    say($node; "dct:isPartOf"; { node: $block }),
    say($node; "skos:inScheme"; { node: $scheme }),
    (.results[] | say($node; "dct:conformsTo"; .schema | node("")), say($node; "dct:source"; .files[:1][].url | node(""))),
    say($node; "dcat:distribution"; .results[].files[].url | node("")),
    (.results[].files[]
      | say(.url; "rdf:type"; { term: "dcat:Distribution" }),
        say(.url; "dcat:downloadURL"; .url | node("")),
        say(.url; "dcat:mediaType"; .mediaType | node("https://www.iana.org/assignments/media-types/")));

def block($scheme):
  def blank($number): "_:\(.key)-\($number)";
  def class: split("-") | map((.[:1] | ascii_upcase) + .[1:]) | join("");
  . as { $id, $entry, $examples }
  | ($id | node("bblocks://").node) as $node
  | [$entry | resources] as $resources
  | say($node; "rdf:type"; { term: ("skos:Concept", "dcat:Dataset", "bblocks:BBlock") }),
    say($node; "rdf:type"; { term: "bblocks:\($entry.itemClass | strings | class)" }),
    say($node; "rdfs:label", "skos:prefLabel"; .name),
    say($node; "dct:identifier"; $id),
    ($entry | members($node)),
    say($node; "skos:inScheme", "skos:topConceptOf"; { node: $scheme }),
    ($entry.sources | each | objects | .title as $title | .link | strings | select((index(":") // 0) > 0)
      | say($node; "dct:source"; { node: . }), say(.; "rdfs:label"; $title | strings)),
    (range($resources | length) as $number
      | blank($number + 1) as $resource
      | $resources[$number]
      | say($node; "prof:hasResource"; { node: $resource }),
        say($resource; "prof:hasArtifact"; { node: .artifact }),
        say($resource; "prof:hasRole"; { term: .role }),
        say($resource; "dct:format"; .format),
        say($resource; "dct:conformsTo"; .standard | select(. != "") | node("")),
        say($resource; "rdfs:seeAlso"; .block | select(. != "") | node("bblocks://"))),
    (([$entry.documentation[]?] | to_entries[]) as $page
      | blank($page.key + 1 + ($resources | length)) as $description
      | say($node; "dct:description"; { node: $description }),
        say($description; "dct:format"; $page.value.mediatype),
        say($description; "rdfs:isDefinedBy"; $page.value.url | node(""))),
    say($node; "dct:hasPart"; $examples[].node | node("")),
    ($examples[] | example($node; $scheme));

def register:
  .scheme as $scheme
  | "Building Blocks - \(.register.name)" as $title
  | say($scheme; "rdf:type"; { term: ("skos:ConceptScheme", "dcat:Catalog", "bblocks:BBlocksRegister") }),
    say($scheme; "rdfs:label", "skos:prefLabel"; $title),
    (.register | members($scheme)),
    say($scheme; "skos:hasTopConcept"; .blocks[].id | node("bblocks://")),
    (.blocks[] | block($scheme));

{
  prefixes: {
    bblocks: "https://www.opengis.net/def/bblocks/",
    dcat: "http://www.w3.org/ns/dcat#",
    dct: "http://purl.org/dc/terms/",
    foaf: "http://xmlns.com/foaf/0.1/",
    modspec: "http://www.opengis.net/def/ont/modspec/",
    owl: "http://www.w3.org/2002/07/owl#",
    prof: "http://www.w3.org/ns/dx/prof/",
    rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    rdfs: "http://www.w3.org/2000/01/rdf-schema#",
    role: "http://www.w3.org/ns/dx/prof/role/",
    shacl: "https://www.w3.org/TR/shacl/",
    skos: "http://www.w3.org/2004/02/skos/core#",
    void: "http://rdfs.org/ns/void#",
    xsd: "http://www.w3.org/2001/XMLSchema#"
  },
  triples: [register]
}
