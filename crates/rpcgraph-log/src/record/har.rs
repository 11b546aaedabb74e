//! `har`: an HTTP Archive, whose entries are read one by one.

use super::decoder::Decoder;
use super::elements::element_array;
use super::object::RawObject;
use super::window::InputHead;
use super::{LogLine, har_entry};

pub(super) fn decoder() -> Box<dyn Decoder> {
    let mut seen = har_entry::ArchiveFacts::default();
    element_array(Some("entries"), move |text, more| match text {
        [b'{', ..] => more.first_of(har_entry::entries(text, &mut seen)),
        _ => Some((0, LogLine::new(text).into())),
    })
}

/// True if the first object that begins a line and has a member has a `log` with entries, or with a version and a
/// creator. The object may span lines, and counts up to a syntax error in it.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    let mut objects = window.lines().filter_map(|(at, _)| RawObject::parse(&window.bytes[at..]));
    let root = objects.find(|object| !object.is_empty());
    root.filter(|root| !root.has("jsonrpc")).and_then(|root| root.object("log")).is_some_and(|log| {
        let entries = log.get("entries").is_some_and(|entries| entries.starts_with(b"["));
        entries || (log.has("version") && log.object("creator").is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, texts};
    use super::*;

    const ENTRY: &str = r#"{"request":{"url":"http://h/a","method":"GET"}}"#;
    const CALL: &str = r#"{"request":{"url":"http://h","postData":{"text":"{\"jsonrpc\":1}"}}}"#;

    fn found(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes()))
    }

    #[test]
    fn entries_wherever_they_are() {
        let (get, call, pages) =
            ("# GET http://h/a", r#"{"jsonrpc":1}"#, format!("# {{\"log\":{{\"pages\":[{CALL}],\"entries\":["));
        let table = [
            (format!("{{\"log\":{{\"entries\":[{ENTRY},{CALL}]}}}}"), vec![get, call]),
            (format!("\n {{ \"log\" :\n{{ \"entries\"\t: [ {CALL} ,\n {ENTRY} ] }} }}\n"), vec![call, get]),
            (
                format!(
                    "{{\"a\":[\"]\",{{\"log\":1}}],\"log\":{{\"n\":\"entries\",\"entries\":[{CALL}],\"z\":\"\\\"\"}},\"b\":1}}"
                ),
                vec![call, "# \"z\":\"\\\"\"},\"b\":1}"],
            ),
            (format!("{{\"log\":{{\"pages\":[{CALL}],\"entries\":[{CALL}]}}}}"), vec![&pages, call]),
            (format!("{{\"log\":{{\"entries\":[{CALL}],\"entries\":[{{}}]}}}}"), vec![call, "# \"entries\":[{}]}}"]),
            (
                format!("{{\"log\":{{\"entries\":[1 \"a,\" [{{}}] x{CALL}y]}}}}"),
                vec!["# 1", "# \"a,\"", "# [{}]", "# x", call, "# y"],
            ),
            (
                format!("one\ntwo {{\n{{\"log\":{{\"entries\":[{CALL}]}}}} three\nfour\n"),
                vec!["# one", "# two {", call, "# three", "# four"],
            ),
            (format!("{{\"log\":{{\"entries\":[{CALL},{{\"request\":"), vec![call, "{\"request\":"]),
            (
                format!("{{\"log\":{{\n\"entries\":[\n{{\"x\":[\n{{}}\n]}},\n{CALL}\n]}}}}"),
                vec!["# {\"x\":[\n{}\n]}", call],
            ),
            ("{\"log\":{\"entries\":[]}}".to_owned(), vec![]),
            ("{\"log\":{\"entries\":1}}\n{}".to_owned(), vec!["# {\"log\":{\"entries\":1}}\n{}"]),
            ("{\"log\":{\"vers".to_owned(), vec!["# {\"log\":{\"vers"]),
        ];
        for (input, expected) in table {
            assert_eq!(found(1000, &input), expected, "{input}");
        }
    }

    #[test]
    fn places_in_the_entry() {
        let input = format!("{{\"log\":{{\"entries\":[{ENTRY}, {CALL}]}}}}");
        let found = entries(decoder, input.as_bytes());
        let starts: Vec<_> = found.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [19, input.find("{\\\"jsonrpc").unwrap()]);
    }

    #[test]
    fn the_limit() {
        assert_eq!(found(13, &format!("{{\"log\":{{\"entries\":[{CALL}]}}}}")), [r#"{"jsonrpc":1}"#]);
        assert_eq!(found(12, &format!("{{\"log\":{{\"entries\":[{CALL}]}}}}")), ["<13>"]);
        let long = format!(
            "a longer line\n{{\"log\":{{\"x\":\"{:2000}\",\"entries\":[{{\"a\":[\"{:60000}\"]}},{CALL}]}}}}",
            "", ""
        );
        let found = |input: &str| texts(&drive(&mut *CappedDecoder::boxed(decoder(), 12), input.as_bytes(), &[]));
        assert_eq!(found(&long), ["# <13>", "# <60010>", "<13>"]);
        assert_eq!(found(&long[..long.len() - CALL.len() - 10]), ["# <13>", "{\"a\":[\""]);
    }

    #[test]
    fn detection() {
        let detected = |input: &str| Format::detect(input.as_bytes()).name() == "har";
        for input in [
            "{\"log\":{\"entries\":[",
            "banner\n{oops\n\n  {\n\"comment\": 1,\n\"log\": {\n\"entries\": []}}",
            "{\"log\": {\"version\": \"1.2\", \"creator\": {}, \"pages\": [",
            "{\"log\": {\"entries\": [oops]}}",
        ] {
            assert!(detected(input), "{input}");
        }
        for input in [
            "{\"log\":{\"version\":1}}",
            "{\"log\":[{\"entries\":[]}]}",
            "{\"jsonrpc\":\"2.0\",\"log\":{\"entries\":[]}}",
            "{\"id\":1}\n{\"log\":{\"entries\":[]}}",
            "[{\"log\":{\"entries\":[]}}]",
        ] {
            assert!(!detected(input), "{input}");
        }
    }

    #[test]
    fn many_entries_in_time() {
        let many = format!("{{\"log\":{{\"entries\":[{}{{}}]}}}}", "{},".repeat(200_000));
        assert_eq!(drive(&mut *decoder(), many.as_bytes(), &[]).len(), 200_001);
        let deep = format!("{{\"log\":{{\"entries\":[{}", "[{\"\\\"".repeat(200_000));
        assert_eq!(drive(&mut *decoder(), deep.as_bytes(), &[]).len(), 1);
    }
}
