//! Logs, or a store of them, over HTTP: the page that shows them, and a SPARQL endpoint.
//!
//! ```text
//! connection → gate → page
//!                   ↘ SPARQL request → query, on a thread of its own → answer, as it is found
//! ```
//!
//! Every client must know a random token, which [`Server::url`] contains: the pages are below the path `/TOKEN/`, and
//! other clients send the token in a header. There is no cookie, since browsers send cookies to every port of a host.
//! `Host` and `Origin` must be the server's own, so that a page of another site cannot reach the server, even if that
//! site's name resolves to the server's address. The server does not change data, call other servers, or read files
//! other than the logs. Connections, threads and bodies are limited in number and size; queries are limited in time,
//! memory and rows. A query that computes without reading data cannot be cancelled. If such a query takes too much
//! memory, the whole server ends, so a caller should run it in a separate process and restart it
//! ([`Server::into_listener`]).

mod answer;
mod body;
mod connection;
mod gate;
mod media;
mod pages;
mod protocol;
mod shared;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use tokio::time::sleep;

pub(crate) use self::body::ResponseBody;
use self::gate::Gate;
use self::pages::StaticPage;
pub use self::shared::{Limits, LoadTriples, RenewContent, ServedContent, ServedData};
use self::shared::{LiveContent, SharedState};
use crate::log::convert::STACK;

/// The content that a server offers, and its limits.
pub struct Site {
    /// The initial content.
    pub content: ServedContent,
    /// Returns newer content; `None` if the content does not change.
    pub renew: Option<Box<RenewContent>>,
    /// The IRI against which relative IRIs in queries resolve.
    pub base: Option<String>,
    /// The worker program for the schemas in queries ([`QuerySchemas::new`](crate::schema::QuerySchemas::new)).
    pub worker: Option<PathBuf>,
    /// The limits of queries.
    pub limits: Limits,
}

/// A server that listens but does not answer yet: connections wait.
pub struct Server {
    runtime: Runtime,
    listener: tokio::net::TcpListener,
    gate: Gate,
}

/// The maximum number of threads that run queries, including queries that could not be cancelled.
const THREADS: usize = 64;
/// The number of connections that the system queues, if it allows that many; it would end some of a longer queue.
const BACKLOG: u32 = 8192;

impl Server {
    /// Listens at an address. Port 0 selects any free port.
    ///
    /// # Errors
    ///
    /// The system does not have such an address, the port is taken, or random bytes are not available.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let runtime = runtime()?;
        let entered = runtime.enter();
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // Allows a port whose server has ended; on systems other than Unix, this would share a port in use.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let listener = socket.listen(BACKLOG)?;
        drop(entered);
        let gate = Gate::new(listener.local_addr()?)?;
        Ok(Self { runtime, listener, gate })
    }

    /// Returns the socket and the token, with which another process can continue as this server.
    ///
    /// # Errors
    ///
    /// The system does not release the socket.
    pub fn into_listener(self) -> io::Result<(TcpListener, String)> {
        Ok((self.listener.into_std()?, self.gate.token()))
    }

    /// Creates a server from a socket and a token.
    ///
    /// # Errors
    ///
    /// The socket does not listen.
    pub fn from_listener(listener: TcpListener, token: String) -> io::Result<Self> {
        let runtime = runtime()?;
        let gate = Gate::with_token(listener.local_addr()?, token);
        listener.set_nonblocking(true)?;
        let entered = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener)?;
        drop(entered);
        Ok(Self { runtime, listener, gate })
    }

    /// The URL of the server for a browser, with the token.
    pub fn url(&self) -> String {
        self.gate.url()
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    ///
    /// The system does not allow it; or a query exceeded its memory limit and could not be cancelled.
    pub fn run(self, site: Site) -> io::Result<()> {
        let Site { content, renew, base, worker, limits } = site;
        // With two slots, one long query does not block others.
        let slots = crate::log::convert::processors().max(2);
        let shared = Arc::new(SharedState {
            gate: self.gate,
            live: RwLock::new(LiveContent::new(content, limits)),
            renew: renew.map(|renew| Arc::new(Mutex::new(renew))),
            base,
            worker,
            limits,
            ask: StaticPage::ask(),
            slots: Arc::new(Semaphore::new(slots)),
            asked: AtomicU64::new(0),
            running: std::sync::Mutex::default(),
            exhausted: Notify::new(),
        });
        self.runtime.block_on(async {
            let exhausted = shared.exhausted.notified();
            let accepting = tokio::spawn(connection::accept(self.listener, Arc::clone(&shared)));
            exhausted.await;
            // New connections are left to the next process; waiting clients get an answer.
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
