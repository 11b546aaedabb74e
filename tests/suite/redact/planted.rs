//! Secrets, and logs that hold them in every place and spelling.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Secrets of many shapes.
pub const SECRETS: &[&str] = &[
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "AKIA0123456789ABCDEF",
    "sk-proj-Zx81kkQpLm27vTtRs93Y",
    "sk_live_51HxkQ2eZvKYlo2C",
    "xoxb-123456789012-abcdefghijkl",
    "glpat-0123456789abcdefghij",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "npm_0123456789abcdefghijklmnopqrstuvwxyz",
    "hvs.CAESIJ0123456789abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJpZGEifQ.c2lnbmF0dXJlLWhlcmU",
    "Bearer q7w8e9r0t1y2u3i4o5p6",
    "Basic aWRhOmh1bnRlcjItbG9uZw==",
    "https://ida:hunter2pass@db7.corp.example.net:8443/v1?api_key=k9k8k7k6#frag",
    "postgres://admin:pgsecretpw@10.20.30.40:5432/payroll",
    "-----BEGIN RSA PRIVATE KEY-----MIIEowIBAAKCAQEAsecretbody",
    "ida.meyer+private@corp-mail.example",
    "/home/idameyer/.ssh/id_ed25519_work",
    "C:\\Users\\IdaMeyer\\Documents\\salaries2025.xlsx",
    "203.0.113.177",
    "2001:db8:85a3::8a2e:370:7334",
    "build-runner-77.internal.corp",
    "9b2f61c4-7d3e-4a58-9c1b-5e8f0a6d2b47",
    "+49 170 5551234987",
    "(555) 867-5309221",
    "4111 1111 1111 1234",
    "5500005555555559",
    "DE89370400440532013000",
    "078-05-1120998",
    "Ida Magdalena Meyerhoff",
    "Björn Österåker-Sjöö",
    "山田太郎の秘密鍵です",
    "Секретный пароль",
    "🔑🐈🏠🔒🚪🧷🪪🛂",
    "correct horse battery staple",
    "P@ssw0rd!Qz#9$",
    "0xdeadbeefcafebabe0123456789abcdef01234567",
    "d41d8cd98f00b204e9800998ecf8427e",
    "c2VjcmV0LXZhbHVlLXRoYXQtaXMtbG9uZw==",
    "session=abcdef0123456789; Path=/",
    "00:1B:44:11:3A:B7",
    "52.5200066, 13.4049540",
    "line one secretA\nline two secretB",
    "quoted \"secretword\" and \\backslash\\",
    "password=hunter2hunter",
    "3141592653589793238462643383",
];

fn escaped(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a text as numbers.
fn bytes(text: &str) -> String {
    let bytes = format!("{:?}", text.as_bytes());
    bytes[1..bytes.len() - 1].to_owned()
}

/// The Base64 of a text after 0, 1 or 2 bytes, without the characters that share bits with other bytes.
fn in_base64(text: &str) -> Vec<String> {
    let at = |offset: usize| {
        let encoded = BASE64_STANDARD.encode([&b"\0\0"[..offset], text.as_bytes()].concat());
        let start = [0, 2, 3][offset];
        encoded[start..(offset + text.len()) * 8 / 6].to_owned()
    };
    (0..3).map(at).collect()
}

/// The forms in which a secret may be left.
pub fn forms(secret: &str) -> Vec<String> {
    let quoted = Value::from(secret).to_string();
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![secret.to_owned(), quoted[1..quoted.len() - 1].to_owned(), escaped(secret), percent(secret)];
    forms.extend([hex(secret), hex(secret).to_uppercase(), encoded, secret.replace('/', "\\/")]);
    forms.extend(in_base64(secret));
    forms.extend([secret, &quoted[1..quoted.len() - 1]].map(bytes));
    forms.extend([bytes(secret), bytes(&quoted[1..quoted.len() - 1])].map(|bytes| bytes.replace(", ", ",")));
    // A long word of a secret tells it.
    forms.extend(
        secret.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 6).map(str::to_owned),
    );
    forms.retain(|form| form.chars().count() > 5 && !["example", "private", "session"].contains(&&**form));
    forms
}

/// Messages with a secret in every place where one may be.
fn messages(secret: &str) -> Vec<String> {
    let all = escaped(secret);
    let uri = format!("file:///srv/{}", percent(secret));
    let twin = json!({ "k": secret, secret: [secret] });
    vec![
        json!({ "jsonrpc": "2.0", "id": secret, "method": "tools/call", "params": { "name": "find", "arguments": {
            secret: secret, "deep": [[{ "x": secret }]], "uri": uri, "base64": BASE64_STANDARD.encode(secret),
            "inner": BASE64_STANDARD.encode(twin.to_string()), "hex": hex(&twin.to_string()), "json": twin.to_string(),
            "bytes": secret.as_bytes() },
            "_meta": { secret: secret, "progressToken": secret } } })
        .to_string(),
        json!({ "jsonrpc": "2.0", "id": secret, "error": { "code": -32000, "message": format!("no {secret} here"),
            "data": { secret: secret, "reason": secret } } })
        .to_string(),
        json!({ "jsonrpc": "2.0", "method": secret, "params": [secret, { "uri": uri }] }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list", secret: secret }).to_string(),
        json!({ "jsonrpc": "2.0", "id": 5, "result": { "tools": [{ "name": "find", "description": secret, "inputSchema": {
            "type": "object", "properties": { secret: { "enum": [secret], "default": secret, "pattern": secret } },
            "required": [secret] } }], "structuredContent": twin, "text": twin.to_string(),
            "contents": [{ "blob": secret.as_bytes(), "data": { "type": "Buffer", "data": secret.as_bytes() } }] } })
        .to_string(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"m\",\"params\":{{\"{all}\":\"{all}\"}}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"see {all} there\"}}"),
    ]
}

/// Logs of several formats with a secret in messages, around and between them.
pub fn planted(secret: &str) -> Vec<(&'static str, String)> {
    let messages = messages(secret);
    let one_line = secret.replace('\n', " ");
    let cut = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"m\",\"params\":{{\"x\":\"a {one_line}");
    let text = format!("note: {one_line} and {} as [{}]", percent(secret), bytes(secret));
    let lines = format!("{}\n{text}\n{cut}\n", messages.join("\n"));
    let mut envelope = String::new();
    let (mut app, mut frames, mut events) = (String::new(), String::new(), format!(": {one_line}\n"));
    for (n, message) in messages.iter().enumerate() {
        let parsed: Value = serde_json::from_str(message).unwrap();
        envelope +=
            &json!({ "ts": format!("2026-01-05T10:00:0{n}Z"), "dir": "in", "session_id": secret, "user": secret,
            secret: secret, "payload": parsed, "raw": message })
            .to_string();
        envelope.push('\n');
        app += &format!("2026-01-05T10:00:0{n}.000Z [{one_line}] [info] Message from client: {message}\n{text}\n");
        frames += &format!("Content-Length: {}\r\nX-Secret: {one_line}\r\n\r\n{message}", message.len());
        // Split within the secret, where it can be.
        let (half, rest) = message.split_at(message.find(':').unwrap());
        events += &format!("event: message\ndata: {half}\ndata: {rest}\nid: {one_line}\n\n");
    }
    let array = format!("[\n{}\n]\n", messages.join(",\n"));
    let entry = |(n, line): (usize, &String)| {
        let time = format!("17958487901156{n:02}");
        format!("{}\n", json!({ "__REALTIME_TIMESTAMP": time, "_PID": "7", "MESSAGE": line.as_bytes() }))
    };
    let journal = messages.iter().flat_map(|message| [message, &text]).enumerate().map(entry).collect();
    let entry = |message: &String| {
        json!({ "startedDateTime": "2026-01-05T10:00:00Z", "time": 5, "request": { "method": "POST",
            "url": format!("https://example.org/mcp?key={}", percent(secret)), "headers": [
                { "name": "Authorization", "value": secret }, { "name": "Mcp-Session-Id", "value": secret }],
            "cookies": [{ "name": secret, "value": secret }],
            "postData": { "mimeType": "application/json", "text": message } },
            "response": { "status": 200, "headers": [{ "name": secret, "value": secret }], "content": {
                "mimeType": "text/event-stream", "encoding": "base64",
                "text": BASE64_STANDARD.encode(format!("event: message\ndata: {}\n\n", messages[1])) } } })
    };
    let har = json!({ "log": { "version": "1.2", "creator": { "name": secret }, "comment": secret,
        "entries": messages.iter().map(entry).collect::<Vec<_>>() } });
    vec![
        ("lines", lines),
        ("envelope", envelope),
        ("app", app),
        ("frames", frames),
        ("events", events),
        ("array", array),
        ("journal", journal),
        ("har", har.to_string()),
    ]
}
