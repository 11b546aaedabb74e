//! The schemas that queries name, in a build without the feature `schema`: no query can name one.

/// The schemas that a query can use: none.
#[derive(Debug, Default)]
pub(crate) struct QuerySchemas;

impl QuerySchemas {
    /// Returns `None`.
    pub fn violation_by_iri(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    /// Returns `None`.
    pub fn violation(&self, _: Option<&str>, _: &str) -> Option<String> {
        None
    }
}
