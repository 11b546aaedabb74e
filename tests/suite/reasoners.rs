//! Reasoners on what is converted: owlrl, and HermiT where Java is.

use std::error::Error;
use std::path::{Path, PathBuf};

use oxrdf::Triple;

use crate::support::{own, tool};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Writes a session with whatever JSON-RPC would not have to a folder, and lets owlrl close it under the ontologies. Returns
/// what owlrl infers, and the ontologies and the session in one file. owlrl is where pySHACL is.
fn broken_session(folder: &Path) -> Outcome<(String, PathBuf)> {
    let log = concat!(
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"}],"isError":true}}"#,
        "\n",
        r#"{"id":1,"error":"no"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"clientInfo":{"name":"a"},"capabilities":{"window":{"showDocument":{}}}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","version":1,"diagnostics":[{"message":"m"}]}}"#,
        "\n[]\n{}\n"
    );
    let graph = folder.join("session.nt");
    let quads = crate::support::convert(log.as_bytes());
    let lines: String = quads.into_iter().map(|quad| format!("{} .\n", Triple::from(quad))).collect();
    std::fs::write(&graph, lines)?;
    let script = "
import sys, rdflib, owlrl
graph = rdflib.Graph()
for file in sys.argv[1:]:
    graph.parse(file)
# HermiT takes one ontology, in RDF/XML.
one = rdflib.Graph() + graph
for header in list(one.subjects(rdflib.RDF.type, rdflib.OWL.Ontology)):
    one.remove((header, None, None))
one.serialize(sys.argv[-1] + '.owl', format='xml')
owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
jrpc = rdflib.Namespace('http://json-rpc.org/ontology#')
print(sorted((subject.split('#')[-1], str(value)) for subject, value in graph.subject_objects(jrpc.hasVersion)))
print([str(value) for predicate, value in graph.predicate_objects() if str(predicate).endswith('#error')])
print([subject for subject in graph.subjects(rdflib.RDF.type, rdflib.OWL.Nothing) if subject != rdflib.OWL.Nothing])
";
    let ontologies = ["json-rpc", "rpcgraph", "lsp", "alignment"].map(|name| own(&format!("ontology/{name}.ttl")));
    let python = tool("RPCGRAPH_PYSHACL", &["pyshacl"]).with_file_name("python3");
    let mut python = std::process::Command::new(python);
    let output = python.args(["-c", script]).args(ontologies).arg(&graph).output()?;
    let said = String::from_utf8(output.stdout)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((said, graph.with_extension("nt.owl")))
}

/// No axiom infers of a message that breaks the protocol what it does not say, or that it cannot be.
#[test]
#[ignore = "needs pySHACL"]
fn a_broken_session_gains_no_false_triple_beside_pyshacl() -> Outcome {
    let (inferred, _) = broken_session(tempfile::tempdir()?.path())?;
    assert_eq!(inferred, "[('m1', '1.0'), ('m2', '2.0'), ('m4', '2.0'), ('m5', '2.0')]\n[]\n[]\n");
    Ok(())
}

/// HermiT refuses literals of datatypes that OWL 2 does not know, rdf:JSON among them, without an option to ignore them.
#[test]
#[ignore = "needs pySHACL, Java and HermiT.jar in the folder that RPCGRAPH_HERMIT names"]
fn a_broken_session_is_consistent_for_hermit() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (_, ontology) = broken_session(folder.path())?;
    let mut classes = tool("RPCGRAPH_HERMIT", &[]).into_os_string();
    let jar = Path::new(&classes).join("HermiT.jar");
    classes.push(":");
    classes.push(jar);
    let mut java = std::process::Command::new("java");
    java.arg("-cp").arg(classes).args(["org.semanticweb.HermiT.cli.CommandLine", "--ignoreUnsupportedDatatypes", "-k"]);
    let output = java.arg(format!("file://{}", ontology.display())).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("owl#Thing is satisfiable."), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
