//! The IRIs that the program knows, one constant each.
//!
//! Every term here is declared in `ontology/json-rpc.ttl`, in `ontology/rpcgraph.ttl`, by the OGC building block for
//! MCP or in `ontology/alignment.ttl`, `ontology/lsp.ttl`, or by the W3C; tests check this.

use oxrdf::NamedNodeRef;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// The building block's ontology, `ontology/json-rpc.ttl`, in Turtle.
pub const JSON_RPC_ONTOLOGY: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontology/json-rpc.ttl"));

/// The IRI of [`JSON_RPC_ONTOLOGY`].
pub const JSON_RPC_ONTOLOGY_URL: &str = "http://json-rpc.org/ontology";

macro_rules! vocabulary {
    ($(#[$meta:meta])* $module:ident $namespace:literal $prefix:literal { $($name:ident = $local:literal,)* }) => {
        $(#[$meta])*
        pub mod $module {
            use super::NamedNodeRef;

            /// The namespace that the terms share.
            pub const NAMESPACE: &str = $namespace;
            /// The prefix that stands for the namespace in Turtle and queries.
            pub const PREFIX: &str = $prefix;
            $(
                #[doc = concat!("`", $prefix, ":", $local, "`")]
                pub const $name: NamedNodeRef<'static> = NamedNodeRef::new_unchecked(concat!($namespace, $local));
            )*
            /// Every term above.
            pub const ALL: &[NamedNodeRef<'static>] = &[$($name),*];
        }
    };
}

vocabulary! {
    /// The ontology of the OGC building block "JSON-RPC".
    jrpc "http://json-rpc.org/ontology#" "jrpc" {
        MESSAGE = "Message",
        REQUEST = "Request",
        NOTIFICATION = "Notification",
        RESPONSE = "Response",
        ERROR_RESPONSE = "ErrorResponse",
        ERROR = "Error",
        SERVER_ERROR = "ServerError",
        REQUEST_ID = "RequestId",
        STRING_ID = "StringId",
        NUMBER_ID = "NumberId",
        NULL_ID = "NullId",
        VERSION = "version",
        HAS_VERSION = "hasVersion",
        HAS_ID = "hasId",
        HAS_METHOD = "hasMethod",
        HAS_PARAMETERS = "hasParameters",
        HAS_RESULT = "hasResult",
        HAS_ERROR = "hasError",
        HAS_ERROR_CODE = "hasErrorCode",
        HAS_ERROR_MESSAGE = "hasErrorMessage",
        HAS_ERROR_DATA = "hasErrorData",
        HAS_STRING_VALUE = "hasStringValue",
        HAS_NUMBER_VALUE = "hasNumberValue",
        PARSE_ERROR = "ParseError",
        INVALID_REQUEST = "InvalidRequest",
        METHOD_NOT_FOUND = "MethodNotFound",
        INVALID_PARAMS = "InvalidParams",
        INTERNAL_ERROR = "InternalError",
    }
}

vocabulary! {
    /// Our terms, for what the building block's ontology cannot express.
    rpcg "https://w3id.org/rpcgraph#" "rpcg" {
        SESSION = "Session",
        BATCH = "Batch",
        INVALID_MESSAGE = "InvalidMessage",
        MALFORMED_RECORD = "MalformedRecord",
        LOG_LINE = "LogLine",
        FAILURE = "Failure",
        HTTP_EXCHANGE = "HttpExchange",
        ROLE = "Role",
        CLIENT = "Client",
        SERVER = "Server",
        PROBLEM_CLASS = "Problem",
        REQUEST_STATE = "RequestState",
        ANSWERED = "Answered",
        CANCELLED = "Cancelled",
        SUPERSEDED = "Superseded",
        UNANSWERED = "Unanswered",
        LOST = "Lost",
        WAITING = "Waiting",
        OPEN = "Open",
        NOT_CAPTURED = "NotCaptured",
        STATE = "state",
        SOURCE = "source",
        FORMAT = "format",
        RECORD_COUNT = "recordCount",
        CLOCK_OFFSET_SECONDS = "clockOffsetSeconds",
        CLOCK_OFFSET_ANSWERS = "clockOffsetAnswers",
        ONE_SIDED = "oneSided",
        ANSWERS_MISSING = "answersMissing",
        REQUESTS_MISSING = "requestsMissing",
        RESTARTED_BY = "restartedBy",
        EXITED_AT = "exitedAt",
        CLIENT_NAME = "client",
        SERVER_NAME = "server",
        INFERRED = "inferred",
        IN_SESSION = "inSession",
        SEQUENCE = "sequence",
        CAPTURED_AT = "capturedAt",
        CLOCK_TIME = "clockTime",
        SENT_BY = "sentBy",
        IN_BATCH = "inBatch",
        BATCH_INDEX = "batchIndex",
        RESPONDS_TO = "respondsTo",
        LATENCY_SECONDS = "latencySeconds",
        ESTIMATED_LATENCY_SECONDS = "estimatedLatencySeconds",
        HTTP_METHOD = "httpMethod",
        HTTP_STATUS = "httpStatus",
        REQUEST_HEADERS = "requestHeaders",
        AFTER = "after",
        COPY_OF = "copyOf",
        TOOL_NAME = "toolName",
        TARGET_URI = "targetUri",
        PROTOCOL_VERSION = "protocolVersion",
        IS_ERROR = "isError",
        OPERATION = "Operation",
        IN_OPERATION = "inOperation",
        DEFINITION_OUTDATED = "definitionOutdated",
        DEFINED_IN = "definedIn",
        ADDED_IN = "addedIn",
        CHANGED_IN = "changedIn",
        REMOVED_IN = "removedIn",
        DIGEST = "digest",
        SIZE = "size",
        URI = "uri",
        TOOL_RESULT = "toolResult",
        INTRODUCES = "introduces",
        CLIENT_CAPABILITIES = "clientCapabilities",
        PROGRESS_OF = "progressOf",
        CANCELS = "cancels",
        TRACE_ID = "traceId",
        PARENT_SPAN_ID = "parentSpanId",
        CONTINUES = "continues",
        FORWARDS = "forwards",
        STATUS = "status",
        ENDED_BY = "endedBy",
        DURATION_SECONDS = "durationSeconds",
        ASKS = "asks",
        INPUT = "Input",
        HEADER_MISMATCH = "HeaderMismatch",
        MISSING_REQUIRED_CLIENT_CAPABILITY = "MissingRequiredClientCapability",
        UNSUPPORTED_PROTOCOL_VERSION = "UnsupportedProtocolVersion",
        URL_ELICITATION_REQUIRED = "URLElicitationRequired",
        EXTRA_MEMBERS = "extraMembers",
        PROBLEM = "problem",
        ERROR_KIND = "errorKind",
        VALUE = "value",
        ELEMENT = "element",
        MEMBER = "member",
        REASON = "reason",
        TEXT = "text",
        BYTES = "bytes",
        LINE = "line",
        BYTE_OFFSET = "byteOffset",
        SHA256 = "sha256",
        MISSING_VERSION = "MissingVersion",
        WRONG_VERSION = "WrongVersion",
        NULL_REQUEST_ID = "NullRequestId",
        SCALAR_PARAMS = "ScalarParams",
        ERROR_NOT_OBJECT = "ErrorNotObject",
        BAD_ERROR_CODE = "BadErrorCode",
        BAD_ERROR_MESSAGE = "BadErrorMessage",
        BOTH_RESULT_AND_ERROR = "BothResultAndError",
        EMPTY_BATCH = "EmptyBatch",
        DUPLICATE_MEMBER = "DuplicateMember",
        LONE_SURROGATE = "LoneSurrogate",
        KEYWORD_MEMBER = "KeywordMember",
        TRUNCATED = "Truncated",
        RECONSTRUCTED = "Reconstructed",
        RESULT_UNKNOWN = "ResultUnknown",
        AMBIGUOUS_PAIRING = "AmbiguousPairing",
        ID_REUSED_WHILE_OPEN = "IdReusedWhileOpen",
        DUPLICATE_ANSWER = "DuplicateAnswer",
        ANSWER_BEFORE_REQUEST = "AnswerBeforeRequest",
        RULE = "Rule",
        CONDITION = "Condition",
        SIDE = "side",
        PROTOCOL = "protocol",
        SINCE = "since",
        UNTIL = "until",
        REQUIRES = "requires",
        EXERCISED_BY = "exercisedBy",
        GENERAL = "general",
        BREAKS = "breaks",
        KEEPS = "keeps",
        ALSO_BREAKS = "alsoBreaks",
        SAMPLE_FORMAT = "sampleFormat",
    }
}

vocabulary! {
    /// PROV-O, for what a session has in common with other activities.
    prov "http://www.w3.org/ns/prov#" "prov" {
        STARTED_AT_TIME = "startedAtTime",
        ENDED_AT_TIME = "endedAtTime",
        USED = "used",
        WAS_REVISION_OF = "wasRevisionOf",
    }
}

vocabulary! {
    /// The ontology of the OGC building block "Model Context Protocol", and terms of its context that the ontology
    /// lacks, which `ontology/alignment.ttl` declares.
    mcp "http://modelcontextprotocol.io/ontology#" "mcp" {
        OPERATION = "Operation",
        INITIALIZE_OPERATION = "InitializeOperation",
        LIST_TOOLS_OPERATION = "ListToolsOperation",
        LIST_RESOURCES_OPERATION = "ListResourcesOperation",
        LIST_PROMPTS_OPERATION = "ListPromptsOperation",
        CALL_TOOL_OPERATION = "CallToolOperation",
        READ_RESOURCE_OPERATION = "ReadResourceOperation",
        GET_PROMPT_OPERATION = "GetPromptOperation",
        PING_OPERATION = "PingOperation",
        TOOL = "Tool",
        RESOURCE = "Resource",
        RESOURCE_TEMPLATE = "ResourceTemplate",
        PROMPT = "Prompt",
        EXECUTES_TOOL = "executesTool",
        ACCESSES_RESOURCE = "accessesResource",
        INSTANTIATES_PROMPT = "instantiatesPrompt",
        MCP_CLIENT = "MCPClient",
        MCP_SERVER = "MCPServer",
        CLIENT_CAPABILITIES = "ClientCapabilities",
        SERVER_CAPABILITIES = "ServerCapabilities",
        HAS_CAPABILITIES = "hasCapabilities",
        HAS_VERSION = "hasVersion",
        HAS_PROTOCOL_VERSION = "hasProtocolVersion",
        TOOL_RESULT = "ToolResult",
        HAS_CONTENT = "hasContent",
        HAS_CONTENTS = "hasContents",
        HAS_CONTENT_TYPE = "hasContentType",
        CONTENT = "Content",
        TEXT_CONTENT = "TextContent",
        IMAGE_CONTENT = "ImageContent",
        AUDIO_CONTENT = "AudioContent",
        EMBEDDED_RESOURCE = "EmbeddedResource",
        RESOURCE_LINK = "ResourceLink",
        TEXT_RESOURCE_CONTENTS = "TextResourceContents",
        BLOB_RESOURCE_CONTENTS = "BlobResourceContents",
        HAS_LEVEL = "hasLevel",
        HAS_LOGGER = "hasLogger",
        HAS_NAME = "hasName",
        HAS_TITLE = "hasTitle",
        HAS_DESCRIPTION = "hasDescription",
        HAS_URI = "hasURI",
        HAS_URI_TEMPLATE = "hasURITemplate",
        HAS_MIME_TYPE = "hasMimeType",
        HAS_INPUT_SCHEMA = "hasInputSchema",
        HAS_OUTPUT_SCHEMA = "hasOutputSchema",
        HAS_ANNOTATIONS = "hasAnnotations",
        HAS_ARGUMENTS = "hasArguments",
    }
}

vocabulary! {
    /// Our terms for the Language Server Protocol.
    lsp "https://w3id.org/rpcgraph/lsp#" "lsp" {
        CLIENT = "Client",
        SERVER = "Server",
        CAPABILITY = "Capability",
        HAS_CAPABILITY = "hasCapability",
        REGISTERS = "registers",
        UNREGISTERS = "unregisters",
        NAME = "name",
        VERSION = "version",
        DOCUMENT_CLASS = "Document",
        DOCUMENT = "document",
        URI = "uri",
        MENTION = "Mention",
        MENTIONS = "mentions",
        DOCUMENT_VERSION = "documentVersion",
        LANGUAGE_ID = "languageId",
        REPORT_KIND = "reportKind",
        RESULT_ID = "resultId",
        DIAGNOSTIC = "Diagnostic",
        SEVERITY = "severity",
        CODE = "code",
        SOURCE = "source",
        MESSAGE = "message",
        START_LINE = "startLine",
        START_CHARACTER = "startCharacter",
        END_LINE = "endLine",
        END_CHARACTER = "endCharacter",
        REPORTED_IN = "reportedIn",
        REPLACED_IN = "replacedIn",
    }
}

vocabulary! {
    /// The RDF terms without a constant in oxrdf.
    rdf "http://www.w3.org/1999/02/22-rdf-syntax-ns#" "rdf" {
        JSON = "JSON",
        LANGUAGE = "language",
        DIRECTION = "direction",
    }
}

/// True if a name needs no escape sequences after a prefix in Turtle. Turtle allows more; vocabularies use only this.
#[inline]
pub fn is_local_name(local: &str) -> bool {
    local.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The characters that percent-encoding encodes in a segment of a path or in a fragment: all except ASCII letters and
/// digits, and four signs ([RFC 3986, 2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)).
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The vocabularies of messages: their prefixes, their namespaces, and the terms that graphs of logs have.
pub const VOCABULARIES: [(&str, &str, &[NamedNodeRef<'static>]); 5] = [
    (jrpc::PREFIX, jrpc::NAMESPACE, jrpc::ALL),
    (rpcg::PREFIX, rpcg::NAMESPACE, rpcg::ALL),
    (mcp::PREFIX, mcp::NAMESPACE, mcp::ALL),
    (lsp::PREFIX, lsp::NAMESPACE, lsp::ALL),
    (prov::PREFIX, prov::NAMESPACE, prov::ALL),
];

/// The prefixes of Turtle and TriG output, in the order they are written.
pub const PREFIXES: &[(&str, &str)] = &[
    (jrpc::PREFIX, jrpc::NAMESPACE),
    (rpcg::PREFIX, rpcg::NAMESPACE),
    (mcp::PREFIX, mcp::NAMESPACE),
    (lsp::PREFIX, lsp::NAMESPACE),
    (prov::PREFIX, prov::NAMESPACE),
    (rdf::PREFIX, rdf::NAMESPACE),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
