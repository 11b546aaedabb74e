//! A value in an expression.

use std::borrow::Cow;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use oxsdatatypes::Decimal;

use crate::session::triples::ObjectRef;
use crate::sink::columns::TermId;

/// A value in an expression, resolved only as far as needed.
#[derive(Debug, Clone)]
pub(super) enum Operand<'r> {
    Id(TermId),
    /// An `xsd:string`.
    Text(Cow<'r, str>),
    Integer(i64),
    Decimal(Decimal),
    Boolean(bool),
    /// Any other term.
    Term(Term),
}

impl Operand<'_> {
    pub fn into_owned(self) -> Operand<'static> {
        match self {
            Self::Id(id) => Operand::Id(id),
            Self::Text(text) => Operand::Text(text.into_owned().into()),
            Self::Integer(integer) => Operand::Integer(integer),
            Self::Decimal(decimal) => Operand::Decimal(decimal),
            Self::Boolean(truth) => Operand::Boolean(truth),
            Self::Term(term) => Operand::Term(term),
        }
    }

    /// Returns the term, or the number of a term that is in a triple.
    pub fn into_term(self) -> Result<Term, TermId> {
        Ok(match self {
            Self::Id(id) => return Err(id),
            Self::Text(text) => Literal::from(text.into_owned()).into(),
            Self::Integer(integer) => Literal::from(integer).into(),
            Self::Decimal(decimal) => Literal::from(decimal).into(),
            Self::Boolean(truth) => Literal::from(truth).into(),
            Self::Term(term) => term,
        })
    }
}

impl Operand<'static> {
    /// Passes on the value as the object of a triple.
    pub fn with_object(self, take: &mut dyn FnMut(ObjectRef<'_>)) {
        match self {
            Self::Text(text) => take(ObjectRef::Text(&text)),
            Self::Integer(integer) if integer >= 0 => take(ObjectRef::Integer(integer.unsigned_abs())),
            value => {
                let term = value.into_term().ok();
                term.as_ref().and_then(|term| ObjectRef::new(term.as_ref())).into_iter().for_each(take);
            }
        }
    }
}

impl From<Term> for Operand<'_> {
    fn from(term: Term) -> Self {
        let Term::Literal(literal) = &term else { return Self::Term(term) };
        match literal.datatype() {
            xsd::STRING => Self::Text(literal.value().to_owned().into()),
            xsd::INTEGER => literal.value().parse().map_or(Self::Term(term), Self::Integer),
            xsd::DECIMAL => literal.value().parse().map_or(Self::Term(term), Self::Decimal),
            xsd::BOOLEAN => match literal.value() {
                "true" | "1" => Self::Boolean(true),
                "false" | "0" => Self::Boolean(false),
                _ => Self::Term(term),
            },
            _ => Self::Term(term),
        }
    }
}

impl From<Literal> for Operand<'_> {
    fn from(literal: Literal) -> Self {
        Term::from(literal).into()
    }
}
