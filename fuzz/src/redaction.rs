//! Redaction: a planted secret is gone in any spelling, and every message is there, with its answer.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rpcgraph::log::redacted::{redacted, redacted_lines};
use rpcgraph::record::ReaderOptions;
use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::{Log, LoggedMessage};
use serde_json::{Value, json};

use super::{Choices, shown};

/// Plants secrets in a log, redacts it in each way, and searches the results for the secrets.
pub fn redaction(data: &[u8]) {
    let mut choices = Choices(data);
    let mut planted = Vec::new();
    let messages: Vec<String> =
        (0..=choices.below(3)).flat_map(|id| exchange(id, &mut choices, &mut planted)).collect();
    let kind = choices.below(9);
    let mut log = wrapped(kind, &messages);
    let has_junk = kind < 3 && choices.below(2) == 1;
    if has_junk {
        let junk =
            ["say \"", "{", "[[\"", "\\", "x = {\"a\": \"", "'", "-----END CERTIFICATE-----", "Content-Length: 7"];
        let lines: Vec<_> = log.lines().map(|line| format!("{}\n{line}\n", junk[choices.below(junk.len())])).collect();
        log = lines.concat();
    }
    let log = log.as_bytes();
    let before = read(log);
    for options in [RedactOptions { secrets_only: true, ..RedactOptions::default() }, RedactOptions::default()] {
        let redactor = || Redactor::new(b"a key of the target", options.clone());
        let reader = ReaderOptions::default();
        let what = if options.secrets_only { "secrets only" } else { "all" };
        for (way, out) in [
            ("own format", redacted(log, &reader, &mut redactor()).expect("a log in memory")),
            ("lines", redacted_lines(log, &reader, &mut redactor()).expect("a log in memory")),
        ] {
            let Some(out) = out else {
                // Names with escape sequences are not found in the objects of lines.
                let is_respelled = way == "lines" && messages.iter().any(|message| message.contains("\\u00"));
                assert!(has_junk || is_respelled, "refused ({what}, {way}): {}", shown(log));
                continue;
            };
            for secret in &planted {
                assert!(!tells(&out, secret, 3), "left {secret} ({what}, {way}): {}\nof {}", shown(&out), shown(log));
            }
            assert_eq!(read(&out), before, "messages ({what}, {way}) in {}\nof {}", shown(&out), shown(log));
        }
    }
}

/// The kinds of the messages, and their distances to the messages that they answer.
fn read(log: &[u8]) -> Vec<String> {
    let messages = Log::read("log", Cursor::new(log.to_vec())).messages();
    let messages = messages.map(|message| message.expect("a log in memory"));
    let messages: Vec<LoggedMessage> = messages.filter(|message| message.kind.is_some()).collect();
    let answered = |message: &LoggedMessage| {
        message.responds_to.and_then(|name| messages.iter().position(|other| other.name == name))
    };
    messages.iter().map(|message| format!("{:?} {:?}", message.kind, answered(message))).collect()
}

/// A request and its answer, with secrets.
fn exchange(id: usize, choices: &mut Choices<'_>, planted: &mut Vec<String>) -> [String; 2] {
    let (call, answer) = (holder(choices, planted, 0), holder(choices, planted, 0));
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "find", "arguments": call, "_meta": { "progressToken": id } } });
    let response = match choices.below(3) {
        0 => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": answer.to_string(), "data": answer } })
        }
        1 => json!({ "jsonrpc": "2.0", "id": id, "result": {}, "extra": answer }),
        _ => json!({ "jsonrpc": "2.0", "id": id, "result": { "structuredContent": answer } }),
    };
    [request, response].map(|message| respelled(&message.to_string(), choices))
}

/// A value that holds a secret, in one of the forms that are known.
fn holder(choices: &mut Choices<'_>, planted: &mut Vec<String>, depth: usize) -> Value {
    let secret = format!("Zq{:08x}vK{:08x}", choices.below(u32::MAX as usize), choices.below(u32::MAX as usize));
    let ends = ["", "-\u{e9}", "\"q", "\\", "/+=", " b"][choices.below(6)];
    let value = format!("{secret}{ends}");
    let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{secret}\n{secret}==\n-----END RSA PRIVATE KEY-----\n");
    let cut = &key[..key.len() - choices.below(key.len() - 80)];
    let number = 100_000_000 + choices.below(900_000_000);
    planted.push(secret.clone());
    match choices.below(25) {
        0 => json!({ "db_password": value }),
        1 => json!({ "apiKey": [1, value, { "x": value }] }),
        2 => json!({ "clientSecret": { "x": value, "type": "y" }, "z": 1 }),
        3 => json!([{ "name": "X-Api-Key", "value": value }, { "value": value, "name": "Authorization" }]),
        4 => json!({ "private_key": key, "type": "service_account" }),
        5 => json!({ "text": format!("see {key} and ghp_{secret}0123 there, glpat-{secret}") }),
        6 => json!({ "url": format!("postgres://ida:{secret}@db:5432/x?a=1") }),
        7 => json!({ "env": [format!("API_TOKEN={value}"), "HOME=/root"] }),
        8 => json!({ "args": ["--token", value, "--verbose", format!("--password={secret}")] }),
        9 => json!({ "headers": { "Authorization": format!("Bearer {value}"), "Accept": "*/*" } }),
        10 => json!({ "text": format!("Authorization: Bearer {secret}\nCookie: a=1; sid={secret}; x\nHost: h") }),
        11 => json!({ "text": format!("https://h/?a=1&access_token={secret}&b=2 password: {secret}.") }),
        12 => json!({ "cookies": [{ "name": "sid", "value": value, "path": "/" }] }),
        13 => json!({ "text": cut }),
        14 => json!({ "k": format!("{cut} {key}"), "c": "-----END CERTIFICATE-----" }),
        15 => {
            planted.push(number.to_string());
            json!({ "password": number, "token": secret })
        }
        16 => {
            let basic = BASE64.encode(format!("ida:{secret}"));
            planted.push(basic.clone());
            json!({ "text": format!("curl -u ida:{secret} -H 'Authorization: Basic {basic}' h") })
        }
        17 => json!({ "properties": { "password": { "type": "string", "default": value } } }),
        22 => {
            json!({ "text": format!("Config {{ password: Some(\"{secret} b\"), x: 1 }} login(api_key=SecretStr('{secret}'))") })
        }
        23 => json!({ "lines": key.lines().map(|line| json!({ "type": "text", "text": line })).collect::<Vec<_>>() }),
        24 => {
            json!({ "text": format!("Cookie: theme=\"a b\"; sid={secret}; t=\"{secret}\""), "args": [format!("--password={value}")] })
        }
        _ if depth > 3 => json!({ "secret": value }),
        18 => json!({ "data": BASE64.encode(holder(choices, planted, depth + 1).to_string()) }),
        19 => json!({ "text": format!("said: {} and more", holder(choices, planted, depth + 1)) }),
        _ => json!({ "inner": holder(choices, planted, depth + 1).to_string() }),
    }
}

/// Spells characters of strings as other escape sequences.
fn respelled(message: &str, choices: &mut Choices<'_>) -> String {
    let mut state = choices.below(u32::MAX as usize);
    let often = [0, 3, 40][choices.below(3)];
    let (mut out, mut is_string, mut is_escape) = (String::new(), false, false);
    for character in message.chars() {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let is_chosen = is_string && often > 0 && (state >> 8).is_multiple_of(often);
        match character {
            '"' if !is_escape => {
                is_string = !is_string;
                out.push('"');
            }
            '/' if is_chosen && !is_escape => out.push_str("\\/"),
            '!'..='~' if is_chosen && !is_escape && character != '\\' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
        is_escape = character == '\\' && !is_escape;
    }
    out
}

/// A log of messages, in one of several formats.
fn wrapped(kind: usize, messages: &[String]) -> String {
    let each = |line: &dyn Fn(usize, &String) -> String| -> String {
        messages.iter().enumerate().map(|(n, message)| line(n, message)).collect()
    };
    match kind {
        0 => each(&|_, message| format!("{message}\n")),
        1 => each(&|n, message| {
            let side = if n % 2 == 0 { "client" } else { "server" };
            format!("2026-01-05T10:00:0{n}.000Z [info] Message from {side}: {message}\n")
        }),
        2 => each(&|n, message| format!("{{\"ts\":\"2026-01-05T10:00:0{n}Z\",\"payload\":{message}}}\n")),
        3 => {
            each(&|n, message| format!("{}\n", json!({ "ts": format!("2026-01-05T10:00:0{n}Z"), "payload": message })))
        }
        4 => each(&|_, message| format!("Content-Length: {}\r\n\r\n{message}", message.len())),
        5 => each(&|_, message| format!("event: message\ndata: {message}\n\n")),
        6 => format!("[\n{}\n]\n", messages.join(",\n")),
        7 => format!("[{}]\n", messages.join(",")),
        _ => {
            let entry = |pair: &[String]| {
                json!({ "startedDateTime": "2026-01-05T10:00:00Z", "time": 5,
                    "request": { "method": "POST", "url": "https://example.org/mcp", "headers": [],
                        "postData": { "mimeType": "application/json", "text": pair[0] } },
                    "response": { "status": 200, "headers": [], "content": { "mimeType": "application/json",
                        "encoding": "base64", "text": BASE64.encode(&pair[1]) } } })
            };
            let entries: Vec<_> = messages.chunks(2).map(entry).collect();
            json!({ "log": { "version": "1.2", "creator": { "name": "x", "version": "1" }, "entries": entries } })
                .to_string()
        }
    }
}

/// True if a text has a secret, in any number of escape sequences, or in Base64.
fn tells(text: &[u8], secret: &str, depth: usize) -> bool {
    let mut plain = String::from_utf8_lossy(text).into_owned();
    loop {
        if plain.contains(secret) {
            return true;
        }
        let less = unescaped(&plain);
        if less.len() == plain.len() {
            break;
        }
        plain = less;
    }
    let is_in_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    depth > 0
        && plain
            .split(|c| !is_in_base64(c))
            .filter(|run| run.len() >= 24)
            .any(|run| BASE64.decode(run).is_ok_and(|bytes| tells(&bytes, secret, depth - 1)))
}

/// A text without one level of escape sequences.
fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let digits = escape.strip_prefix('u').and_then(|digits| digits.get(..4));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = &escape[5..];
            }
            None => {
                let mut characters = escape.chars();
                match characters.next() {
                    Some('b' | 'f' | 'n' | 'r' | 't') => out.push(' '),
                    Some(other) => out.push(other),
                    None => {}
                }
                rest = characters.as_str();
            }
        }
    }
    out.push_str(rest);
    out
}
