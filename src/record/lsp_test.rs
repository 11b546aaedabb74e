//! `lsp-test`: an event a line as haskell-lsp captures them, a tagged message with its time.

use super::about::{About, Sign, Window};
use super::marked::{Found, More, enveloped};
use super::object::{RawObject, elements, offset_in, side, unescape};
use super::times::date_time;
use super::{Entry, Record, Sender};

pub(super) const ABOUT: About = About {
    summary: "`{\"tag\":\"FromClient\",\"contents\":[\"2018-…\",{\"tag\":…,\"contents\":{…}}]}`, sessions that haskell-lsp captured",
    carries: "time, sender",
    sign: Sign::Line(detect),
    decoder: |limit| enveloped(limit, Some(&[]), open),
};

/// The first line that is an object is tagged with a side and has contents.
fn detect(window: &Window<'_>) -> bool {
    window.objects().next().is_some_and(|object| {
        sender(&object).is_some() && object.get("contents").is_some_and(|contents| contents.starts_with(b"["))
    })
}

fn sender(event: &RawObject<'_>) -> Option<Sender> {
    side(event.get("tag")?, [b"\"FromClient\"", b"\"FromServer\""])
}

fn open<'a>(event: &RawObject<'a>, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
    let sender = sender(event)?;
    let found = |contents| {
        let mut contents = elements(contents).peekable();
        let time = contents.next_if(|time| time.starts_with(b"\"")).and_then(unescape);
        let time = time.and_then(|time| date_time(&time));
        contents.map(move |tagged| {
            // Since lsp-types 1.0 the message stands here itself, without a tag.
            let is_tagged = |inner: &RawObject<'_>| {
                inner.has("tag") && inner.members().all(|(name, _)| matches!(name, b"tag" | b"contents"))
            };
            let inner = RawObject::parse(tagged).filter(is_tagged);
            let message = inner.and_then(|inner| inner.get("contents")).unwrap_or(tagged);
            (offset_in(line, message), Entry::from(Record { time, sender: Some(sender), ..Record::new(message) }))
        })
    };
    // Behind the first message of an event without an end, another event may stand.
    let most = if event.is_whole() { usize::MAX } else { 1 };
    let mut all = event.all("contents").flat_map(found).take(most);
    let first = all.next().filter(|(_, entry)| event.is_whole() || matches!(entry.bytes(), [b'{' | b'[', ..]));
    more.entries.extend(all.map(|(start, entry)| (start, entry.into_owned())));
    first
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Entry, Format, Time};
    use super::*;

    fn found(input: &str) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(1000), input.as_bytes()))
    }

    #[test]
    fn tagged_and_untagged_messages() {
        let table = [
            (
                r#"{"tag":"FromClient","contents":["2018-06-03T04:08:38.856591Z",{"tag":"NotExit","contents":{"id":1.0}}]}"#,
                "{\"id\":1.0}",
            ),
            (
                r#"{"contents":["2018-06-03T04:08:38.856591Z",{"contents":{"id":1},"tag":"NotExit"}],"tag":"FromServer"}"#,
                "{\"id\":1}",
            ),
            (
                r#"{"tag":"FromClient","contents":["2018-06-03T04:08:38.856591Z",{"jsonrpc":"2.0","params":{"tag":1}}]}"#,
                r#"{"jsonrpc":"2.0","params":{"tag":1}}"#,
            ),
            (r#"{"tag":"FromClient","contents":["later",[]]}"#, "[]"),
            (
                r#"{"tag":"FromClient","contents":["2018-06-03T04:08:38.856591Z",{"tag":"NotExit","contents":{"id"#,
                "{\"id",
            ),
            (r#"{"tag":"FromClient","contents":["2018-06-03T04:08:38.856591Z",{"tag":"Not"#, "{\"tag\":\"Not"),
            (r#"{"tag":"FromClient","contents":["2018-06"#, r#"{"tag":"FromClient","contents":["2018-06"#),
            (r#"{"tag":"FromClient","contents":["a"}"#, r#"{"tag":"FromClient","contents":["a"}"#),
            (r#"{"tag":"FromBoth","contents":[]}"#, r##"# {"tag":"FromBoth","contents":[]}"##),
            (r#"{"tag":"FromClient","contents":{}}"#, r##"# {"tag":"FromClient","contents":{}}"##),
            ("a line", "# a line"),
        ];
        for (line, expected) in table {
            assert_eq!(found(line), [expected], "{line}");
        }
        let line = |contents: &str| format!("{{\"tag\":\"FromClient\",\"contents\":[\"t\",{contents}]}}");
        assert_eq!(found(&[line("{\"id\":1}"), line("[2]")].concat()), ["{\"id\":1}", "[2]"]);
        assert_eq!(found(&line("{\"id\":1},[2]")), ["{\"id\":1}", "[2]"]);
        let second = line("[2]");
        let cut = line("{\"id\":1}").replace("]}", &second);
        assert_eq!(found(&cut), ["{\"id\":1}", "[2]"]);
    }

    #[test]
    fn times_and_senders() {
        let input = "{\"tag\":\"FromServer\",\"contents\":[\"2018-06-03T04:08:46.24927Z\",{}]}\n{\"tag\":\"FromClient\",\"contents\":[\"soon\",{}]}";
        let found: Vec<_> = entries(|| (ABOUT.decoder)(1000), input.as_bytes());
        let [(61, Entry::Record(first)), (_, Entry::Record(second))] = &found[..] else { panic!("{found:?}") };
        assert_eq!(first.time, "2018-06-03T04:08:46.24927Z".parse().ok().map(Time::DateTime));
        assert_eq!((first.sender, second.sender), (Some(Sender::Server), Some(Sender::Client)));
        assert_eq!(second.time, None);
    }

    #[test]
    fn detection() {
        let detected = |input: &str| Format::detect(input.as_bytes()).name() == "lsp-test";
        assert!(detected("\n{\"tag\":\"FromServer\",\"contents\":[\"2018"));
        assert!(!detected("{\"tag\":\"FromServer\"}"));
        assert!(!detected("{\"tag\":\"x\",\"contents\":[]}"));
        assert!(!detected("{\"id\":1}\n{\"tag\":\"FromServer\",\"contents\":[]}"));
    }
}
