//! The shapes of a block, in a build without the feature `shacl`: shapes are not checked, and the report says so.

use oxrdf::Triple;
use serde_json::json;

use super::error::BlockError;
use super::library::{Library, shown};
use super::report::{ReportItem, SHAPES_NOT_CHECKED, Section};
use super::shapes_graphs::ShapesGraphs;

/// The names of the shapes, which are not checked.
#[derive(Default)]
pub struct Shapes(Vec<String>);

impl Shapes {
    /// Names the shapes by their URIs. Fails if one is missing or is not Turtle.
    pub fn open(uris: &[String], closures: &[String], library: &Library) -> Result<Self, BlockError> {
        ShapesGraphs::read(uris, closures, library)?;
        Ok(Self(uris.iter().map(|uri| shown(uri)).collect()))
    }

    /// The shapes that are not used, and why.
    pub fn notes(&self) -> Vec<String> {
        let message =
            || format!("shapes are not checked: {} (a build with `--features shacl` does that)", self.0.join(", "));
        if self.0.is_empty() { Vec::new() } else { vec![message()] }
    }

    /// Notes in a report item that the shapes were not checked.
    pub fn check(&self, _: &[Triple], item: &mut ReportItem) {
        for message in self.notes() {
            item.done(Section::Shacl, message, json!({ "op": SHAPES_NOT_CHECKED, "shapes": self.0 }));
        }
    }
}
