//! `eglot-lisp`: the events of older versions of Emacs' Eglot. Its messages are Lisp lists, so it is recognised and not read.

use super::about::{About, Sign, Window};
use super::marked::{head, marked_lines};

pub(super) const ABOUT: About = About {
    summary: "`[client-request] (id:1) Sun Jan  5 10:00:00 2026:` and below it a Lisp list, no JSON",
    carries: "nothing: it is recognised only, and refused",
    sign: Sign::Refused(detect, REFUSAL),
    decoder: |limit| marked_lines(limit, 0, |_, _| None),
};

const REFUSAL: &str = "Eglot's events hold messages as Lisp lists, not as JSON; \
    update Eglot (Emacs 30, or `M-x eglot-upgrade-eglot`), whose events are JSON if `eglot-events-buffer-config` has \
    `:format full`, and give that buffer";

/// Who sent what, before any line that is a JSON value, and below it a list.
fn detect(window: &Window<'_>) -> bool {
    let next = window.lines().skip(1).map(|(_, line)| line);
    window.lines_before_values().zip(next).any(|(line, next)| is_heading(head(line)) && next.starts_with(b"(:"))
}

fn is_heading(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"[client-").or_else(|| line.strip_prefix(b"[server-"));
    let kinds: [&[u8]; 3] = [b"request] ", b"reply] ", b"notification] "];
    rest.is_some_and(|rest| kinds.iter().any(|kind| rest.starts_with(kind)) && line.ends_with(b":"))
}
