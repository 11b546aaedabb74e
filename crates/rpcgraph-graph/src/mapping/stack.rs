//! The stack of threads that convert or query.

use std::thread::Builder;

/// Stack of a thread that converts or queries, in bytes. It has room for the deepest nesting of messages under contexts
/// that map every level, and for the largest number of operators in a query. A limit on memory also limits address
/// space, so the stack is at most twice what the tests need. Code that is not optimized needs more.
pub const STACK: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// Returns a builder for a thread that converts or queries.
pub fn deep_thread() -> Builder {
    Builder::new().stack_size(STACK)
}
