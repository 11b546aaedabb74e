//! What looks like a password, a token or a key.

use regex::bytes::Regex;

/// Prefixes and shapes by which services' tokens are known, then members whose strings are secrets.
const LOOKS: &str = r#"(?x)
    \b(?: gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,} | sk-[A-Za-z0-9_-]{16,}
    | xox[abprs]-[A-Za-z0-9-]{10,} | A[KS]IA[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | npm_[A-Za-z0-9]{30,}
    | hf_[A-Za-z0-9]{20,} | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]* )
    | -----BEGIN\x20[A-Z\x20]*PRIVATE\x20KEY-----
    | (?i: \bbearer\x20[A-Za-z0-9._~+/-]{16,}
    | \\?"(?:[a-z0-9_-]*(?:password|passwd|secret|api_?-?key|access_?-?token|auth_?-?token|private_?-?key)|authorization)
      \\?"\s*:\s*\\?"[^"\\]{4,} )"#;

/// Counts them.
pub(super) struct Secrets {
    /// None only if the expression were wrong.
    looks: Option<Regex>,
    pub count: u64,
}

impl Secrets {
    pub fn new() -> Self {
        Self { looks: Regex::new(LOOKS).ok(), count: 0 }
    }

    /// Counts those in a text.
    pub fn look_into(&mut self, text: &[u8]) {
        if let Some(looks) = &self.looks {
            self.count += looks.find_iter(text).count() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret() {
        for (text, expected) in [
            (r#"{"token":"ghp_0123456789abcdefghij0123"}"#, 1),
            (r#"{"headers":{"Authorization":"Bearer abcdefghijklmnop.qrst"}}"#, 1),
            (r#"{"apiKey":"k-12345","db_password":"hunter22"}"#, 2),
            (r#""{\"client_secret\":\"abcdef\"}""#, 1),
            ("-----BEGIN RSA PRIVATE KEY-----", 1),
            ("AKIA0123456789ABCDEF and AIza0123456789012345678901234567890", 2),
            (r#"{"password":null,"secretary":"Ida","maxTokens":100,"progressToken":"abcdefgh","key":"value"}"#, 0),
            ("task-force sk-short eyJhbGciOi", 0),
        ] {
            let mut secrets = Secrets::new();
            secrets.look_into(text.as_bytes());
            assert_eq!(secrets.count, expected, "{text}");
        }
    }
}
