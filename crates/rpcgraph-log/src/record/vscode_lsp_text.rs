//! `vscode-lsp-text`: the trace channel of a language client, with a headline for each message, and its parameters,
//! result or error data after the headline. The envelope is not logged, so it is reconstructed.

use super::decoder::{Decoder, Step, trim_end};
use super::lines::{Extras, LineFormat, LineInInput, LineSplitter, with_copy};
use super::lsp_trace::{Headline, HeadlineKind, TraceParts, before_label, entry_end, is_stamp};
use super::unanswered::UnansweredRequests;
use super::window::InputHead;
use super::{Direction, Flags, LogLine, Record};
use memchr::memchr;

/// True for a headline before any line that is a JSON value.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    let mut above: &[u8] = b"";
    window.lines_before_values().any(|line| {
        let above = std::mem::replace(&mut above, line);
        Headline::of(line).or_else(|| Headline::below(above, line, 0)).is_some()
    })
}

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(VscodeLspText::default())
}

/// Headlines are records, with the lines that belong to them; every other line is a [`LogLine`].
#[derive(Default)]
struct VscodeLspText {
    asked: UnansweredRequests,
    /// True if the headline of the next response was given as text: it names a method that no request has.
    is_named: bool,
}

impl LineFormat for VscodeLspText {
    fn below<'a>(&mut self, at: LineInInput<'a>, more: &mut Extras) -> Option<Step<'a>> {
        let LineInInput { line, length, input, end } = at;
        if let Some(headline) = Headline::of(line) {
            return Some(self.message(headline, at, more));
        }
        if !is_stamp(line) {
            return None;
        }
        let below = memchr(b'\n', &input[length..]).map(|end| length + end + 1);
        let Some(head) = below.or_else(|| end.then_some(input.len())) else { return Some(Step::NeedMore) };
        let headline = Headline::below(line, trim_end(&input[length..head]), length)?;
        let head = before_label(input, head, end).map(|length| LineInInput { length, ..at });
        Some(head.map_or(Step::NeedMore, |at| self.message(headline, at, more)))
    }
}

impl VscodeLspText {
    /// Reads the message whose headline has the length of that line. Of parts that are not JSON, as people shorten them, only the
    /// text is kept.
    fn message<'a>(&mut self, headline: Headline<'a>, at: LineInInput<'a>, more: &mut Extras) -> Step<'a> {
        let LineInInput { length, input, end, .. } = at;
        let direction = if headline.sending { Direction::Out } else { Direction::In };
        let head = trim_end(&input[..length]);
        let Some(whole) = entry_end(input, length, end) else { return Step::NeedMore };
        let found = TraceParts::of(&headline, &input[..whole], length);
        let truncated = found.is_none();
        let (parts, length) = found.unwrap_or((TraceParts::default(), whole));
        let result_unknown = headline.kind == HeadlineKind::Response && parts == TraceParts::default();
        let flags = Flags { reconstructed: true, truncated, result_unknown, ..Flags::default() };
        let record = Record { flags, latency: headline.latency, ..Record::new(headline.message(&parts)) };
        let is_answer = headline.kind == HeadlineKind::Response;
        let content = (headline.sending == is_answer, headline.id, headline.method);
        let names = headline.kind != HeadlineKind::Notification && !headline.method.is_empty();
        self.is_named = names && !self.is_named && self.asked.note(is_answer, content);
        if self.is_named {
            return Step::entry(0, 0, LogLine::new(head));
        }
        let record = Record { time: headline.time, direction: Some(direction), ..record };
        if truncated {
            let text = with_copy(trim_end(&input[..whole]), (0, record.into()), more);
            return more.give(text, length);
        }
        Step::entry(0, length, record)
    }
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::super::{Entry, Format};
    use super::*;

    fn messages(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes()))
    }

    /// Returns the first message, and true if its result is unknown. A response comes after its headline, since no
    /// request has its method.
    fn first(input: &str) -> (String, bool) {
        let found = entries(decoder, input.as_bytes());
        let at = usize::from(input.contains("response '"));
        assert!(
            at == 0 || texts(&found)[0].trim_start_matches("# ") == input.lines().next().unwrap().trim_end(),
            "{input}"
        );
        let Entry::Record(record) = &found[at].1 else { panic!("{input}") };
        assert!(record.flags.reconstructed && !record.flags.truncated, "{input}");
        (texts(&found)[at].clone(), record.flags.result_unknown)
    }

    #[test]
    fn envelopes_put_together() {
        let table = [
            (
                "Sending request 'm - (1)'.\nParams: [1,\n 2]\n",
                r#"{"id":1,"method":"m","params":[1,
 2]}"#,
            ),
            ("Sending request 'm - (1)'.\n\n", r#"{"id":1,"method":"m"}"#),
            ("Received request 'm - (3).\nParams: {}", r#"{"id":3,"method":"m","params":{}}"#),
            ("Sending response 'm - (3)'. Processing request took 2ms\nParams: [1]", r#"{"id":3,"result":[1]}"#),
            ("Sending request 'm - (1)'\nParams: \r\n", r#"{"id":1,"method":"m"}"#),
            ("Received notification '$/x'.\nNo parameters provided.\n", r#"{"method":"$/x"}"#),
            ("Received notification 'it's'.\nParams: {}", r#"{"method":"it's","params":{}}"#),
            ("Received response 'm - (a-1)' in 5ms.\nResult: 1.50\n", r#"{"id":"a-1","result":1.50}"#),
            ("Sending response 'm - (01)'. Processing request took 1ms\nParams: \"x\"", r#"{"id":"01","result":"x"}"#),
            (
                "Received response 'm - (0)' in 1ms. Request failed: a \"b\" (c) (-32001).\n",
                r#"{"id":0,"error":{"code":-32001,"message":"a \"b\" (c)"}}"#,
            ),
            (
                "Received response 'm - (0)' in 1ms. Request failed: one\ntwo\t(3) (4).\nError data: [5]\n",
                r#"{"id":0,"error":{"code":4,"message":"one\ntwo\t(3)","data":[5]}}"#,
            ),
            (
                "Received response 'm - (0)' in 1ms. Request failed: no code.\n\n",
                r#"{"id":0,"error":{"message":"no code"}}"#,
            ),
            (
                "Received response 'm - (0)' in 1ms. Request failed: x (undefined).\n",
                r#"{"id":0,"error":{"message":"x"}}"#,
            ),
            (
                "Sending response 'm - (0)'. Processing request took 1ms\nError data: {}\n",
                r#"{"id":0,"error":{"data":{}}}"#,
            ),
            ("Received response 7 without active response promise.\nResult: []\n", r#"{"id":7,"result":[]}"#),
            (
                "Received response 'm - (0)' in 1ms\nResult: null\nError: {\"code\":1}\n",
                r#"{"id":0,"error":{"code":1}}"#,
            ),
            ("Received response 'm - (0)' in 1ms\nResult: null\nError: null\n", r#"{"id":0,"result":null}"#),
            ("Received response 'm - (0)' in 1ms\nResult: null\nError: it is\n", r#"{"id":0,"result":null}"#),
            ("Received response 'm - (null)' in 1ms.\nResult: null\n", r#"{"id":null,"result":null}"#),
        ];
        for (input, message) in table {
            assert_eq!(first(&format!("[Trace - 1:00:00 PM] {input}")), (message.to_owned(), false), "{input}");
        }
        let below = [
            (
                "Sending request 'm - (1)'.\n\nParams: \n{\n \"a\": 1\n}\n\n",
                "{\"id\":1,\"method\":\"m\",\"params\":{\n \"a\": 1\n}}",
            ),
            ("Sending request 'm - (1)'.\r\n\r\n[Trace - 1:00:00 PM]\r\n", r#"{"id":1,"method":"m"}"#),
            ("Sending request 'm - (1)'.", r#"{"id":1,"method":"m"}"#),
        ];
        for (input, message) in below {
            assert_eq!(messages(1000, &format!("[Trace - 1:00:00 PM]\n{input}"))[0], message, "{input}");
        }
        for input in [
            "Received response 'm - (0)' in 1ms.\nNo result returned.\n",
            "Sending response 'm - (0)'. Processing request took 1ms\n\n",
            "Received response 'm - (0)' in 1ms.",
        ] {
            assert_eq!(first(&format!("[Trace - 1:00:00 PM] {input}")), (r#"{"id":0}"#.to_owned(), true), "{input}");
        }
    }

    #[test]
    fn methods_that_only_responses_name() {
        let asked = "[Trace - 1:00:00] Sending request 'm - (1)'.\n";
        let back = "[Trace - 1:00:00] Sending response 'm - (1)'. Processing request took 1ms\nResult: 2\n";
        let [head, other] =
            ["m", "n"].map(|name| format!("[Trace - 1:00:00] Received response '{name} - (1)' in 1ms."));
        let answer = format!("{head}\nResult: 1\n");
        let found = messages(1000, &format!("{asked}{answer}{answer}{asked}{back}{other}\n"));
        let expected = [
            r#"{"id":1,"method":"m"}"#,
            r#"{"id":1,"result":1}"#,
            &format!("# {head}"),
            r#"{"id":1,"result":1}"#,
            r#"{"id":1,"method":"m"}"#,
            "# [Trace - 1:00:00] Sending response 'm - (1)'. Processing request took 1ms",
            r#"{"id":1,"result":2}"#,
            &format!("# {other}"),
            r#"{"id":1}"#,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_that_are_no_headlines() {
        for line in [
            "Sending request 'm - (1)'.",
            "[Trace - 1:00:00] Sending request 'm'.",
            "[Trace - 1:00:00] Sending request 'm - (1)'. And more",
            "[Trace - 1:00:00] Sending request: quickinfo (3722). Response expected: yes.",
            "[Trace - 1:00:00] Received response 'm - (1)' in a while",
            "[Trace - 1:00:00] Received notification 'm' twice.",
            "[Trace - 1:00:00] Received notification: 'm'.",
            "[Trace - 1:00:00] Received response without active response promise.",
            "[Trace - 1:00:00] onDidOpen",
            "[LSP   - 1:00:00] Sending notification 'm'.",
            "[Info  - 1:00:00] Sending notification 'm'.",
        ] {
            assert!(Headline::of(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn text_around_messages() {
        let input = concat!(
            "starting\n",
            "[Trace - 1:00:00] Sending notification 'a'.\n",
            "[Trace - 1:00:00] Sending notification 'b'.\n",
            "Params: {} and\n",
            "Params: []\n\n",
            "[Trace - 1:00:00] Sending notification 'c'.\n",
            "\n",
            "Params: []\n",
            "[Trace - 1:00:00] Sending notification 'd'.\n",
            "Par",
        );
        let expected = [
            "# starting",
            r#"{"method":"a"}"#,
            r#"{"method":"b","params":{}}"#,
            "# and",
            "# Params: []",
            r#"{"method":"c"}"#,
            "# Params: []",
            r#"{"method":"d"}"#,
            "# Par",
        ];
        assert_eq!(messages(100, input), expected);
    }

    #[test]
    fn text_that_is_broken_stays_as_it_is_beside_its_message() {
        let open = "[Trace - 1:00:00] Sending notification 'a'.\nParams: {\n  \"a\": ";
        let next = "[Trace - 1:00:00] Sending notification 'b'.\n";
        for end in ["...\n}\n\n\n", "\"cut\n", "{\n\n", "1\n[Error - 1:00:00] x\n"] {
            let found = messages(100, &format!("{open}{end}{next}"));
            let lines = format!("# {open}{}", end.split("[Error").next().unwrap().trim_end());
            assert_eq!(found[..2], [lines, r#"{"method":"a"}"#.to_owned()], "{end}");
            assert_eq!(found.last().unwrap(), r#"{"method":"b"}"#, "{end}");
        }
        assert_eq!(messages(100, open), [format!("# {}", open.trim_end()), r#"{"method":"a"}"#.to_owned()]);
    }

    #[test]
    fn the_limit() {
        let text = "x".repeat(20_000);
        let long =
            |limit, input: &str| texts(&entries_of_long(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes()));
        let head = "[Trace - 1:00:00] Received notification 'a'.\n";
        let next = format!("\n\n{head}");
        let input = format!("{head}Params: [\n\"{text}\"\n]{next}");
        assert_eq!(long(14, &input), ["<20030>", r#"{"method":"a"}"#]);
        assert_eq!(messages(13, head), ["<14>"]);
        assert_eq!(long(14, &format!("{head}Params: []")), ["<26>"]);
        assert_eq!(long(14, &format!("{head}Params: oops")), ["# <57>", r#"{"method":"a"}"#]);
        let failed = "[Trace - 1:00:00] Received response 'a - (1)' in 1ms. Request failed: ";
        assert_eq!(long(14, &format!("{failed}{text} (1).{next}")), ["# <20075>", "<20040>", r#"{"method":"a"}"#]);
        assert_eq!(long(14, &format!("{text}{next}")), ["# <20000>", r#"{"method":"a"}"#]);
        assert_eq!(messages(usize::MAX, head), [r#"{"method":"a"}"#]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *decoder(), input.as_bytes(), &[])).len();
        let head = "[Trace - 1:00:00] Received notification 'a'.\n";
        assert_eq!(found(&head.repeat(20_000)), 20_000);
        assert_eq!(found(&format!("{head}Params: {}", "[\n".repeat(100_000))), 2);
        assert_eq!(found(&format!("{head}Params: oops{}", "\n1".repeat(100_000))), 2);
        assert_eq!(found(&"Params: {\n".repeat(50_000)), 50_000);
        assert_eq!(found(&format!("{head}Params: {{}}oops\n").repeat(10_000)), 20_000);
    }

    #[test]
    fn traces_are_recognised() {
        let detected = |input: &str| Format::detect(input.as_bytes()) == Format::VscodeLspText;
        for input in [
            "[Trace - 1:00:00] Sending notification 'a'.",
            "Listening\n\n2023-11-17 14:12:11.715 [info] [Trace - 2:12:11 PM] Sending request 'a - (0)'.\nParams: {\n",
            "[Trace - 1:00:00 AM]\nSending request 'a - (1)'.\n\nParams: \n{}\n",
            "2026-03-27 21:18:04.090 [trace] Received response 'a - (0)' in 3ms.\nResult: [\n{}\n]\n",
        ] {
            assert!(detected(input), "{input}");
        }
        for input in [
            "{}\n[Trace - 1:00:00] Sending notification 'a'.",
            "[Trace - 1:00:00] ready\n{}",
            "Sending request 'a - (0)'.",
        ] {
            assert!(!detected(input), "{input}");
        }
    }
}
