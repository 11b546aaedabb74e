//! Mappings: how an annotated message becomes triples.
//!
//! There is one definition, in two steps that anyone can check: the annotated message is written as JSON-LD
//! ([`Mapper::document`]) and that JSON-LD is expanded as the JSON-LD 1.1 algorithms say ([`Mapper::quads`]).

mod bblock;
mod document;
mod loss;
mod reference;
mod shape;

use std::rc::Rc;

use oxrdf::{GraphName, NamedNode, Quad};

use self::document::{DocumentWriter, Further, session_reference};
pub use self::loss::{Loss, Losses};
pub use self::reference::ReferenceError;
use self::reference::{Blanks, OwnBase, Reference};
use self::shape::Shape;
use crate::context::{self, Context};
use crate::json::{Numbers, Value};
use crate::session::{Annotated, Origin, Session};

/// Which mapping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Sessions, exchanges, times and problems; a named graph for each session; nothing lost.
    #[default]
    Session,
    /// The building block to the letter: every message a document of its own under the context, in the default graph.
    Bblock,
}

/// Maps annotated messages under a list of contexts. Configure, then [`Mapper::start`] an input, then feed.
pub struct Mapper {
    mapping: Mapping,
    provenance: bool,
    /// What a document's `@context` is, but for the base.
    contexts: Vec<serde_json::Value>,
    reference: Reference,
    shape: Rc<Shape>,
    further: Option<Further>,
    /// `--base`, where it is part of the contexts.
    base: Option<String>,
    blanks: Blanks,
    losses: Losses,
    iri: String,
}

impl Mapper {
    /// Processes the built-in contexts and then `further` ones, in order.
    pub fn new(mapping: Mapping, further: &[Context]) -> Result<Self, ReferenceError> {
        let builtin = match mapping {
            Mapping::Session => context::builtin(),
            Mapping::Bblock => &context::builtin()[..1],
        };
        let contexts: Vec<_> = builtin.iter().chain(further).map(|context| context.value().clone()).collect();
        let numbers = match mapping {
            Mapping::Session => Numbers::Exact,
            Mapping::Bblock => Numbers::Rfc8785,
        };
        let reference = Reference::new(&serde_json::Value::Array(contexts.clone()), numbers)?;
        let shape = Shape::new(reference.active().clone());
        let further = (!further.is_empty()).then(|| Further::new(shape.clone(), further));
        Ok(Self {
            mapping,
            provenance: false,
            contexts,
            reference,
            shape,
            further,
            base: None,
            blanks: Blanks::default(),
            losses: Losses::default(),
            iri: String::new(),
        })
    }

    /// Whether to say of each record its line, byte offset and SHA-256.
    #[must_use]
    pub fn with_provenance(mut self, provenance: bool) -> Self {
        self.provenance = provenance;
        self
    }

    /// The mapping.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// Starts an input whose IRI is `iri`. `stated` tells that the user gave it: in `bblock` it is then a context's
    /// `@base`, and otherwise only the document's base, over which the building block's own `@base` goes.
    pub fn start(&mut self, iri: &str, stated: bool) -> Result<(), ReferenceError> {
        let in_context = self.mapping == Mapping::Session || stated;
        self.reference.set_base(iri, if in_context { OwnBase::Loses } else { OwnBase::Wins })?;
        self.base = in_context.then(|| iri.to_owned());
        self.iri = iri.to_owned();
        Ok(())
    }

    /// The graph that the triples of a session of the input are in.
    pub fn graph(&self, session: &Session) -> GraphName {
        match self.mapping {
            Mapping::Session => {
                let reference = session_reference(session.key());
                GraphName::NamedNode(NamedNode::new_unchecked(format!("{}{reference}", self.iri)))
            }
            Mapping::Bblock => GraphName::DefaultGraph,
        }
    }

    /// The same graph's IRI reference, against the input's IRI.
    pub fn graph_reference(&self, session: &Session) -> String {
        session_reference(session.key())
    }

    /// The `@context` of the input's documents: the built-in contexts, the further ones, the base.
    pub fn context(&self) -> serde_json::Value {
        let mut contexts = self.contexts.clone();
        if let Some(base) = &self.base {
            contexts.push(serde_json::json!({ "@base": base }));
        }
        serde_json::Value::Array(contexts)
    }

    /// Appends node objects for a record's annotated messages to a JSON-LD array that is being written, commas between
    /// them.
    pub fn document<'e>(
        &mut self,
        session: &Session,
        nodes: &'e [Annotated<'e>],
        out: &mut String,
    ) -> Result<(), ReferenceError> {
        let mut writer = self.writer(session, out);
        for node in nodes {
            writer.separate();
            writer.node(node)?;
        }
        Ok(())
    }

    /// Appends the node object of a session that has ended.
    pub fn end_document(&mut self, session: &Session, origin: &Origin, out: &mut String) {
        let mut writer = self.writer(session, out);
        writer.separate();
        writer.session_end(&session.end(origin));
    }

    fn writer<'w>(&'w mut self, session: &Session, out: &'w mut String) -> DocumentWriter<'w> {
        DocumentWriter {
            out,
            losses: &mut self.losses,
            further: self.further.as_ref(),
            provenance: self.provenance,
            session: session_reference(session.key()),
        }
    }

    /// Appends the documents that a record is in the mapping `bblock`: its object, or those of its array.
    pub fn plain_document(&mut self, value: &Value<'_>, out: &mut String) -> Result<(), ReferenceError> {
        bblock::write(value, &self.shape, out, &mut self.losses)
    }

    /// Expands node objects, separated by commas, and appends their quads, the triples of a subject together.
    pub fn quads(&mut self, nodes: &str, graph: &GraphName, quads: &mut Vec<Quad>) -> Result<(), ReferenceError> {
        let document = format!("[{nodes}]");
        self.reference.quads(&document, graph, &mut self.blanks, &mut self.losses, quads)
    }

    /// Takes what could not be carried since the last call.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Counts a loss that shows outside the mapping.
    pub fn lose(&mut self, loss: Loss) {
        self.losses.add(loss);
    }
}
