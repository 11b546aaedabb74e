//! The cost of a schema: an upper bound of the steps that validation takes for each byte of a value.

use regex::RegexBuilder;
use serde_json::Value;

use super::references::percent_decode;

/// The maximum cost of a schema.
const MAX_COST: u64 = 100_000;
/// The maximum nesting of a schema, with the schemas that it refers to.
const MAX_NESTING: u8 = 64;
/// The sizes of compiled patterns with counted repetitions, as powers of two, in bytes. A state takes about 32 bytes.
const PATTERN_SIZES: std::ops::RangeInclusive<u8> = 12..=17;
/// `boon` compares the elements of an array of up to 20 elements pairwise.
const UNIQUE_ITEMS: u64 = 20;

/// Returns the cost of a schema: the number of its values, where a reference counts as its target. Such a value applies
/// to each part of the validated value at most once. `None` if a reference leads back to itself or to another document,
/// or the cost is unlimited for another reason.
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
        // An unresolved reference is an error when the schema is compiled.
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

/// Returns the number of states of a pattern; `None` if repetitions multiply it.
fn cost_of_pattern(pattern: &str) -> Option<u64> {
    if !pattern.contains('{') {
        return Some(pattern.len() as u64 + 1);
    }
    // As `boon` translates them.
    let pattern = pattern.replace(r"\d", "[0-9]").replace(r"\w", "[0-9A-Za-z_]");
    let fits = |power: &u8| RegexBuilder::new(&pattern).size_limit(1 << power).build().is_ok();
    PATTERN_SIZES.into_iter().find(fits).map(|power| 1 << (power - 5))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_cost_what_their_repetitions_multiply() {
        for (pattern, least, most) in [
            ("^[a-z]+$", 9, 9),
            (r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$", 128, 256),
            ("^0x[0-9a-f]{64}$", 128, 512),
            ("^[0-9a-f]{1024}$", 1024, 4096),
        ] {
            let cost = cost_of_pattern(pattern).unwrap();
            assert!((least..=most).contains(&cost), "{pattern}: {cost}");
        }
        assert_eq!(cost_of_pattern("((a{99}){99}){99}"), None);
    }

    #[test]
    fn references_cost_what_they_lead_to() {
        let schema = json!({ "items": { "$ref": "#/$defs/a" }, "$defs": { "a": { "enum": [1, 2] } } });
        // The schema, items, $defs, and twice the definition with its enum.
        assert_eq!(of(&schema), Some(3 + 2 * 4));
        let recursive = json!({ "items": { "$ref": "#" } });
        let through_others = json!({ "$ref": "#/a", "a": { "$ref": "#/b" }, "b": { "not": { "$ref": "#/a" } } });
        let elsewhere = json!({ "$ref": "other.json" });
        let with_base = json!({ "properties": { "a": { "$id": "b/", "$ref": "#/c" } } });
        for schema in [recursive, through_others, elsewhere, with_base, json!({ "format": "regex" })] {
            assert_eq!(of(&schema), None, "{schema}");
        }
        assert!(of(&json!({ "properties": { "$ref": {}, "id": { "type": "string" }, "format": {} } })).is_some());
    }
}
