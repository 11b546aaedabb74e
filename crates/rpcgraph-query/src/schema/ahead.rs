//! Values that are validated together, after a query took them for valid.

use std::collections::HashMap;

use super::ValidationOutcome;

/// The number of values by one schema that are validated together.
const TOGETHER: usize = 64;
/// The length in bytes of these values.
const LENGTH: usize = 1 << 20;
/// The number of evaluations of a query after which each value is asked about before it counts.
const EVALUATIONS: u8 = 3;

/// The values that a query holds to schemas, by schema.
#[derive(Default)]
pub(super) struct AskedAhead {
    values: HashMap<String, Values>,
    /// The number of evaluations so far.
    evaluations: u8,
    /// True if the current evaluation took an invalid value for valid.
    is_wrong: bool,
}

#[derive(Default)]
struct Values {
    /// Values that count as valid and were not validated.
    open: Vec<String>,
    length: usize,
    /// The outcomes of values that are not valid.
    refused: HashMap<String, ValidationOutcome>,
}

/// Validates values by a schema.
type Validate<'v> = dyn FnMut(&str, &[String]) -> Vec<ValidationOutcome> + 'v;

impl AskedAhead {
    /// Returns the outcome of a value that is known to be refused; any other counts as valid.
    pub fn outcome(&mut self, json: &str, schema: &str, validate: &mut Validate<'_>) -> ValidationOutcome {
        if !self.values.contains_key(schema) {
            self.values.insert(schema.to_owned(), Values::default());
        }
        let Some(values) = self.values.get_mut(schema) else { return Ok(None) };
        if let Some(refused) = values.refused.get(json) {
            return refused.clone();
        }
        values.open.push(json.to_owned());
        values.length += json.len();
        if values.open.len() == TOGETHER || values.length > LENGTH {
            self.is_wrong |= values.validate(schema, validate);
        }
        Ok(None)
    }

    /// Validates the rest. Returns true if the evaluation took nothing for valid that is not.
    pub fn settle(&mut self, validate: &mut Validate<'_>) -> bool {
        for (schema, values) in &mut self.values {
            self.is_wrong |= values.validate(schema, validate);
        }
        self.evaluations += 1;
        !std::mem::take(&mut self.is_wrong)
    }

    /// Returns true if no further evaluation may take values for valid.
    pub fn is_exhausted(&self) -> bool {
        self.evaluations == EVALUATIONS
    }
}

impl Values {
    /// Returns true if a value is not valid.
    fn validate(&mut self, schema: &str, validate: &mut Validate<'_>) -> bool {
        let open = std::mem::take(&mut self.open);
        self.length = 0;
        let outcomes = if open.is_empty() { Vec::new() } else { validate(schema, &open) };
        let refused = open.into_iter().zip(outcomes).filter(|(_, outcome)| *outcome != Ok(None));
        let before = self.refused.len();
        self.refused.extend(refused);
        self.refused.len() > before
    }
}
