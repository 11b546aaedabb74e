//! Logs, or a store of them, over HTTP: the page that shows them, and a SPARQL endpoint.
//!
//! ```text
//! connection → gate → page
//!                   ↘ SPARQL request → query, on a thread of its own → answer, as it is found
//! ```
//!
//! Who asks has to know a random token, which [`Server::url`] has; a browser swaps it for a cookie. `Host` and `Origin` have
//! to be the server's own, so that no page of another site gets at it, whatever it makes a name of its own stand for. Nothing
//! is changed, no other server called, no file read that the logs are not in. Connections, threads and bodies are limited in
//! number and size, and queries in time, memory and rows. A connection that has not shown the token keeps no place from one that
//! has. What a query does without looking at data cannot be ended: where such a one takes too much memory, all of the server
//! ends, so who runs it does that in a process of its own and begins it again ([`Server::into_door`]).

mod answer;
mod body;
mod connection;
mod gate;
mod media;
mod pages;
mod protocol;

use std::collections::BTreeSet;
use std::error::Error;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use self::gate::Gate;
use self::pages::Page;
use crate::log::convert::STACK;
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

/// What is served.
pub struct Site {
    /// What there is at first.
    pub content: Content,
    /// Gives what there is later; without it, that stays what it is.
    pub renew: Option<Box<Renew>>,
    /// The IRI that those in queries are relative to.
    pub base: Option<String>,
    /// What queries may use.
    pub limits: Limits,
}

/// A server that listens, and serves nothing yet: who connects waits.
pub struct Server {
    runtime: Runtime,
    listener: tokio::net::TcpListener,
    gate: Gate,
}

/// What connections share.
struct Shared {
    gate: Gate,
    live: RwLock<Arc<Live>>,
    renew: Option<Arc<Mutex<Box<Renew>>>>,
    base: Option<String>,
    limits: Limits,
    ask: Page,
    /// Queries that may run at a time.
    slots: Arc<Semaphore>,
    /// How many queries there were.
    asked: AtomicU64,
    /// The queries that run, by their numbers: first those whose time is not up.
    running: std::sync::Mutex<BTreeSet<(bool, u64)>>,
    /// A query goes beyond the memory that it may take and cannot be ended.
    exhausted: Notify,
}

/// The content as it is now.
struct Live {
    data: Data,
    report: Option<Page>,
    /// Bytes of memory that queries may not go beyond together.
    memory: u64,
}

impl Live {
    fn new(Content { data, report }: Content, limits: Limits) -> Arc<Self> {
        let memory = resident_bytes().unwrap_or_default().saturating_add(limits.memory);
        Arc::new(Self { data, report: report.map(Page::report), memory })
    }
}

impl Shared {
    /// The content, as new as it can be without waiting for another request that makes it anew.
    async fn live(self: &Arc<Self>) -> Arc<Live> {
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

    fn running(&self) -> MutexGuard<'_, BTreeSet<(bool, u64)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that run queries, those among them that could not be ended.
const THREADS: usize = 64;
/// Connections that the system keeps until there is a place for them, if it keeps so many; of more, it would end some.
const BACKLOG: u32 = 8192;

impl Server {
    /// Listens at an address, of which the port may be 0: any that is free.
    ///
    /// # Errors
    ///
    /// The system has no such address, or the port is taken; or it gives no random bytes.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let runtime = runtime()?;
        let entered = runtime.enter();
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A port whose server has ended is free; elsewhere than on Unix this would share one that is not.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        drop(entered);
        let gate = Gate::new(listener.local_addr()?)?;
        Ok(Self { runtime, listener, gate })
    }

    /// What another process needs to go on as this server: the socket and the token.
    ///
    /// # Errors
    ///
    /// The system does not let go of the socket.
    pub fn into_door(self) -> io::Result<(TcpListener, String)> {
        Ok((self.listener.into_std()?, self.gate.token()))
    }

    /// The server that has this door.
    ///
    /// # Errors
    ///
    /// The socket does not listen.
    pub fn at_door(listener: TcpListener, token: String) -> io::Result<Self> {
        let runtime = runtime()?;
        let gate = Gate::with_token(listener.local_addr()?, token);
        listener.set_nonblocking(true)?;
        let entered = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        drop(entered);
        Ok(Self { runtime, listener, gate })
    }

    /// Where it is, for a browser: with the token.
    pub fn url(&self) -> String {
        self.gate.url()
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    ///
    /// The system does not let it; or a query took more memory than it may and could not be ended.
    pub fn run(self, site: Site) -> io::Result<()> {
        let Site { content, renew, base, limits } = site;
        // With two, one query that takes long does not keep others waiting.
        let slots = crate::log::convert::processors().max(2);
        let shared = Arc::new(Shared {
            gate: self.gate,
            live: RwLock::new(Live::new(content, limits)),
            renew: renew.map(|renew| Arc::new(Mutex::new(renew))),
            base,
            limits,
            ask: Page::ask(),
            slots: Arc::new(Semaphore::new(slots)),
            asked: AtomicU64::new(0),
            running: std::sync::Mutex::default(),
            exhausted: Notify::new(),
        });
        self.runtime.block_on(async {
            let exhausted = shared.exhausted.notified();
            let accepting = tokio::spawn(connection::accept(self.listener, Arc::clone(&shared)));
            exhausted.await;
            // Who comes now is for the next process; those who wait are told.
            accepting.abort();
            sleep(Duration::from_millis(200)).await;
        });
        self.runtime.shutdown_background();
        Err(io::Error::other("a query took more memory than --max-memory allows and could not be ended"))
    }
}

fn runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().max_blocking_threads(THREADS).thread_stack_size(STACK).build()
}
