//! Input bytes → [`Record`]s.
//!
//! ```text
//! bytes → decompressed → wrapper taken off → splitter: pieces → rules of the format: entries
//! ```
//!
//! - A *wrapper* ([`Wrapper`]) is the text that a container, service manager or terminal puts around each line.
//! - A *splitter* cuts bytes into pieces, without regard to their meaning: lines (`lines.rs`), elements of an array
//!   (`elements.rs`), values, frames, events. Splitter and rules of a format together are a [`Decoder`], which does no
//!   I/O: it is shown bytes, and returns the next step.
//! - A *rule* (`rules.rs`) turns a piece into entries: by JSON Pointers, by a regular expression, or by both.
//! - An *entry* is a record, which may be a message, or a log line. If a piece mentions more messages than its records
//!   hold, the piece is also kept as a log line.
//! - A *format* has a name, a clue by which it is recognised, a splitter, rules and a sample. It is a file in
//!   `record/formats`, in the same terms as a user's `-f FILE.toml` ([`OwnFormat`]). What rules cannot say is code.
//! - The *learner* (`learner.rs`) finds the *places* of messages in a log without a format, and the *fields* around them:
//!   time, sender, session. It makes a format of them, from the beginning of a log, and again from a line that may hold
//!   a message and that no rule reads.
//!
//! A [`Reader`] runs all of these. This stage does not interpret a record's bytes: text that is not JSON is a record
//! too.
//!
//! ```
//! use rpcgraph_log::record::{Entry, Reader, ReaderOptions, Sender};
//!
//! let log = "// adds\n>> {\"id\":1,\"method\":\"add\"}\n<< {\"id\":1,\"result\":3}\n";
//! let mut reader = Reader::new(log.as_bytes(), &ReaderOptions::default())?;
//! assert_eq!(reader.format().name(), "arrows");
//! let mut senders = Vec::new();
//! while let Some(entry) = reader.next_entry()? {
//!     match entry {
//!         Entry::Record(record) => senders.push(record.sender),
//!         Entry::LogLine(line) => assert_eq!(&*line.bytes, b"// adds"),
//!     }
//! }
//! assert_eq!(senders, [Some(Sender::Client), Some(Sender::Server)]);
//! # Ok::<(), rpcgraph_log::record::ReadError>(())
//! ```
//!
//! # Adding a format
//!
//! 1. `record/formats/NAME.toml`, which `record/described.rs` reads. `rank` is the order in which formats are tried, in
//!    logs that contain one of the `literals`; the `clue` then decides.
//!    `RPCGRAPH_BLESS=1 cargo test --lib formats_are_listed` adds the file to the list, and runs the sample.
//! 2. `tests/formats/NAME/` holds the logs `typical.log`, and `edge.log` with everything that may go wrong. Beside each
//!    log are its entries, `.entries`, and beside the typical one its graph, `.ttl`.
//!
//! A format that needs more has a file without rules, and a row in the table `CODE` of `record/detect.rs`.

mod capped;
mod certainty;
mod colours;
mod content_length;
mod cut;
mod decoder;
mod decompress;
mod described;
mod detect;
mod elements;
mod entry;
mod follow;
mod formats;
mod har;
mod har_entry;
mod http_headers;
mod identity;
mod inspector_network;
mod json_array;
mod json_lines;
mod json_values;
mod learner;
mod lines;
mod lsp_trace;
mod mcpspy;
mod methods;
mod object;
mod one_way;
mod own_format;
mod page;
mod pointer;
mod protocol_monitor;
mod reader;
mod recording;
mod rules;
mod sample;
mod scan;
mod seen_events;
mod session_by;
mod socat;
mod spelling;
mod sse;
mod surroundings;
mod tcp;
mod times;
mod tshark;
mod unanswered;
pub mod units;
mod unread;
mod unwrapped;
mod value;
mod vscode;
mod vscode_lsp_text;
mod window;
mod wrapper;
mod writer;
mod zed_acp;
mod zstd;

pub use certainty::is_member_of_messages;
pub use certainty::{Certainty, names_jsonrpc, spells_version};
pub use decoder::{Decoder, Step};
pub use decompress::{InputEncoding, decompressed, plain_text};
pub use detect::Format;
pub(crate) use entry::DAY;
pub use entry::{Direction, Entry, Flags, Http, HttpExchange, HttpOutcome, LogLine, Record, Sender, Time};
pub use follow::{Follow, FollowEvent};
pub use http_headers::is_mcp_header;
pub use identity::file_id;
pub use methods::{KnownMethod, Protocols, known_method, streams_answers};
pub use object::RawObject;
pub(crate) use object::unescaped as unescaped_bytes;
pub use own_format::{OwnFormat, OwnFormatError};
pub use page::page_mark;
pub use pointer::PointerError;
pub use reader::{OwnEntries, ReadError, Reader, ReaderOptions};
pub use session_by::SessionBy;
pub(crate) use surroundings::stated_time;
pub use times::date_time_text;
pub(crate) use times::{days_later, is_time};
pub use units::unix_epoch;
pub use unread::{nested, other_kind, undecoded};
pub(crate) use value::{byte_array, whole_value};
pub use wrapper::Wrapper;

pub use crate::diagnostic::Location;
