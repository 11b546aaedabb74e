//! `tar`: an archive of files. Its content is not one log, so it is recognised but not read.

use super::format_info::{FormatClue, FormatInfo};
use super::lines::line_splitter;

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "`ustar` behind the name of the first file: an archive (`.tar`, `.tgz`), not a log",
    carries: "nothing: it is recognised only, and refused",
    clue: FormatClue::Refused(|window| is_archive(window.bytes), REFUSAL),
    decoder: |limit| line_splitter(limit, 0, |_, _| None),
};

const REFUSAL: &str = "it is a tar archive: unpack it (`tar xf FILE`), and name the logs in it";

/// True if a text begins with the header of a file in an archive (POSIX.1-1988 and later).
pub(super) fn is_archive(text: &[u8]) -> bool {
    text.get(257..).is_some_and(|magic| magic.starts_with(b"ustar"))
}
