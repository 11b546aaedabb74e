//! The mapping `bblock`: a message as it is, under the building block's context. What JSON-LD would obey is taken out.

use std::rc::Rc;

use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::{IriMembers, Rules, Shape};
use crate::json::{Numbers, Value};

/// Numbers as RFC 8785 has them, members as JSON-LD has them.
const RULES: Rules = Rules { numbers: Numbers::Rfc8785, iri_members: IriMembers::Mapped };

/// Appends a record's documents, commas between them.
pub(super) fn write(
    value: &Value<'_>,
    shape: &Rc<Shape>,
    out: &mut String,
    losses: &mut Losses,
) -> Result<(), ReferenceError> {
    match value {
        Value::Array(array) => array.items.iter().try_for_each(|item| write_one(item, shape, out, losses)),
        value => write_one(value, shape, out, losses),
    }
}

fn write_one(
    value: &Value<'_>,
    shape: &Rc<Shape>,
    out: &mut String,
    losses: &mut Losses,
) -> Result<(), ReferenceError> {
    let Value::Object(object) = value else {
        losses.add(Loss::NoObject);
        return Ok(());
    };
    if value.evidence().duplicate_member {
        losses.add(Loss::DuplicateMember);
    }
    if matches!(object.get("id"), Some(Value::Null)) {
        losses.add(Loss::NullId);
    }
    if !out.is_empty() {
        out.push(',');
    }
    out.push('{');
    shape.write_members(&object.members, RULES, out, losses)?;
    out.push('}');
    Ok(())
}
