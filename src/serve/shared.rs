//! The data that connections share, and the limits of their queries.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::gate::Gate;
use super::pages::Page;
use crate::query::{Dataset, Loading, Query, resident_bytes};

/// What a query may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time from its beginning to the end of its answer.
    pub time: Duration,
    /// Bytes of memory beyond what the process has when it starts to serve.
    pub memory: u64,
    /// Rows, or triples, of its answer.
    pub rows: u64,
}

/// Fills an empty dataset with what a query needs of the logs.
pub type Load = dyn Fn(&mut Loading<'_>, &Query) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync;

/// The data that is asked.
pub enum Data {
    /// Sessions in a store that was opened to be read.
    Stored(Dataset),
    /// Logs.
    Logs {
        /// All of them, as [`Dataset::of_everything`] is filled.
        all: Dataset,
        /// Reads them again, for queries that tell graphs apart or ask for what is made on demand only.
        load: Box<Load>,
    },
}

/// What there is to see and to ask.
pub struct Content {
    /// The data that is asked.
    pub data: Data,
    /// The page that shows the logs ([`Report::served`](crate::report::Report::served)); without it, the page to
    /// ask is the first.
    pub report: Option<Vec<u8>>,
}

/// Gives the content anew where the logs have changed. It is asked before each request is answered, one at a time.
pub type Renew = dyn FnMut() -> Option<Content> + Send;

/// What connections share.
pub(super) struct Shared {
    pub gate: Gate,
    pub live: RwLock<Arc<Live>>,
    pub renew: Option<Arc<Mutex<Box<Renew>>>>,
    pub base: Option<String>,
    pub limits: Limits,
    pub ask: Page,
    /// Queries that may run at a time.
    pub slots: Arc<Semaphore>,
    /// How many queries there were.
    pub asked: AtomicU64,
    /// The queries that run, by their numbers: first those whose time is not up.
    pub running: std::sync::Mutex<BTreeSet<(bool, u64)>>,
    /// A query goes beyond the memory that it may take and cannot be ended.
    pub exhausted: Notify,
}

/// The content as it is now.
pub(super) struct Live {
    pub data: Data,
    pub report: Option<Page>,
    /// Bytes of memory that queries may not go beyond together.
    pub memory: u64,
}

impl Live {
    pub fn new(Content { data, report }: Content, limits: Limits) -> Arc<Self> {
        let memory = resident_bytes().unwrap_or_default().saturating_add(limits.memory);
        Arc::new(Self { data, report: report.map(Page::report), memory })
    }
}

impl Shared {
    /// The content, as new as it can be without waiting for another request that makes it anew.
    pub async fn live(self: &Arc<Self>) -> Arc<Live> {
        if let Some(Ok(mut renew)) = self.renew.as_ref().map(|renew| Arc::clone(renew).try_lock_owned()) {
            let shared = Arc::clone(self);
            let renewed = spawn_blocking(move || {
                if let Some(content) = renew() {
                    *shared.live.blocking_write() = Live::new(content, shared.limits);
                }
            });
            // What takes longer is for those who ask later.
            let _ = timeout(self.limits.time, renewed).await;
        }
        Arc::clone(&*self.live.read().await)
    }

    pub fn running(&self) -> MutexGuard<'_, BTreeSet<(bool, u64)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
