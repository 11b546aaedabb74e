//! The data that connections share, and the limits of their queries.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::gate::Gate;
use super::pages::StaticPage;
use crate::query::{Dataset, Loading, Query, resident_bytes};

/// The limits of a query.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time from the start of the query to the end of its answer.
    pub time: Duration,
    /// The memory beyond what the process uses when it starts to serve, in bytes.
    pub memory: u64,
    /// The number of rows or triples in its answer.
    pub rows: u64,
}

/// Fills an empty dataset with the triples of the logs that a query needs.
pub type LoadTriples = dyn Fn(&mut Loading<'_>, &Query) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync;

/// The queried data.
pub enum ServedData {
    /// Sessions in a store that was opened for reading.
    Stored(Dataset),
    /// Logs.
    Logs {
        /// All logs, filled as [`Dataset::of_everything`].
        all: Dataset,
        /// Reads the logs again, for queries that distinguish graphs or need data that is loaded only on demand.
        load: Box<LoadTriples>,
    },
}

/// The content of a server.
pub struct ServedContent {
    /// The queried data.
    pub data: ServedData,
    /// The page that shows the logs ([`Report::served`](crate::report::Report::served)). Without it, the query form is
    /// the first page.
    pub report: Option<Vec<u8>>,
}

/// Returns the new content if the logs have changed. Called before each request is answered, one call at a time.
pub type RenewContent = dyn FnMut() -> Option<ServedContent> + Send;

/// The data shared by connections.
pub(super) struct SharedState {
    pub gate: Gate,
    pub live: RwLock<Arc<LiveContent>>,
    pub renew: Option<Arc<Mutex<Box<RenewContent>>>>,
    pub base: Option<String>,
    pub worker: Option<PathBuf>,
    pub limits: Limits,
    pub ask: StaticPage,
    /// The slots for concurrent queries.
    pub slots: Arc<Semaphore>,
    /// The number of queries so far.
    pub asked: AtomicU64,
    /// The running queries by number, those within their time limit first.
    pub running: std::sync::Mutex<BTreeSet<(bool, u64)>>,
    /// Notifies that a query exceeds the memory limit and cannot be cancelled.
    pub exhausted: Notify,
}

/// The current content.
pub(super) struct LiveContent {
    pub data: ServedData,
    pub report: Option<StaticPage>,
    /// The memory limit of all queries together, in bytes.
    pub memory: u64,
}

impl LiveContent {
    pub fn new(ServedContent { data, report }: ServedContent, limits: Limits) -> Arc<Self> {
        let memory = resident_bytes().unwrap_or_default().saturating_add(limits.memory);
        Arc::new(Self { data, report: report.map(StaticPage::report), memory })
    }
}

impl SharedState {
    /// Returns the content, as new as possible without waiting for another request that renews it.
    pub async fn live(self: &Arc<Self>) -> Arc<LiveContent> {
        if let Some(Ok(mut renew)) = self.renew.as_ref().map(|renew| Arc::clone(renew).try_lock_owned()) {
            let shared = Arc::clone(self);
            let renewed = spawn_blocking(move || {
                if let Some(content) = renew() {
                    *shared.live.blocking_write() = LiveContent::new(content, shared.limits);
                }
            });
            // A longer renewal serves later requests.
            let _ = timeout(self.limits.time, renewed).await;
        }
        Arc::clone(&*self.live.read().await)
    }

    pub fn running(&self) -> MutexGuard<'_, BTreeSet<(bool, u64)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
