//! The processes that a log names: by its writers, or beside its messages.

use std::collections::HashMap;
use std::sync::LazyLock;

use memchr::memchr_iter;
use memchr::memmem::Finder;

/// The maximum number of processes that are remembered.
const MAX_PROCESSES: usize = 64;
/// The number of bytes before and behind a message that are searched.
const MAX_AROUND: usize = 256;

/// The member with the number of a process. The finder is built once, since the texts around messages are short.
static MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"pid\":"));

#[derive(Default)]
pub(super) struct Processes {
    /// The session of the last process of each program, of writers that are processes.
    pub last: HashMap<String, Option<String>>,
    /// The processes that stand beside messages.
    beside: Vec<u64>,
}

impl Processes {
    /// Notes the process of a message. Returns true if it is a new one, after another.
    pub fn is_new(&mut self, process: Option<u64>) -> bool {
        let Some(process) = process else { return false };
        if self.beside.contains(&process) || self.beside.len() == MAX_PROCESSES {
            return false;
        }
        self.beside.push(process);
        self.beside.len() > 1
    }
}

/// Returns the program of a writer whose name ends in the number of a process: `unit 10`, `host program[10]`.
pub(super) fn program(writer: &str) -> Option<&str> {
    let name = writer.strip_suffix(']').unwrap_or(writer).trim_end_matches(|last: char| last.is_ascii_digit());
    let is_process = name.len() < writer.len() && (name.ends_with(' ') || name.ends_with('[') && writer.ends_with(']'));
    is_process.then_some(name)
}

/// Returns the text before a message that is a part of a line, and the text behind it.
pub(super) fn around<'a>(line: &'a [u8], message: &[u8]) -> [&'a [u8]; 2] {
    let start = (message.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len());
    let end = (start + message.len()).min(line.len());
    [&line[start.saturating_sub(MAX_AROUND)..start], &line[end..line.len().min(end + MAX_AROUND)]]
}

/// Returns the number of the process in a text: `program[10]: `, or a member `"pid": 10`.
pub(super) fn process_in(text: &[u8]) -> Option<u64> {
    let number = |text: &[u8]| -> Option<(u64, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some((std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?, digits))
    };
    let behind = MEMBER.find(text).map(|at| text[at + MEMBER.needle().len()..].trim_ascii_start());
    let member = behind.and_then(|text| Some(number(text)?.0));
    let in_brackets = || {
        memchr_iter(b'[', text).filter(|at| *at > 0 && text[at - 1].is_ascii_alphanumeric()).find_map(|at| {
            let (process, digits) = number(&text[at + 1..])?;
            text[at + 1 + digits..].starts_with(b"]:").then_some(process)
        })
    };
    member.or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_beside_messages() {
        for (text, process) in [
            ("2026-03-01T10:00:00Z mcpd[100]: <- ", Some(100)),
            ("{\"pid\": 7, \"message\":", Some(7)),
            ("[12]: ", None),
            ("items[3] ", None),
            ("\"pid\":\"x\"", None),
        ] {
            assert_eq!(process_in(text.as_bytes()), process, "{text}");
        }
        assert_eq!(
            ["unit 10", "host mcpd[10]", "unit", "port10"].map(program),
            [Some("unit "), Some("host mcpd["), None, None]
        );
    }
}
