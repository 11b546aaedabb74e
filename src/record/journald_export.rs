//! `journald-export`: what `journalctl -o export` writes. journald writes JSON too, so it is recognised and not read.

use super::about::{About, Sign};
use super::marked::marked_lines;

pub(super) const ABOUT: About = About {
    summary: "`__REALTIME_TIMESTAMP=1767607200123456` and other fields, a line each, as `journalctl -o export` writes them",
    carries: "nothing: it is recognised only, and refused",
    sign: Sign::Refused(
        |window| window.lines_before_values().any(|line| line.starts_with(b"__REALTIME_TIMESTAMP=")),
        REFUSAL,
    ),
    decoder: |limit| marked_lines(limit, 0, |_, _| None),
};

const REFUSAL: &str = "journald's export format has each field of an entry on a line of its own; \
    write the journal with `journalctl -o json`, or `-o short-precise`, and give that file";
