//! [SARIF 2.1.0](https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), for code scanning.

use std::io::{self, Write};

use percent_encoding::{AsciiSet, utf8_percent_encode};
use serde_json::{Value, json};

use super::fault::Fault;
use super::judge::{Judged, Verdict};
use super::output::CheckResult;
use super::rules::Rule;
use crate::json::without_nulls;
use crate::vocab::RESERVED;

/// The characters that percent-encoding encodes in a path.
const PATH: &AsciiSet = &RESERVED.remove(b'/');

/// The maximum number of results, as GitHub's limit is.
pub const RESULTS: usize = 5_000;

impl CheckResult<'_> {
    /// Writes a SARIF log, with every rule, and at most [`RESULTS`] faults. A known fault is suppressed. Why a rule is
    /// undecidable or unexercised is a notification, since a result needs a place.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write_sarif(&self, mut out: impl Write) -> io::Result<()> {
        let rules: Vec<_> = self.judged.iter().map(|judged| described(judged.rule)).collect();
        let of_rule = |(index, judged): (usize, &Judged<'_>)| -> Vec<_> {
            judged.faults.iter().take(RESULTS).map(|fault| self.result(index, judged.rule, fault)).collect()
        };
        let results: Vec<_> = self.judged.iter().enumerate().flat_map(of_rule).take(RESULTS).collect();
        let more = self.judged.iter().map(|judged| judged.faults.len()).sum::<usize>() - results.len();
        let text = format!("{more} more findings are not in this file");
        let mut notes = Vec::from_iter((more > 0).then(|| json!({ "level": "note", "message": { "text": text } })));
        for (index, Judged { rule, verdict, .. }) in self.judged.iter().enumerate() {
            let (name, why) = match verdict {
                Verdict::Undecidable(why) => ("undecidable", why),
                Verdict::Unexercised(why) => ("unexercised", why),
                _ => continue,
            };
            notes.push(json!({
                "level": "none", "message": { "text": format!("{} is {name}: {why}", rule.id) },
                "associatedRule": { "id": rule.id, "index": index }, "properties": { "verdict": name },
            }));
        }
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "rpcgraph", "version": rpcgraph_graph::VERSION,
                    "informationUri": "https://w3id.org/rpcgraph", "rules": rules,
                } },
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": notes,
                }],
                "results": results,
            }],
        });
        serde_json::to_writer_pretty(&mut out, &log)?;
        writeln!(out)
    }

    fn result(&self, index: usize, rule: &Rule, fault: &Fault) -> Value {
        let columns = fault.excerpt.as_ref().map(|excerpt| (excerpt.column, excerpt.end)).unzip();
        let region = fault.place.map(|(line, _)| {
            without_nulls(json!({ "startLine": line, "startColumn": columns.0, "endColumn": columns.1 }))
        });
        let physical = self.input(fault).map(|input| {
            let uri = utf8_percent_encode(input, PATH).to_string();
            without_nulls(json!({ "artifactLocation": { "uri": uri }, "region": region }))
        });
        let logical = fault.message.as_ref().map(|name| json!([{ "name": name, "fullyQualifiedName": fault.node }]));
        let location = without_nulls(json!({ "physicalLocation": physical, "logicalLocations": logical }));
        let suppressions = fault.is_known.then(|| json!([{ "kind": "external", "status": "accepted" }]));
        without_nulls(json!({
            "ruleId": rule.id, "ruleIndex": index, "level": rule.level.name(), "message": { "text": without_links(&fault.text) },
            "locations": [location], "partialFingerprints": { "rpcgraph/v1": fault.fingerprint },
            "suppressions": suppressions, "properties": { "verdict": fault.verdict() },
        }))
    }
}

/// Escapes what would be a link in a message of SARIF (section 3.11.6).
fn without_links(text: &str) -> String {
    text.replace("](", "\\](")
}

fn described(rule: &Rule) -> Value {
    without_nulls(json!({
        "id": rule.id, "shortDescription": { "text": rule.title }, "helpUri": rule.clause(),
        "fullDescription": { "text": rule.rationale.as_deref().unwrap_or(&rule.title) },
        "help": rule.remedy.as_ref().map(|remedy| json!({ "text": remedy })),
        "defaultConfiguration": { "level": rule.level.name() },
    }))
}
