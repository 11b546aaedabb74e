//! Pages that show logs: what is in them, and what is not.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use oxrdf::Quad;
use rpcgraph::record::ReaderOptions;
use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::report::{OmittedTexts, Report, ReportOptions};
use rpcgraph::{Log, Query, Syntax};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cli::{LOG, Place};
use crate::support::{BASE, assert_isomorphic, corpora, files, own};

pub mod shown;

fn options(redacted: bool, limit: Option<u64>) -> ReportOptions {
    ReportOptions { redacted, limit, chosen_by: None }
}

fn page(log: &[u8], options: &ReportOptions) -> (String, OmittedTexts) {
    let mut report = Report::new(options);
    report.read("session.ndjson", log, &ReaderOptions::default()).unwrap();
    let mut out = Vec::new();
    let left = report.write("session.ndjson", &mut out).unwrap();
    (String::from_utf8(out).unwrap(), left)
}

/// The data of the page's compressed scripts whose ids begin with `id`.
pub fn inflated(page: &str, id: &str) -> Vec<u8> {
    let mut all = Vec::new();
    for line in page.lines().filter(|line| line.contains(&format!("gzip\" id=\"{id}"))) {
        let text = line.split(['>', '<']).nth(2).unwrap();
        GzDecoder::new(&BASE64_STANDARD.decode(text).unwrap()[..]).read_to_end(&mut all).unwrap();
    }
    all
}

/// The columns of the index, with a value for each row, as the page's script reads them.
fn index(page: &str) -> Value {
    let index: Value = serde_json::from_slice(&inflated(page, "index")).unwrap();
    let rows: u64 = index["logs"].as_array().unwrap().iter().map(|log| log["rows"].as_u64().unwrap()).sum();
    let mut columns = index["columns"].clone();
    for column in columns.as_object_mut().unwrap().values_mut().filter(|column| !column.is_array()) {
        *column = vec![column.clone(); rows as usize].into();
    }
    for name in ["record", "line", "answers", "time"] {
        let mut last = 0;
        for value in columns[name].as_array_mut().unwrap() {
            if let Some(change) = value.as_i64() {
                last += change;
                *value = last.into();
            }
        }
    }
    let mut end = 0;
    for row in 0..rows as usize {
        if let Some(request) = columns["answers"][row].as_u64() {
            for name in ["id", "session"] {
                let text = columns[name][row].as_i64().unwrap() + columns[name][request as usize].as_i64().unwrap();
                columns[name][row] = text.into();
            }
        }
        if columns["piece"][row] != 0 {
            let start = end + columns["start"][row].as_i64().unwrap();
            end = start + columns["length"][row].as_i64().unwrap();
            columns["start"][row] = start.into();
        }
    }
    columns
}

fn graph(log: &[u8]) -> Vec<Quad> {
    let mut out = Vec::new();
    let log = Log::read("session.ndjson", std::io::Cursor::new(log.to_vec())).with_base(BASE).unwrap();
    log.with_provenance(true).with_log_lines(true).write_to(&mut out, Syntax::NQuads).unwrap();
    oxrdfio::RdfParser::from_format(oxrdfio::RdfFormat::NQuads).for_slice(&out).map(Result::unwrap).collect()
}

#[test]
fn a_page_has_the_graph_of_its_log() {
    let mut logs = files(&own("tests/formats"), "");
    let other = [".ttl", ".entries", ".db", ".md"];
    let is_read = |log: &str| !log.contains("nvim-lua") && !other.iter().any(|ending| log.ends_with(ending));
    logs.retain(|log| is_read(&log.to_string_lossy()));
    logs.extend(files(&own("examples"), ".ndjson"));
    logs.extend(corpora().iter().flat_map(|corpora| files(corpora, ".ndjson")).take(20));
    assert!(logs.len() > 40);
    for path in logs {
        let log = fs::read(&path).unwrap();
        let (page, left) = page(&log, &options(false, None));
        assert_eq!(left.without_text, 0, "{}", path.display());
        assert_isomorphic(&graph(&log), &graph(page.as_bytes()), &path.display().to_string());
    }
}

/// A page of a log with one side only does not say that calls have no answer.
#[test]
fn a_page_of_one_side_says_so() {
    let request = |id: usize| {
        format!("{{\"sender\":\"client\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"a\"}}}}\n")
    };
    let (page, _) = page((1..=4).map(request).collect::<String>().as_bytes(), &options(false, None));
    assert!(
        page.contains("answers are not in this log: 4 calls of one side alone")
            && !page.contains("calls were never answered")
    );
}

#[test]
fn every_row_has_its_text() {
    for name in ["har/chrome.har", "har/edge.har", "sse/typical.log", "claude-desktop/typical.log", "arrows/typical.io"]
    {
        let path = own("tests/formats").join(name);
        let log = fs::read(&path).unwrap();
        let (page, _) = page(&log, &options(false, None));
        let index = index(&page);
        let column =
            |name: &str| index[name].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect::<Vec<_>>();
        let (kinds, pieces, starts, lengths) = (column("kind"), column("piece"), column("start"), column("length"));
        let messages: Vec<_> = Log::open(&path).unwrap().messages().map(Result::unwrap).collect();
        let rows: Vec<usize> = (0..kinds.len()).filter(|row| kinds[*row] != 6).collect();
        assert_eq!(rows.len(), messages.len());
        for (row, message) in rows.into_iter().zip(messages) {
            let text = inflated(&page, &format!("piece-{}\"", pieces[row]));
            let text = &text[starts[row] as usize..][..lengths[row] as usize];
            let text = String::from_utf8_lossy(text);
            assert!(
                text == message.text || message.name.element.is_some() && text.contains(&message.text),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn numbers_are_those_of_the_queries() {
    let path = own("tests/logs").join("queries.ndjson");
    let path = if path.is_file() { path } else { own("examples/mcp-session.ndjson") };
    let (page, _) = page(&fs::read(&path).unwrap(), &ReportOptions::default());
    let index = index(&page);
    let count = |name: &str| Log::open(&path).unwrap().ask(&Query::named(name).unwrap()).unwrap().count();
    let answered: BTreeSet<u64> = index["answers"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let kinds = index["kind"].as_array().unwrap();
    let open = (0..kinds.len() as u64).filter(|row| kinds[*row as usize] == 0 && !answered.contains(row)).count();
    assert_eq!(open, count("unanswered"));
    let failures = index["failed"].as_array().unwrap().iter().filter(|failed| **failed != 0).count();
    assert_eq!(failures, count("errors"));
}

/// Logs are untrusted: their text never becomes HTML or script.
#[test]
fn texts_of_logs_are_escaped_in_pages() {
    let hostile = r#"{"jsonrpc":"2.0","id":"</script><script>alert(1)</script>","method":"<!--<script>","params":{"uri":"javascript:alert(1)"}}
{"jsonrpc":"2.0","id":"</script><script>alert(1)</script>","error":{"code":-1,"message":"<img src=x onerror=alert(1)>\u202e\u001b[2J"}}
</script><!-- text --><script>alert(2)</script>
"#;
    let mut report = Report::new(&ReportOptions::default());
    report.read("<b>.log", hostile.as_bytes(), &ReaderOptions::default()).unwrap();
    let mut out = Vec::new();
    report.write("</title><script>", &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(!page.contains("<script>alert(") && !page.contains("<img"));
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let script = page.rsplit("<script>").next().unwrap().split("</script>").next().unwrap();
    for text in [style, script] {
        assert!(page.contains(&format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))));
    }
    assert_isomorphic(&graph(hostile.as_bytes()), &graph(page.as_bytes()), "hostile");
}

/// Each is counted, wherever it stands; of a redacted page none is left.
#[test]
fn planted_secrets_are_counted_and_taken_out() {
    let secrets = [
        "ghp_0123456789abcdefghij0123",
        "AKIA0123456789ABCDEF",
        "Bearer abcdefghijklmnop.qrst",
        "sk-abcdefghijklmnop0123",
        "-----BEGIN RSA PRIVATE KEY-----MIIEow",
        "glpat-0123456789abcdefghij",
    ];
    let mut log = String::new();
    for (id, secret) in secrets.iter().enumerate() {
        log.push_str(&format!(
            "{{\"id\":{id},\"method\":\"m\",\"params\":{{\"deep\":[{{\"note\":\"see {secret} there\"}}]}}}}\n\
             {{\"id\":{id},\"result\":\"{{\\\"db_password\\\":\\\"hunter{id}\\\"}}\"}}\n\
             {{\"id\":\"{secret}\",\"error\":{{\"code\":1,\"message\":\"{secret}\"}}}}\ntext {secret}\n"
        ));
    }
    let mut report = Report::new(&ReportOptions::default());
    report.read("log", log.as_bytes(), &ReaderOptions::default()).unwrap();
    assert_eq!(report.secrets(), secrets.len() as u64 * 5);
    let redacted = Redactor::new(b"key", RedactOptions::default()).log(log.as_bytes());
    let (page, _) = page(&redacted, &options(true, None));
    let all = [page.clone().into_bytes(), inflated(&page, "index"), inflated(&page, "piece-")].concat();
    let all = String::from_utf8(all).unwrap();
    for secret in secrets.iter().copied().chain(["hunter"]) {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn a_page_that_would_be_too_large_keeps_failures() {
    let mut log = String::new();
    for id in 0..20_000_u64 {
        let noise = Sha256::digest(id.to_le_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        log.push_str(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":[\"{noise}\"]}}\n"));
        let end = if id == 15_000 { "\"error\":{\"code\":-1,\"message\":\"broken\"}" } else { "\"result\":1" };
        log.push_str(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{end}}}\n"));
    }
    let (whole, left) = page(log.as_bytes(), &options(false, None));
    assert_eq!((left.rows, left.without_text), (40_000, 0));
    let (small, left) = page(log.as_bytes(), &options(false, Some(200_000)));
    assert!(small.len() < whole.len() - 500_000);
    assert!((20_000..40_000).contains(&left.without_text), "{left:?}");
    let index = index(&small);
    let number = |column: &str, row: usize| index[column][row].as_u64().unwrap() as usize;
    let text = |row: usize| {
        let piece = inflated(&small, &format!("piece-{}\"", number("piece", row)));
        String::from_utf8(piece[number("start", row)..][..number("length", row)].to_vec()).unwrap()
    };
    // The failure and its request have their texts, and so have the first messages, but not what stands around the failure.
    let failed = index["error"].as_array().unwrap().iter().position(|error| *error != 0).unwrap();
    assert_eq!(text(failed), r#"{"jsonrpc":"2.0","id":15000,"error":{"code":-1,"message":"broken"}}"#);
    assert!(text(number("answers", failed)).starts_with(r#"{"jsonrpc":"2.0","id":15000,"method":"m""#));
    assert_eq!(text(1), r#"{"jsonrpc":"2.0","id":0,"result":1}"#);
    assert_eq!(number("piece", failed + 1), 0);
    assert!(number("length", failed + 1) > 50);
    let refused = Log::read("page", std::io::Cursor::new(small.into_bytes())).write_to(Vec::new(), Syntax::Turtle);
    let told = error_text(refused.unwrap_err());
    assert!(told.contains("does not hold a complete log"), "{told}");
}

/// Each text in a page stands in the same line as in the log, whether the page has the whole log or a few texts.
#[test]
fn a_page_has_the_lines_of_its_texts() {
    let line = |id: u32| {
        let noise: String =
            (0..20_u32).map(|place| format!("{:08x}", (id * 20 + place).wrapping_mul(2_654_435_761))).collect();
        let from = if id.is_multiple_of(2) { "client" } else { "server" };
        let end = if id.is_multiple_of(2) { "\"method\":\"m\"" } else { "\"result\":0" };
        let message = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{end},\"x\":\"{noise}\"}}", id / 2);
        format!("{{\"sender\":\"{from}\",\"host\":\"h{id}\",\"message\":{message},\"more\":{id}}}")
    };
    let lines: Vec<_> = (0..4_000).map(line).collect();
    for limit in [None, Some(150_000)] {
        let (page, left) = page(lines.join("\n").as_bytes(), &options(false, limit));
        assert_eq!(left.without_text > 0, limit.is_some());
        let index = index(&page);
        let number = |column: &str, row: usize| index[column][row].as_u64().unwrap() as usize;
        let mut seen = 0;
        for row in (0..lines.len()).step_by(37).filter(|row| number("piece", *row) > 0) {
            let piece = inflated(&page, &format!("piece-{}\"", number("piece", row)));
            let piece = String::from_utf8(piece).unwrap();
            let start = number("start", row);
            let end = start + number("length", row);
            let from = piece[..start].rfind('\n').map_or(0, |at| at + 1);
            let to = piece[end..].find('\n').map_or(piece.len(), |at| end + at);
            assert_eq!(piece[from..to], lines[row], "{limit:?}");
            assert!(piece[start..end].starts_with("{\"jsonrpc\""), "{}", &piece[start..end]);
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }
}

/// The page has the sentences of the terminal: about clocks that differ, and about times without a date after midnight.
#[test]
fn the_verdict_is_that_of_the_first_screen() {
    let skewed = |(id, asked, answered): (u32, u32, u32)| {
        format!(
            "{{\"ts\":\"2026-03-10T09:00:{asked}Z\",\"dir\":\"c2s\",\"msg\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"sum\"}}}}\n\
             {{\"ts\":\"2026-03-10T09:00:{answered}Z\",\"dir\":\"s2c\",\"msg\":{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":0}}}}\n"
        )
    };
    // Calls in order leave problems in the minority.
    let clocks = [(1, 13, 10), (2, 20, 18), (3, 21, 22), (4, 23, 24)].map(skewed).concat();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}}"#;
    let midnight = format!(
        "23:59:50.000 [s] --> {hello}\n\
         23:59:50.100 [s] <-- {{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"serverInfo\":{{\"name\":\"s\"}}}}}}\n\
         23:59:51.000 [s] --> {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n\
         00:00:30.000 [s] --> {hello}\n"
    );
    for (log, said) in [(clocks, "answer before request by up to 3.00 s"), (midnight, "restarted at 00:00:30")] {
        let screen = Place::with("session.ndjson", &log).run(&["session.ndjson"]).text().to_owned();
        let (page, _) = page(log.as_bytes(), &ReportOptions::default());
        let front = page.split("<div data-part=\"title\">").nth(1).unwrap();
        let (title, verdict) = front.split_once("id=\"verdict\">").unwrap();
        let sentences: Vec<_> = verdict.split("</div>").next().unwrap().split("<p>").skip(1).map(plain).collect();
        assert!(sentences.iter().any(|sentence| sentence.contains(said)), "{sentences:?}");
        for sentence in sentences {
            let (_mark, text) = sentence.split_once(' ').unwrap();
            assert!(screen.contains(text), "{text}\n{screen}");
        }
        let times = screen.lines().next().unwrap().rsplit(" · ").next().unwrap();
        assert!(plain(title).contains(times), "{title}\n{times}");
    }
}

/// The page has the latencies that the offset of the clocks corrects.
#[test]
fn latencies_are_corrected() {
    let line = |(id, direction, second, member): (u32, &str, u32, &str)| {
        format!(
            "{{\"ts\":\"2026-03-10T09:00:{second}Z\",\"dir\":\"{direction}\",\"msg\":{{\"jsonrpc\":\"2.0\",\"id\":{id},{member}}}}}\n"
        )
    };
    let call = |(id, asked, answered)| {
        [line((id, "c2s", asked, "\"method\":\"sum\"")), line((id, "s2c", answered, "\"result\":0"))].concat()
    };
    let log = [(1, 13, 10), (2, 20, 18), (3, 21, 22)].map(call).concat();
    let (page, _) = page(log.as_bytes(), &ReportOptions::default());
    assert_eq!(index(&page)["latency"], serde_json::json!([null, 0.0, null, 1.0, null, 4.0]));
}

/// The text of HTML without entities.
fn plain(html: &str) -> String {
    html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

/// An error with its causes.
fn error_text(error: impl std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told.push_str(&format!(": {error}"));
        cause = error.source();
    }
    told
}

/// A page of some messages has these, each with its answer or its request, and no other message of the log.
#[test]
fn a_page_of_chosen_messages() {
    let folder = Place::new();
    let log = concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"api_key\":\"k-left-out\"}}\n",
        "text left out\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"wanted\"}},{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"left/out\"}]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"left out\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"isError\":true}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"other\"}}\n",
    );
    folder.put("log", log);
    let page = |arguments: &[&str]| {
        folder.run(&[&["report", "log", "-o", "page.html"], arguments].concat()).quietly();
        String::from_utf8(folder.read("page.html")).unwrap()
    };
    let facts = |page: &str| -> Value {
        let facts = page.split("id=\"facts\">").nth(1).unwrap().split("</script>").next().unwrap();
        serde_json::from_str(facts).unwrap()
    };
    // The request alone fits the filter, or its answer alone: neither is without the other.
    for filter in [&["--tool", "wanted", "--kind", "request"][..], &["--contains", "isError"], &["--id", "2"]] {
        let page = page(filter);
        let index = index(&page);
        assert_eq!(index["record"], serde_json::json!([3, 5]), "{filter:?}");
        assert_eq!((&index["element"][0], &index["answers"][1]), (&1.into(), &0.into()), "{filter:?}");
        let all = [page.clone().into_bytes(), inflated(&page, "index"), inflated(&page, "piece-")].concat();
        let all = String::from_utf8(all).unwrap();
        assert!(all.contains("wanted") && !all.contains("left out") && !all.contains("left/out"), "{all}");
        assert_eq!((&facts(&page)["chosenBy"], &facts(&page)["leftOut"]), (&filter.join(" ").into(), &5.into()));
        let text = String::from_utf8(inflated(&page, "piece-")).unwrap();
        assert!(text.starts_with("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\""), "{text}");
    }
    // A page of some messages is not accepted as a log.
    let ran = folder.run(&["convert", "page.html"]);
    ran.began(2, "error: ");
    assert!(ran.stderr.contains("this page does not hold a complete log"), "{}", ran.stderr);
    // Only secrets of the page count, and values of filters are not shown if the page has placeholders.
    folder.run(&["report", "log", "-o", "page.html", "--id", "1"]).began(0, "note: 1 possible secret: ");
    let redacted = page(&["--redact", "--id", "1", "--limit", "1"]);
    let all = [redacted.clone().into_bytes(), inflated(&redacted, "index"), inflated(&redacted, "piece-")].concat();
    assert_eq!(facts(&redacted)["chosenBy"], "--id --limit");
    assert!(!String::from_utf8(all).unwrap().contains("k-left"));
    // With several logs, the page has the selected messages of each; with standard input, too.
    folder.put("second", log);
    folder.run(&["report", "log", "second", "-o", "both.html", "--id", "2", "--quiet"]).quietly();
    let both = String::from_utf8(folder.read("both.html")).unwrap();
    assert_eq!(index(&both)["record"], serde_json::json!([3, 5, 3, 5]));
    folder.run_with(&["report", "-", "-o", "piped.html", "--id", "2"], log).quietly();
    let piped = String::from_utf8(folder.read("piped.html")).unwrap();
    assert_eq!(index(&piped), index(&page(&["--id", "2"])));
    folder.put("app.log", "starting\n<< {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\nand so on\n");
    folder.run(&["report", "app.log", "-o", "app.html", "--id", "1"]).quietly();
    let app = String::from_utf8(folder.read("app.html")).unwrap();
    assert_eq!((&index(&app)["kind"], &facts(&app)["leftOut"]), (&serde_json::json!([0]), &0.into()));
    folder.run(&["report", "log", "-o", "none.html", "--method", "tool/call"]).said(
        2,
        "error: found nothing to show in log: no message has the method \"tool/call\"; did you mean tools/call?\n",
    );
    assert!(!folder.path("none.html").exists());
}

#[test]
fn the_command() {
    let folder = Place::new();
    folder.put("a.ndjson", LOG);
    folder.put("b.ndjson", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"api_key\":\"k-123456\"}}\n");
    folder.put("prose.txt", "nothing\nto see\n");
    folder.run(&["report", "a.ndjson", "-o", "a.html"]).quietly();
    folder
        .run(&["report", "a.ndjson", "b.ndjson", "-o", "both.html"])
        .said(0, "note: 1 possible secret: --redact puts placeholders there\n");
    let ran = folder.run(&["convert", "both.html"]);
    ran.began(2, "error: ");
    assert!(ran.stderr.contains("this page does not hold a complete log"), "{}", ran.stderr);
    folder
        .run(&["report", "b.ndjson", "-o", "b.html", "--fail-on-secrets"])
        .said(1, "1 possible secret; the page was not written\n");
    assert!(!folder.path("b.html").exists());
    let har = r#"{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-01-05T10:00:00Z","time":1,"request":{"method":"POST","url":"https://h","headers":[{"name":"Authorization","value":"Basic aWRhOnB3MTI="}],"postData":{"text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}"}},"response":{"status":202,"headers":[]}}]}}"#;
    folder.put("log.har", har);
    folder
        .run(&["report", "log.har", "-o", "b.html", "--fail-on-secrets"])
        .said(1, "1 possible secret; the page was not written\n");
    folder.run(&["report", "prose.txt", "-o", "p.html"]).began(2, "error: prose.txt: ");
    assert!(!folder.path("p.html").exists());
    folder.run(&["report", "a.ndjson", "-o", "a.ndjson"]).began(2, "error: a.ndjson is an input and the output");
    folder.run(&["convert", "a.html", "-t", "ntriples"]).began(0, "5 records (json-lines)");
}

/// Rounds of one operation, with other messages between them.
const ROUNDS: &str = concat!(
    "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"deploy\"}}\n",
    "{\"id\":1,\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{}},\"requestState\":\"s\"}}\n",
    "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"other\"}}\n",
    "{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"deploy\",\"inputResponses\":{\"a\":{}},\"requestState\":\"s\"}}\n",
    "{\"id\":2,\"result\":{}}\n",
    "{\"id\":3,\"result\":{\"content\":[]}}\n",
);

#[test]
fn rounds_of_an_operation_name_its_first_request() {
    let (page, _) = page(ROUNDS.as_bytes(), &ReportOptions::default());
    let texts: Value = serde_json::from_slice(&inflated(&page, "index")).unwrap();
    let index = index(&page);
    let operations = index["operation"].as_array().unwrap();
    let begun: Vec<_> =
        operations.iter().map(|text| texts["texts"][text.as_u64().unwrap() as usize].as_str()).collect();
    assert_eq!(begun, ["", "", "", "m1", "", "m1"].map(Some));
}
