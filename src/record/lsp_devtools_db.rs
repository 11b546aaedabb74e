//! `lsp-devtools-db`: the SQLite database that `lsp-devtools record --to-sqlite` writes.
//!
//! Reading it takes the feature `sqlite`; without it, the database is recognised and refused.

use super::about::{About, Sign, Window};

pub(super) const ABOUT: About = About {
    summary: "the SQLite database of `lsp-devtools record --to-sqlite`; needs the feature `sqlite`",
    carries: "sender, time, sessions; ids of rows as lines",
    #[cfg(feature = "sqlite")]
    sign: Sign::Line(detect),
    #[cfg(not(feature = "sqlite"))]
    sign: Sign::Refused(detect, REFUSAL),
    #[cfg(feature = "sqlite")]
    decoder: |limit| Box::new(super::lsp_devtools_rows::Database::new(limit, MAGIC)),
    // Of no use: the format is refused.
    #[cfg(not(feature = "sqlite"))]
    decoder: super::json_lines::ABOUT.decoder,
};

/// The first bytes of every SQLite database.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

#[cfg(not(feature = "sqlite"))]
const REFUSAL: &str = "this program was built without SQLite; `cargo install rpcgraph --features sqlite` builds one that \
    reads it, and `lsp-devtools record --to-file FILE` makes a log that needs none";

/// The input is a SQLite database; which tables it has is seen when it is read.
fn detect(window: &Window<'_>) -> bool {
    window.bytes.starts_with(MAGIC)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, ReadError, Reader, ReaderOptions};
    use super::*;

    #[test]
    fn a_database_is_recognised_and_refused_without_the_feature() {
        let whole = [MAGIC, b"\x10\0\x01\x01\0@  \0\n"].concat();
        assert_eq!(Format::detect(&whole), Format::LspDevtoolsDb);
        assert_eq!(Format::detect(b"SQLite format 3\n"), Format::JsonLines);
        match Reader::new(&whole[..], &ReaderOptions::default()) {
            Ok(_) => assert_eq!(Format::LspDevtoolsDb.refusal(), None),
            Err(error) => {
                assert!(matches!(error, ReadError::Refused { format: Format::LspDevtoolsDb, .. }));
                let message = error.to_string();
                assert!(message.starts_with("lsp-devtools-db is not read: this program"), "{message}");
                assert!(message.contains("--features sqlite"), "{message}");
            }
        }
    }
}
