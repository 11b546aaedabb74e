//! `nvim-lua`: Neovim's LSP log. Its messages are Lua tables, so it is recognised and not read.

use super::about::{About, Sign, Window};
use super::decoder::{leading_blanks, split_once, trim_end};
use super::marked::{head, marked_lines};

pub(super) const ABOUT: About = About {
    summary: "`[DEBUG][2021-12-31 15:28:51] …rpc.lua:344 \"rpc.send\" {  id = 1, … }`: Lua tables, no JSON",
    carries: "nothing: it is recognised only, and refused",
    sign: Sign::Refused(detect, REFUSAL),
    decoder: |limit| marked_lines(limit, 0, |_, _| None),
};

const REFUSAL: &str = "Neovim's LSP log holds messages as Lua tables, not as JSON; \
    put `lsp-devtools agent --` in front of the language server's command (`cmd` in Neovim's configuration), \
    run `lsp-devtools record --to-file FILE` while editing, and give that file";

/// A line that names a Lua file and then a message sent or received, or the line with which the log begins, before any
/// line that is a JSON value.
fn detect(window: &Window<'_>) -> bool {
    window.lines_before_values().any(|line| {
        let line = head(line);
        // Versions before 0.6 write `[ START ] 2021-08-12T19:17:02+0300 ] `.
        let begins = (line.starts_with(b"[START][") || line.starts_with(b"[ START ] "))
            && line.ends_with(b"] LSP logging initiated");
        begins || line.starts_with(b"[") && names_a_message(line)
    })
}

fn names_a_message(line: &[u8]) -> bool {
    let found = split_once(line, b".lua:").and_then(|(_, file)| split_once(file, b"\"rpc."));
    let Some((before, call)) = found else { return false };
    let Some((name, behind)) = split_once(call, b"\"") else { return false };
    // A copied log may have blanks in place of its tabs.
    trim_end(before).len() < before.len()
        && (name.starts_with(b"send") || name.starts_with(b"receive"))
        && behind[leading_blanks(behind)..].starts_with(b"{")
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    #[test]
    fn logs_of_all_versions() {
        let table = [
            ("[DEBUG][2025-03-26 13:33:39] .../vim/lsp/rpc.lua:286\t\"rpc.send\"\t{  id = 1 }", true),
            ("[DEBUG][2022-09-24 19:58:33] .../vim/lsp/rpc.lua:347    \"rpc.receive\"  {  id = 1 }", true),
            ("[ DEBUG ] 2021-06-30T17:05:07+0100 ] .../lsp/rpc.lua:390 ]\t\"rpc.send.payload\"\t{  id = 1 }", true),
            ("[START][2022-09-24 19:58:33] LSP logging initiated\n{}", true),
            ("[ START ] 2021-08-12T19:17:02+0300 ] LSP logging initiated", true),
            ("[WARN][2022-09-24 19:58:33] ...lsp/handlers.lua:537\t\"a warning\"", false),
            ("[DEBUG] rpc.lua:1 \"rpc.send\"", false),
            ("{}\n[DEBUG][2025-03-26 13:33:39] .../vim/lsp/rpc.lua:286\t\"rpc.send\"\t{  id = 1 }", false),
            (r#"[{"a":"x.lua:1 \"rpc.send\" {"}]"#, false),
        ];
        for (log, expected) in table {
            assert_eq!(Format::detect(log.as_bytes()) == Format::NvimLua, expected, "{log}");
        }
    }

    #[test]
    fn its_lines_are_text() {
        let found = entries(|| (ABOUT.decoder)(20), include_bytes!("samples/nvim-lua.log"));
        assert_eq!(texts(&found), ["# <50>", "# <114>"]);
    }
}
