//! The tables, defined once for rows, Parquet, its reading and `rpcgraph vocab columns`.
//!
//! They may only be extended by columns at their end; `VERSION` counts the extensions.

use oxrdf::NamedNodeRef;

/// The version of the tables, stored under `rpcgraph.schema` in the metadata of each Parquet file.
pub const VERSION: &str = "5";

/// A view of requests with their answers.
const EXCHANGES: &str = include_str!("../../../examples/lake/exchanges.sql");

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    Text,
    Bytes,
    Boolean,
    Integer,
    /// Microseconds since 1970, UTC.
    Timestamp,
    /// A decimal, in billionths.
    Decimal,
}

impl CellType {
    /// The name of the type in SQL.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "STRING",
            Self::Bytes => "BINARY",
            Self::Boolean => "BOOLEAN",
            Self::Integer => "BIGINT",
            Self::Timestamp => "TIMESTAMP",
            Self::Decimal => "DECIMAL(18,9)",
        }
    }

    /// Returns true if cells are numbers, and false if they are bytes.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Bytes)
    }
}

/// The node of the graph that a column describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnNode {
    /// The record of the row.
    Record,
    /// The error of the message.
    Error,
    /// The session of the row.
    Session,
}

/// A column of a table.
#[derive(Debug)]
pub struct TableColumn {
    pub name: &'static str,
    pub cells: CellType,
    pub required: bool,
    /// The properties that the column holds; none if it is derived.
    pub properties: &'static [(ColumnNode, NamedNodeRef<'static>)],
    /// A description of the content, on one line.
    about: &'static str,
}

/// A table: name, description of its rows, columns.
#[derive(Debug)]
pub struct TableSchema {
    pub name: &'static str,
    about: &'static str,
    pub columns: &'static [TableColumn],
}

impl TableSchema {
    pub fn file(&self) -> String {
        format!("{}.parquet", self.name)
    }
}

macro_rules! nullable {
    (required) => {
        true
    };
    (nullable) => {
        false
    };
}

macro_rules! property {
    ($node:ident rdf TYPE) => {
        (crate::sink::rows::schema::ColumnNode::$node, oxrdf::vocab::rdf::TYPE)
    };
    ($node:ident $vocabulary:ident $property:ident) => {
        (crate::sink::rows::schema::ColumnNode::$node, crate::vocab::$vocabulary::$property)
    };
}

macro_rules! table {
    ($(#[$meta:meta])* $module:ident $about:literal {
        $($column:ident $name:literal $cells:ident $null:ident [$($node:ident $vocabulary:ident $property:ident),*] $text:literal,)*
    }) => {
        $(#[$meta])*
        pub mod $module {
            use crate::sink::rows::schema::{CellType, TableColumn, TableSchema};

            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "they number the constants below")]
            enum ColumnNumber { $($column),* }

            $(pub const $column: usize = ColumnNumber::$column as usize;)*

            pub const TABLE: TableSchema = TableSchema {
                name: stringify!($module),
                about: $about,
                columns: &[$(
                    TableColumn {
                        name: $name,
                        cells: CellType::$cells,
                        required: nullable!($null),
                        properties: &[$(property!($node $vocabulary $property)),*],
                        about: $text,
                    }
                ),*],
            };
        }
    };
}

table! {
    /// Messages, and records that are not messages.
    messages "A row for each message, batch, invalid message, malformed record and HTTP exchange without a message, and each log line with --log-lines." {
        SESSION_IRI "session_iri" Text required [Record rpcg IN_SESSION] "The session, which is also its named graph.",
        SEQ "seq" Integer required [] "The record's number in its input, from 1; of a log line, that it stands behind.",
        MESSAGE "message" Text required [] "Its name: m7, and m7.2 in a batch; a log line's is l12.",
        MESSAGE_IRI "message_iri" Text nullable [] "Its IRI.",
        ID_IRI "id_iri" Text nullable [Record jrpc HAS_ID] "The node of its id; an answer has the node of its request.",
        ERROR_IRI "error_iri" Text nullable [Record jrpc HAS_ERROR] "The node of its error.",
        TIME "time" Timestamp nullable [] "When it was seen; null where the log lacks a time, a date or a zone.",
        TIME_TEXT "time_text" Text nullable [Record rpcg CAPTURED_AT] "The same with all digits and the log's zone, as xsd:dateTime; also without a zone.",
        CLOCK "clock" Text nullable [Record rpcg CLOCK_TIME] "The time of the day, as xsd:time, where the log lacks a date.",
        SENDER "sender" Text nullable [Record rpcg SENT_BY] "Client or Server.",
        KIND "kind" Text required [Record rdf TYPE]
            "Request, Notification, Response, ErrorResponse, Batch, HttpExchange, InvalidMessage, MalformedRecord or LogLine.",
        JSONRPC "jsonrpc" Text nullable [Record jrpc VERSION] "The member jsonrpc, if it is a string.",
        METHOD "method" Text nullable [Record jrpc HAS_METHOD] "The method.",
        ID_KIND "id_kind" Text nullable [] "String, Number or Null.",
        ID_STRING "id_string" Text nullable [] "The id if it is a string; an HttpExchange has the id of the first request that it answers, here and in the next column.",
        ID_NUMBER "id_number" Text nullable [] "The id that is a number: its plain decimal digits, of any size.",
        RESPONDS_TO "responds_to" Text nullable [Record rpcg RESPONDS_TO] "The request that is answered: its message_iri.",
        REQUEST_METHOD "request_method" Text nullable []
            "The method of that request; null if it has more than 256 bytes or if 262,144 later requests were open.",
        REQUEST_TOOL "request_tool" Text nullable [] "The tool of that request, within the same bounds.",
        LATENCY_S "latency_s" Decimal nullable [] "Seconds from that request to this answer, to nine places.",
        LATENCY_TEXT "latency_text" Text nullable [Record rpcg LATENCY_SECONDS] "The same with all digits.",
        ERROR_CODE "error_code" Text nullable [Error jrpc HAS_ERROR_CODE] "The error's code: its plain decimal digits, of any size.",
        ERROR_MESSAGE "error_message" Text nullable [Error jrpc HAS_ERROR_MESSAGE] "The error's message.",
        ERROR_KIND "error_kind" Text nullable [Error rpcg ERROR_KIND] "The error that the code stands for in JSON-RPC, as MethodNotFound, or in MCP, as HeaderMismatch.",
        ERROR_DATA "error_data" Text nullable [Error jrpc HAS_ERROR_DATA] "The error's data, as JSON.",
        ERROR_EXTRA "error_extra" Text nullable [Error rpcg EXTRA_MEMBERS] "Other members of the error, as a JSON object.",
        PARAMS "params" Text nullable [Record jrpc HAS_PARAMETERS] "The params, as JSON.",
        RESULT "result" Text nullable [Record jrpc HAS_RESULT] "The result, as JSON.",
        EXTRA "extra" Text nullable [Record rpcg EXTRA_MEMBERS] "Other members of the message, as a JSON object.",
        VALUE "value" Text nullable [Record rpcg VALUE, Error rpcg VALUE] "The JSON of an InvalidMessage; the error of an ErrorResponse if it is not an object.",
        RAW "raw" Bytes nullable [Record rpcg BYTES] "A malformed record or log line that is not UTF-8.",
        TEXT "text" Text nullable [Record rpcg TEXT] "A malformed record, a log line, or a record that the other columns do not hold whole.",
        TOOL "tool" Text nullable [Record rpcg TOOL_NAME] "The tool that is called (MCP).",
        IS_ERROR "is_error" Boolean nullable [Record rpcg IS_ERROR] "True if a tool says in its result that it failed (MCP).",
        PROTOCOL "protocol" Text nullable [] "The published protocols that have the method: LSP; ACP,LSP,MCP.",
        PROTOCOL_VERSION "protocol_version" Text nullable [Record rpcg PROTOCOL_VERSION] "The version that is offered or agreed (MCP).",
        TRACE_ID "trace_id" Text nullable [Record rpcg TRACE_ID] "The trace of its traceparent (MCP).",
        PARENT_SPAN_ID "parent_span_id" Text nullable [Record rpcg PARENT_SPAN_ID] "The span of its traceparent (MCP).",
        SIZE_BYTES "size_bytes" Integer nullable [] "The bytes of its record; null in a batch.",
        SOURCE "source" Text nullable [] "The name of its input, without folders.",
        LINE "line" Integer nullable [Record rpcg LINE] "The line of its record, with --provenance; of a log line, always.",
        BYTE_OFFSET "byte_offset" Integer nullable [Record rpcg BYTE_OFFSET] "The offset of its record in the input, with --provenance.",
        SHA256 "sha256" Text nullable [Record rpcg SHA256] "The SHA-256 of its record, with --provenance.",
        BATCH_IRI "batch_iri" Text nullable [Record rpcg IN_BATCH] "The batch that it is in.",
        BATCH_INDEX "batch_index" Integer nullable [Record rpcg BATCH_INDEX] "Its place there, from 1.",
        AFTER_IRI "after_iri" Text nullable [Record rpcg AFTER] "The record before a log line.",
        REASON "reason" Text nullable [Record rpcg REASON] "Why an InvalidMessage is not a message; of an HttpExchange the reason phrase, or why no response came.",
        FAILURE "failure" Text nullable [] "The kind of failure: error, tool or http; null if the record is not a failure.",
        HTTP_STATUS "http_status" Integer nullable [Record rpcg HTTP_STATUS] "The status of its HTTP response.",
        HTTP_METHOD "http_method" Text nullable [Record rpcg HTTP_METHOD] "The method of an HttpExchange.",
        URL "url" Text nullable [Record rpcg URI] "The URL of an HttpExchange.",
        TARGET_URI "target_uri" Text nullable [Record rpcg TARGET_URI] "The document or resource that the params name (LSP, MCP).",
        REQUEST_HEADERS "request_headers" Text nullable [Record rpcg REQUEST_HEADERS] "The headers of MCP in its HTTP request, as a JSON object.",
    }
}

table! {
    /// Sessions.
    sessions "A row for each session." {
        SESSION_IRI "session_iri" Text required [] "Its IRI.",
        SOURCE "source" Text nullable [Session rpcg SOURCE] "The name of its input, without folders.",
        FORMAT "format" Text nullable [Session rpcg FORMAT] "The format that the input was read as.",
        RECORD_COUNT "record_count" Integer nullable [Session rpcg RECORD_COUNT] "The number of its records.",
        STARTED "started" Timestamp nullable [] "Its earliest time, if that has a zone.",
        STARTED_TEXT "started_text" Text nullable [Session prov STARTED_AT_TIME] "The same with all digits, as xsd:dateTime; also without a zone.",
        ENDED "ended" Timestamp nullable [] "Its latest time, if that has a zone.",
        ENDED_TEXT "ended_text" Text nullable [Session prov ENDED_AT_TIME] "The same with all digits, as xsd:dateTime; also without a zone.",
        SENDER_INFERRED "sender_inferred" Boolean nullable [] "True if senders were inferred from methods.",
        CLOCK_OFFSET_TEXT "clock_offset_text" Text nullable [Session rpcg CLOCK_OFFSET_SECONDS] "The most seconds by which an answer is before its request, as a decimal; null unless several of one side are, and a third of its answers, or an eighth again and again.",
        CLOCK_OFFSET_ANSWERS "clock_offset_answers" Integer nullable [Session rpcg CLOCK_OFFSET_ANSWERS] "The number of these answers.",
        ONE_SIDED "one_sided" Boolean nullable [Session rpcg ONE_SIDED] "True if the log holds one side of the session.",
        RESTARTED_BY "restarted_by" Text nullable [Session rpcg RESTARTED_BY] "The message with which its connection began anew.",
        EXITED_AT "exited_at" Text nullable [Session rpcg EXITED_AT] "The time at which its server ended, as xsd:dateTime.",
        LOST "lost" Text nullable [] "The names of the requests that were lost in that restart or exit, each between spaces.",
        ANSWERS_MISSING "answers_missing" Boolean nullable [Session rpcg ANSWERS_MISSING] "True if the log lacks most answers to one side.",
        REQUESTS_MISSING "requests_missing" Boolean nullable [Session rpcg REQUESTS_MISSING] "True if the log lacks the requests of most answers of one side.",
    }
}

table! {
    /// Problems of messages.
    problems "A row for each problem of a message." {
        SESSION_IRI "session_iri" Text required [] "The session.",
        MESSAGE "message" Text required [] "The name of the message.",
        PROBLEM "problem" Text required [] "The problem: the local name of its individual of rpcg:Problem.",
        MESSAGE_IRI "message_iri" Text nullable [] "The IRI of the message.",
    }
}

table! {
    /// Latencies that are corrected.
    latencies "A row for each answer whose latency is corrected by the offset of the clocks of its session." {
        SESSION_IRI "session_iri" Text required [] "The session.",
        MESSAGE "message" Text required [] "The name of the answer.",
        MESSAGE_IRI "message_iri" Text nullable [] "The IRI of the answer.",
        SECONDS "seconds" Decimal nullable [] "The corrected latency, to nine places.",
        SECONDS_TEXT "seconds_text" Text required [] "The same with all digits.",
    }
}

/// Every table.
pub const TABLES: [&TableSchema; 4] = [&messages::TABLE, &sessions::TABLE, &problems::TABLE, &latencies::TABLE];

/// Describes the tables for people: their columns, with types and content.
pub fn describe_tables() -> String {
    let mut text = format!(
        "Tables of `convert -t parquet`, version {VERSION}. JSON is text: its null is `null`, what is absent is NULL.\n"
    );
    for table in TABLES {
        text.push_str(&format!("\n{}\n    {}\n", table.file(), table.about));
        for TableColumn { name, cells, required, about, .. } in table.columns {
            let cells = format!("{}{}", cells.name(), if *required { " NOT NULL" } else { "" });
            text.push_str(&format!("    {name:<17} {cells:<16} {about}\n"));
        }
    }
    text.push('\n');
    text.push_str(EXCHANGES);
    text
}
