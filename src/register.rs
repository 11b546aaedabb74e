//! Registers: a building block's examples in, the same examples uplifted, validated and documented out.
//!
//! A [building block](https://opengeospatial.github.io/bblocks/) is a folder with a JSON-LD context, a JSON Schema and
//! examples. Its register is what the block's authors publish: each example as JSON, JSON-LD and Turtle, a report of
//! what passed, a page, and all of it described in RDF.

pub mod examples;
pub mod yaml;
