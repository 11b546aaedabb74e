//! Records what a client and a server say to each other, while every byte passes unchanged.
//!
//! ```text
//! client ⇄ pipes or HTTP ⇄ server
//!             ↓ copies of the bytes, with their times
//!          framing: messages and text → lines of the log
//! ```
//!
//! Each line of the log is a JSON object, which every command reads without an option:
//!
//! | member | value |
//! |---|---|
//! | `time` | when the last byte arrived (RFC 3339, UTC, microseconds) |
//! | `session` | the process, or the value of `Mcp-Session-Id` |
//! | `sequence` | number of the line in its session's process, from 1 |
//! | `transport` | `stdio` or `http` |
//! | `sender` | `client` or `server`; absent in lines of the recorder itself |
//! | `message` | a message or a batch, as it was sent; line ends in it are blanks |
//! | `text`, or `bytes` (Base64) | what is neither |
//!
//! Lines of HTTP have further members:
//!
//! | member | value |
//! |---|---|
//! | `headers` | of a request: the headers that MCP defines, by their names in lower case |
//! | `status` | status of the response |
//! | `event` | id of the server-sent event |
//! | `resumed` | true for events of a stream that the client resumed with `Last-Event-ID` |
//! | `closed` | true as the client closes the response before its end |
//! | `error` | why the server did not answer |
//! | `request` | the request of a response that failed, was closed or is empty: `method`, `url`, `headers`, and `ids` of the messages |

mod framing;
mod http;
mod log;
#[cfg(unix)]
mod stdio;

pub use self::http::Proxy;
pub use self::log::{RecordLog, new_name};
#[cfg(unix)]
pub use self::stdio::record;
