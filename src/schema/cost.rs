//! The cost of a schema: an upper bound of the steps that validation takes for each byte of a value.

use regex::RegexBuilder;
use serde_json::Value;

use super::references::percent_decode;

/// The maximum cost of a schema.
const MAX_COST: u64 = 100_000;
/// The maximum nesting of a schema, with the schemas that it refers to.
const MAX_NESTING: u8 = 64;
/// The maximum size of a compiled pattern with counted repetitions, in bytes, and the cost of such a pattern.
const MAX_PATTERN: usize = 128 << 10;
const PATTERN: u64 = 4000;
/// `boon` compares the elements of an array of up to 20 elements pairwise.
const UNIQUE_ITEMS: u64 = 20;

/// Returns the cost of a schema: the number of its values, where a reference counts as its target. Such a value applies
/// to each part of the validated value at most once. `None` if a reference leads back to itself or to another document,
/// or the cost has no low limit for another reason.
pub fn of(schema: &Value) -> Option<u64> {
    let mut costs = Costs { root: schema, sum: 0, open: Vec::new() };
    costs.add(schema, 0)?;
    Some(costs.sum)
}

struct Costs<'s> {
    root: &'s Value,
    sum: u64,
    /// The JSON Pointers of the references around the current value.
    open: Vec<String>,
}

impl Costs<'_> {
    fn spend(&mut self, cost: u64) -> Option<()> {
        self.sum += cost;
        (self.sum <= MAX_COST).then_some(())
    }

    fn add(&mut self, value: &Value, nesting: u8) -> Option<()> {
        self.spend(1)?;
        match value {
            _ if nesting > MAX_NESTING => None,
            Value::Object(entries) => entries.iter().try_for_each(|(name, value)| self.entry(name, value, nesting)),
            Value::Array(items) => items.iter().try_for_each(|item| self.add(item, nesting + 1)),
            _ => Some(()),
        }
    }

    /// Adds a keyword, a property or a definition.
    fn entry(&mut self, name: &str, value: &Value, nesting: u8) -> Option<()> {
        match (name, value) {
            ("$ref", Value::String(reference)) => return self.target(reference, nesting),
            ("$dynamicRef" | "$recursiveRef", Value::String(_)) => return None,
            // References below it resolve against it.
            ("$id" | "id", Value::String(_)) if nesting > 0 => return None,
            // Compiles patterns of the value.
            ("format", Value::String(format)) if format == "regex" => return None,
            ("pattern", Value::String(pattern)) => self.spend(cost_of_pattern(pattern)?)?,
            ("patternProperties", Value::Object(patterns)) => {
                patterns.keys().try_for_each(|pattern| self.spend(cost_of_pattern(pattern)?))?;
            }
            ("uniqueItems", _) => self.spend(UNIQUE_ITEMS)?,
            _ => {}
        }
        self.add(value, nesting + 1)
    }

    /// Adds the target of a reference.
    fn target(&mut self, reference: &str, nesting: u8) -> Option<()> {
        let pointer = percent_decode(reference.strip_prefix('#').filter(|fragment| fragment.starts_with('/'))?);
        // A reference to nothing is an error when the schema is compiled.
        let Some(target) = self.root.pointer(&pointer) else { return Some(()) };
        if self.open.contains(&pointer) {
            return None;
        }
        self.open.push(pointer);
        self.add(target, nesting + 1)?;
        self.open.pop();
        Some(())
    }
}

fn cost_of_pattern(pattern: &str) -> Option<u64> {
    if !pattern.contains('{') {
        return Some(pattern.len() as u64 + 1);
    }
    RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build().ok().map(|_| PATTERN)
}
