#![doc = include_str!("../README.md")]

pub mod diagnostic;
pub mod json;
pub mod message;
pub mod protocol;
pub mod record;
pub mod redact;
pub mod session;
pub mod vocab;
