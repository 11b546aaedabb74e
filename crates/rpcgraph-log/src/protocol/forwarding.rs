//! Requests that cross a gateway: while a client waits for a tool, a resource or a prompt of the gateway, the gateway asks a
//! server for the same.
//!
//! A log shows it if it holds both connections: one other session waits for a use with the same arguments, and with the same
//! name or one with a prefix (`github__search` for `search`). The same trace in both `traceparent`s is proof, and different
//! traces speak against it. Without traces, two clients may happen to ask for the same; then the session as a whole has to look
//! like one behind a gateway ([`InnerSession::is_behind`]), which only the end of the log decides.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::definitions::DefinitionKind;
use super::makers::MakerTerms;
use super::{DigestMap, Maker, TextDigest};
use crate::session::Name;
use crate::vocab::rpcg;

/// The maximum number of forwarded requests in memory, over all sessions; later ones are not linked.
const LINKS: usize = 1 << 18;
/// The maximum number of sessions that are looked at.
const SESSIONS: usize = 1 << 16;
/// The maximum number of uses in memory that wait at once; older ones are forgotten.
const WAITING: usize = 256;
/// The number of uses that show a session to be no gateway's, if most uses do.
const ENOUGH: usize = 16;

pub(super) fn maker() -> MakerTerms {
    MakerTerms::new(Maker::Forwarding, vec![rpcg::FORWARDS], Vec::new())
}

/// A use of a tool, a resource or a prompt, as far as a gateway passes it on unchanged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'t> {
    pub kind: DefinitionKind,
    pub name: &'t str,
    /// The digest of the arguments.
    pub arguments: TextDigest,
    /// The trace of its `traceparent`.
    pub trace: Option<&'t str>,
}

/// A use that waits for its answer.
#[derive(Debug)]
struct WaitingUse {
    request: Name,
    session: (Arc<str>, TextDigest),
    kind: DefinitionKind,
    arguments: TextDigest,
    name: Box<str>,
    trace: Option<Box<str>>,
    /// The use that was sent while this one waited.
    inner: Option<(TextDigest, Name)>,
}

/// A session that may be the connection of a gateway to a server.
#[derive(Debug, Default)]
struct InnerSession {
    /// The number of uses while the same use of another session waited.
    nested: usize,
    /// The number of other uses.
    alone: usize,
    /// True if one shares its trace with the use that waited.
    is_traced: bool,
    /// The session of each request that was forwarded, that request, and the request here.
    links: Vec<(Arc<str>, Name, Name)>,
}

impl InnerSession {
    fn is_alone(&self) -> bool {
        self.alone >= ENOUGH && self.alone > self.nested
    }

    /// True if at least four of five uses are nested in others, and at least two. Where both sessions are with one server,
    /// clients of the same program may do the same at the same time: then at least four, and all of them.
    fn is_behind(&self, is_same_server: bool) -> bool {
        let is_likely = if is_same_server {
            self.nested >= 4 && self.alone == 0
        } else {
            self.nested >= 2 && self.alone * 4 <= self.nested
        };
        self.is_traced || is_likely
    }
}

/// The uses that wait, and the sessions that may be behind gateways.
#[derive(Debug, Default)]
pub(super) struct Forwarding {
    /// The oldest first. There are few, and most end soon.
    waiting: VecDeque<WaitingUse>,
    sessions: DigestMap<InnerSession>,
    links: usize,
}

impl Forwarding {
    /// Notes a use in a session.
    pub fn ask(&mut self, session: &(Arc<str>, TextDigest), request: Name, used: Use<'_>) {
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&session.1) {
            return;
        }
        let may_be = |outer: &&mut WaitingUse| {
            let is_other_trace = || outer.trace.as_deref().zip(used.trace).is_some_and(|(outer, inner)| outer != inner);
            outer.arguments == used.arguments
                && outer.kind == used.kind
                && outer.session.1 != session.1
                && is_name_of(&outer.name, used.name)
                && !is_other_trace()
        };
        let is_traced = |outer: &WaitingUse| used.trace.is_some() && outer.trace.as_deref() == used.trace;
        self.sessions.entry(session.1).or_default();
        let mut outer = Vec::new();
        // Of a single session, none is another's.
        if self.sessions.len() > 1 {
            outer.extend(self.waiting.iter_mut().filter(may_be));
        }
        for is_likely in [&is_traced as &dyn Fn(&WaitingUse) -> bool, &|outer| outer.inner.is_none()] {
            if outer.iter().any(|outer| is_likely(outer)) {
                outer.retain(|outer| is_likely(outer));
            }
        }
        let inner = self.sessions.entry(session.1).or_default();
        match outer.as_mut_slice() {
            [] => inner.alone += 1,
            [outer] => {
                inner.nested += 1;
                inner.is_traced |= is_traced(outer);
                if self.links < LINKS && !inner.is_alone() {
                    self.links += 1;
                    inner.links.push((outer.session.0.clone(), outer.request, request));
                }
                outer.inner = Some((session.1, request));
            }
            _ => inner.nested += 1,
        }
        if inner.is_alone() {
            self.links -= inner.links.len();
            inner.links = Vec::new();
        }
        if self.waiting.len() >= WAITING {
            self.waiting.pop_front();
        }
        let Use { kind, name, arguments, trace } = used;
        let (session, name, trace) = (session.clone(), name.into(), trace.map(Box::from));
        self.waiting.push_back(WaitingUse { request, session, kind, arguments, name, trace, inner: None });
    }

    /// Notes that a use does not wait any longer, since it was answered or evicted. A gateway that succeeded had its own answer
    /// before.
    pub fn end(&mut self, request: Name, succeeded: bool) {
        // It is among the last: few uses wait for long.
        let at = self.waiting.iter().rposition(|waiting| waiting.request == request);
        let Some(ended) = at.and_then(|at| self.waiting.remove(at)) else { return };
        if self.sessions.len() > 1 {
            for outer in &mut self.waiting {
                outer.inner.take_if(|(_, inner)| *inner == request);
            }
        }
        if succeeded
            && let Some((session, inner)) = ended.inner
            && let Some(session) = self.sessions.get_mut(&session)
        {
            session.nested -= 1;
            session.alone += 1;
            // It is among the last: few uses wait at once.
            if let Some(at) = session.links.iter().rposition(|(.., request)| *request == inner) {
                session.links.remove(at);
                self.links -= 1;
            }
        }
    }

    /// Returns the requests that were forwarded, with the reference of their session, and the requests of the gateway for
    /// them. `is_same_server` says of two sessions whether both are with one server.
    pub fn links(&self, is_same_server: impl Fn(&str, TextDigest) -> bool) -> HashMap<Arc<str>, Vec<(Name, Name)>> {
        let mut links = HashMap::<_, Vec<_>>::new();
        for (inner, session) in &self.sessions {
            for (outer, request, forwarded) in &session.links {
                if session.is_behind(is_same_server(outer, *inner)) {
                    links.entry(outer.clone()).or_default().push((*request, *forwarded));
                }
            }
        }
        links.values_mut().for_each(|links| links.sort_unstable());
        links
    }
}

/// True if a gateway may show a tool of this name under the other one: the same, or with a prefix that ends in punctuation.
fn is_name_of(shown: &str, name: &str) -> bool {
    let prefix = shown.strip_suffix(name).unwrap_or("x");
    prefix.is_empty() || prefix.ends_with(|last: char| !last.is_alphanumeric())
}
