//! Verdicts: the queries of rules over a loaded log, and the decision what their rows say.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::drift;
use super::facts::{INCOMPLETE, MessageFacts, QUERIES, SessionRevisions, messages, parsed, rows};
use super::fault::{Fault, message_of};
use super::rules::{Level, Rule, Rules};
use crate::diagnostic::{printable, shortened};
use crate::mapping::deep_thread;
use crate::query::{Answer, Cancel, Dataset, Query, QueryError, SyntaxError};
use crate::vocab::rpcg;

/// The verdict of a rule on all logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Something exercised the rule, and nothing breaks it.
    Passed,
    /// There are faults.
    Failed,
    /// There are faults, and a baseline has all of them.
    Known,
    /// Nothing could break the rule, for this reason.
    Unexercised(String),
    /// The log cannot tell, for this reason.
    Undecidable(String),
}

/// A rule with its verdict.
#[derive(Debug)]
pub struct Judged<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The verdict.
    pub verdict: Verdict,
    /// The faults, in the order of the logs.
    pub faults: Vec<Fault>,
}

impl Rules {
    /// Returns a query that needs the data of all rules, and of a baseline if one `is_written`.
    ///
    /// # Errors
    ///
    /// Never: the queries here are tested.
    pub fn loading(&self, is_written: bool) -> Result<Query, SyntaxError> {
        let mut all = Query::parse("SELECT * { }", None)?;
        if is_written {
            all = all.with_needs_of(&drift::query()?);
        }
        for text in QUERIES {
            all = all.with_needs_of(&Query::parse(text, None)?);
        }
        Ok(self.queries().fold(all, Query::with_needs_of))
    }

    /// Returns true if a rule is about the text between messages.
    pub fn name_log_lines(&self) -> bool {
        self.queries().any(Query::names_log_lines)
    }

    fn queries(&self) -> impl Iterator<Item = &Query> {
        let conditions = self.conditions.values().map(|(query, _)| query);
        conditions.chain(self.rules.iter().flat_map(Rule::queries))
    }

    /// Judges logs, which were loaded with their provenance for [`loading`](Self::loading), by each rule, on at most
    /// `jobs` threads. `inputs` are the IRIs of the logs. The records are [ordered by their times](Dataset::order_by_time)
    /// first.
    ///
    /// # Errors
    ///
    /// A query fails, or `cancel` ends it.
    pub fn judge(
        &self,
        dataset: &mut Dataset,
        inputs: &[&str],
        jobs: usize,
        cancel: &Cancel,
    ) -> Result<Vec<Judged<'_>>, QueryError> {
        dataset.order_by_time();
        let dataset = &*dataset;
        let sessions = SessionRevisions::read(dataset, cancel)?;
        let conditions: Vec<_> = self.conditions.iter().collect();
        let these = |query: &Query| {
            let rows = rows(dataset, query, cancel)?;
            rows.map(|row| Ok(row?.text("this").unwrap_or_default().to_owned())).collect::<Result<_, QueryError>>()
        };
        let conditions =
            each(jobs, &conditions, |(iri, (query, reason))| Ok((iri.as_str(), (reason.as_str(), these(query)?))))?;
        let (conditions, incomplete) = (conditions.into_iter().collect(), these(&parsed(INCOMPLETE)?)?);
        let judge = Judge { dataset, inputs, cancel, sessions, conditions, incomplete };
        let mut judged = each(jobs, &self.rules, |rule| judge.judged(rule))?;
        drop_general(&mut judged);
        Ok(judged)
    }
}

impl Rule {
    /// Returns true if the rule is about a revision.
    fn has(&self, revision: &str) -> bool {
        let [since, until] = &self.revisions;
        since.as_deref().is_none_or(|since| since <= revision) && until.as_deref().is_none_or(|until| revision <= until)
    }
}

/// Calls a function with each item, on at most `jobs` threads, and returns the results in order.
fn each<'t, T: Sync, R: Send>(
    jobs: usize,
    items: &'t [T],
    call: impl Fn(&'t T) -> Result<R, QueryError> + Sync,
) -> Result<Vec<R>, QueryError> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = call(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        // If a thread cannot start, the others do the work.
        (1..jobs.min(items.len())).for_each(|_| _ = deep_thread().spawn_scoped(scope, work));
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Drops the faults of general rules about messages that break another rule.
fn drop_general(judged: &mut [Judged<'_>]) {
    let special = judged.iter().filter(|judged| !judged.rule.general).flat_map(|judged| &judged.faults);
    let special: HashSet<String> = special.map(|fault| message_of(&fault.node).to_owned()).collect();
    for judged in judged.iter_mut().filter(|judged| judged.rule.general) {
        judged.faults.retain(|fault| !special.contains(message_of(&fault.node)));
        if judged.verdict == Verdict::Failed && judged.faults.is_empty() {
            judged.verdict = Verdict::Passed;
        }
    }
}

impl Judged<'_> {
    /// Returns true if the rule is broken and has the level `fail_on` or a graver one.
    pub fn fails(&self, fail_on: Option<Level>) -> bool {
        self.verdict == Verdict::Failed && fail_on.is_some_and(|least| self.rule.level >= least)
    }

    /// Returns the faults that a baseline does not have.
    pub fn new_faults(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(|fault| !fault.is_known)
    }
}

/// A loaded log, its sessions, and the sessions that meet each condition.
struct Judge<'d> {
    dataset: &'d Dataset,
    inputs: &'d [&'d str],
    cancel: &'d Cancel,
    sessions: SessionRevisions,
    conditions: HashMap<&'d str, (&'d str, HashSet<String>)>,
    /// The sessions whose answers, or whose requests, are not in the log.
    incomplete: HashSet<String>,
}

impl Judge<'_> {
    fn judged<'r>(&self, rule: &'r Rule) -> Result<Judged<'r>, QueryError> {
        let (verdict, faults) = match self.sessions_for(rule)? {
            Err(verdict) => (verdict, Vec::new()),
            Ok(_) if !self.is_exercised(rule)? => {
                (Verdict::Unexercised("nothing in this log exercises it".to_owned()), Vec::new())
            }
            Ok(sessions) => match self.faults(rule, &sessions)? {
                (faults, unplaced) if faults.is_empty() => {
                    let undecided = unplaced.or_else(|| rule.queries().find_map(Query::undecided));
                    (undecided.map_or(Verdict::Passed, Verdict::Undecidable), faults)
                }
                (faults, _) => (Verdict::Failed, faults),
            },
        };
        Ok(Judged { rule, verdict, faults })
    }

    /// Returns the sessions that a rule can be decided for, or the verdict if there are none.
    fn sessions_for(&self, rule: &Rule) -> Result<Result<BTreeSet<&str>, Verdict>, QueryError> {
        let mut sessions: BTreeSet<_> = self.sessions.0.keys().map(String::as_str).collect();
        if sessions.is_empty() {
            return Ok(Err(Verdict::Unexercised("the log is empty".to_owned())));
        }
        for (nth, condition) in rule.requires.iter().enumerate() {
            let Some((reason, met)) = self.conditions.get(&**condition) else { continue };
            sessions.retain(|session| met.contains(*session));
            if sessions.is_empty() {
                let is_protocol = nth == 0 && rule.protocol.is_some();
                let verdict = if is_protocol { Verdict::Unexercised } else { Verdict::Undecidable };
                return Ok(Err(verdict((*reason).to_owned())));
            }
        }
        if rule.revisions != [None, None] {
            let before = sessions.len();
            let revisions = |session: &str| self.sessions.0.get(session).into_iter().flat_map(|known| known.iter());
            sessions.retain(|session| revisions(session).next().is_some());
            if sessions.len() < before && !sessions.iter().any(|session| revisions(session).any(|one| rule.has(one))) {
                return Ok(Err(Verdict::Undecidable("no `initialize` in this log".to_owned())));
            }
            sessions.retain(|session| revisions(session).any(|one| rule.has(one)));
            if sessions.is_empty() {
                return Ok(Err(Verdict::Unexercised("no session of these revisions".to_owned())));
            }
        }
        if rule.queries().any(|query| query.names(rpcg::RESPONDS_TO)) {
            sessions.retain(|session| !self.incomplete.contains(*session));
            if sessions.is_empty() {
                return Ok(Err(Verdict::Undecidable("requests or answers are not in this log".to_owned())));
            }
        }
        if rule.exercised_by.is_none()
            && let Some(property) = self.missing(rule)?
        {
            return Ok(Err(Verdict::Unexercised(format!("nothing in this log has <{property}>"))));
        }
        Ok(Ok(sessions))
    }

    /// True if something in the log could break the rule.
    fn is_exercised(&self, rule: &Rule) -> Result<bool, QueryError> {
        let Some(ask) = &rule.exercised_by else { return Ok(true) };
        Ok(!matches!(self.dataset.answer(ask, self.cancel)?, Answer::Boolean(false)))
    }

    /// Returns a property that no triple has, and without which nothing breaks the rule.
    fn missing(&self, rule: &Rule) -> Result<Option<String>, QueryError> {
        let mut constraints = rule.constraints.iter().map(|(query, _)| query.required_properties().collect());
        let first: BTreeSet<_> = constraints.next().unwrap_or_default();
        for property in constraints.fold(first, |all, required: BTreeSet<_>| &all & &required) {
            let ask = parsed(&format!("ASK {{ ?subject {property} ?object }}"))?;
            if let Answer::Boolean(false) = self.dataset.answer(&ask, self.cancel)? {
                return Ok(Some(property.as_str().to_owned()));
            }
        }
        Ok(None)
    }

    /// Returns the faults, and why there may be more.
    fn faults(&self, rule: &Rule, sessions: &BTreeSet<&str>) -> Result<(Vec<Fault>, Option<String>), QueryError> {
        let ordering = [rpcg::SEQUENCE, rpcg::DEFINITION_OUTDATED];
        let is_about_order =
            rule.constraints.iter().any(|(query, _)| ordering.iter().any(|property| query.names(*property)));
        let mut unplaced = None;
        let (mut faults, mut seen) = (Vec::new(), HashSet::new());
        for (query, text) in &rule.constraints {
            for fault in self.selected(query, text)? {
                if fault.node.is_empty() {
                    let reason = "the query selects a row without a message, in ?message or $this";
                    return Err(QueryError::Rule(rule.id.clone(), reason.to_owned()));
                }
                if seen.insert((fault.node.clone(), fault.related.clone(), fault.text.clone())) {
                    faults.push(fault);
                }
            }
        }
        let guilty: BTreeSet<&str> = faults.iter().map(|fault| message_of(&fault.node)).collect();
        let guilty: Vec<_> = guilty.into_iter().collect();
        let facts = messages(self.dataset, &guilty, self.cancel)?;
        if let Some(node) =
            guilty.iter().find(|node| !facts.contains_key(**node) && !self.sessions.0.contains_key(**node))
        {
            let reason = format!("the query selects {:?}, which is not a message or a session", shortened(node, 100));
            return Err(QueryError::Rule(rule.id.clone(), printable(&reason).into_owned()));
        }
        faults.retain_mut(|fault| {
            let facts = facts.get(message_of(&fault.node));
            let session = facts.map_or(&*fault.node, |facts| &facts.session);
            let revision = self.revision(session, facts);
            let has_clause = || rule.revisions == [None, None] || revision.is_some_and(|revision| rule.has(revision));
            let mut is_decided = sessions.contains(session) && has_clause();
            let is_unplaced = is_about_order && !fault.is_certain && facts.is_some_and(|facts| facts.is_unplaced);
            if is_decided && is_unplaced {
                is_decided = false;
                unplaced = Some("the log does not say when the events of a stream came".to_owned());
            }
            let input = session.split('#').next().unwrap_or(session);
            fault.input = self.inputs.iter().position(|iri| *iri == input);
            fault.complete(rule, facts, revision);
            is_decided
        });
        // Rows of a query have no order.
        faults.sort_by(|one, other| (one.order, &one.text).cmp(&(other.order, &other.text)));
        Ok((faults, unplaced))
    }

    /// Returns what a constraint selects. Values that it holds to schemas are validated together, and it is evaluated again if some
    /// are not valid.
    fn selected(&self, query: &Query, text: &str) -> Result<Vec<Fault>, QueryError> {
        query.schemas().ask_ahead();
        loop {
            let faults = rows(self.dataset, query, self.cancel)?.map(|row| Ok(Fault::of(&row?, text)));
            let faults = faults.collect::<Result<_, QueryError>>()?;
            if query.schemas().has_settled() {
                return Ok(faults);
            }
        }
    }

    /// Returns the revision of a message, or of a session.
    fn revision<'m>(&'m self, session: &str, message: Option<&'m MessageFacts>) -> Option<&'m str> {
        let own = message.and_then(|message| message.revision.as_deref());
        let sequence = message.map_or(u64::MAX, |message| message.sequence);
        own.or_else(|| self.sessions.0.get(session)?.at(sequence))
    }
}
