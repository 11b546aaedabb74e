//! The embedded store: Oxigraph, in memory.
//!
//! Messages reach it as triples, never as text, and in one transaction: a store has all of a log or nothing of it.

use oxigraph::store::{StorageError, Store, Transaction};
use oxrdf::Quad;

use crate::sink::{QuadSink, SinkError};

/// Loads quads into a store. They are there after [`StoreSink::commit`], and not before.
///
/// One transaction is the fastest way in, as `benches/store.rs` shows: in memory, Oxigraph's bulk loader inserts quad by
/// quad as well, and wants them owned; sorting saves less than it costs, since a session's triples come subject by
/// subject already.
pub struct StoreSink<'s> {
    transaction: Transaction<'s>,
}

impl<'s> StoreSink<'s> {
    /// A sink into a store.
    pub fn new(store: &'s Store) -> Result<Self, StorageError> {
        Ok(Self { transaction: store.start_transaction()? })
    }

    /// Makes what was loaded visible, all at once.
    pub fn commit(self) -> Result<(), StorageError> {
        self.transaction.commit()
    }
}

impl QuadSink for StoreSink<'_> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        self.transaction.extend(quads.iter().map(Quad::as_ref));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
