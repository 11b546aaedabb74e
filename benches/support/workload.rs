//! A log of MCP-like messages: the same for the same seed.

use std::io::{self, Write};

/// The seed of a log that nobody asked to be another.
pub const SEED: u64 = 20_260_105;

/// A generator of numbers that nobody needs to predict: xorshift64*, from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }
}

const WORDS: [&str; 16] = [
    "graph", "session", "server", "reads", "the", "file", "and", "answers", "with", "a", "list", "of", "errors", "at",
    "line", "end",
];

fn text(numbers: &mut Numbers, words: u64) -> String {
    let mut text = String::new();
    for word in 0..words {
        if word > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[numbers.below(16) as usize]);
    }
    text
}

/// Writes a number of messages, a line each.
pub fn write(out: &mut impl Write, messages: u64, seed: u64) -> io::Result<()> {
    let mut numbers = Numbers(seed.max(1));
    let mut open = Vec::new();
    let mut id = 0;
    for _ in 0..messages {
        match numbers.below(20) {
            0..9 => {
                id += 1;
                let (tool, words, limit) = (numbers.below(40), numbers.below(20), numbers.below(1000));
                let query = text(&mut numbers, 3 + words);
                writeln!(
                    out,
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"tool-{tool}","arguments":{{"query":"{query}","limit":{limit},"exact":{}}},"_meta":{{"progressToken":{id}}}}}}}"#,
                    limit % 2 == 0
                )?;
                open.push(id);
            }
            9..17 if !open.is_empty() => {
                let at = numbers.below(open.len().min(8) as u64) as usize;
                let answered = open.remove(at);
                if numbers.below(12) == 0 {
                    let code = -32_000 - i64::try_from(numbers.below(700)).unwrap_or(0);
                    let message = text(&mut numbers, 5);
                    writeln!(
                        out,
                        r#"{{"jsonrpc":"2.0","id":{answered},"error":{{"code":{code},"message":"{message}","data":{{"retry":false}}}}}}"#
                    )?;
                } else {
                    let words = 10 + numbers.below(60);
                    let (content, score) = (text(&mut numbers, words), numbers.below(100_000));
                    writeln!(
                        out,
                        r#"{{"jsonrpc":"2.0","id":{answered},"result":{{"content":[{{"type":"text","text":"{content}"}}],"isError":{},"score":{}.{:02}}}}}"#,
                        score % 20 == 0,
                        score / 100,
                        score % 100
                    )?;
                }
            }
            _ => {
                let (token, progress) = (numbers.below(id.max(1) + 1), numbers.below(100));
                let message = text(&mut numbers, 6);
                writeln!(
                    out,
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"total":100,"message":"{message}"}}}}"#
                )?;
            }
        }
    }
    Ok(())
}
