//! Escaping texts of logs and building blocks for XML, HTML and Markdown.

/// Returns the first character of a text that XML 1.0 cannot carry, not even as a reference.
pub fn not_xml(text: &str) -> Option<char> {
    // `Char` in section 2.2.
    let is_xml = |character: char| matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    text.chars().find(|character| !is_xml(*character))
}

/// The reference to U+000D, which XML would otherwise read as a line end.
pub const CARRIAGE_RETURN: &str = "&#13;";

/// Escapes a text for XML and HTML, in content and in attributes. A character that XML cannot carry becomes its escape in
/// Rust, such as `\u{0}`.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\r' => escaped.push_str(CARRIAGE_RETURN),
            other if not_xml(other.encode_utf8(&mut [0; 4])).is_some() => escaped.extend(other.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Formats a text as an IRI in Turtle. A character that IRIs cannot have becomes its escape, which a parser refuses.
pub fn turtle_iri(text: &str) -> String {
    let mut iri = "<".to_owned();
    for character in text.chars() {
        match character {
            '\0'..=' ' | '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\' => {
                iri.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            other => iri.push(other),
        }
    }
    iri + ">"
}

/// Escapes a text for a line or a cell of Markdown, where no part of it is markup.
pub fn markdown(text: &str) -> String {
    let text = joined(text);
    let mut escaped = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let is_markup = match character {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '~' | '|' => true,
            '#' => previous == ' ',
            // Within a word, an underscore is literal.
            '_' => !previous.is_alphanumeric() || !next.is_alphanumeric(),
            '&' => next == '#' || next.is_ascii_alphabetic(),
            _ => false,
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(character);
        previous = character;
    }
    escaped
}

/// Formats a text as code within a line of Markdown, or else, if it has backticks or angle brackets, escapes it.
pub fn markdown_code(text: &str) -> String {
    if text.contains(['`', '<']) { markdown(text) } else { format!("`{}`", joined(text)) }
}

/// Formats a text as a block of code in Markdown, with a fence longer than any run of backticks in it.
pub fn markdown_block(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let language: String =
        language.chars().filter(|character| !character.is_whitespace() && *character != '`').collect();
    format!("{fence}{language}\n{}\n{fence}\n\n", text.trim_end_matches('\n'))
}

/// Formats a link in Markdown. The URL is percent-encoded.
pub fn markdown_link(text: &str, url: &str) -> String {
    format!("[{}]({})", markdown(text), url.replace('(', "%28").replace(')', "%29"))
}

/// Returns a text that is Markdown itself as a part of a page: HTML in it is shown, and links lead to the web or are
/// relative. Code stays as it is where every parser of Markdown agrees that it is code.
pub fn safe_markdown(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let spans_end_in_lines = unfenced(&text).all(|line| code_spans(line).is_some());
    let mut safe = String::with_capacity(text.len());
    let mut fence = None;
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at(end);
        if fence.is_some() || fence_of(line).is_some() {
            safe.push_str(line);
        } else {
            let spans = code_spans(line).filter(|_| spans_end_in_lines && !line.contains('|')).unwrap_or_default();
            for (at, character) in line.char_indices() {
                let following = line.get(at + character.len_utf8()..).unwrap_or_default();
                let is_code = spans.iter().any(|span| span.contains(&at));
                match character {
                    '<' if !is_code
                        && following.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) =>
                    {
                        safe.push_str("&lt;");
                    }
                    ']' if !is_code && following.starts_with(['(', ':']) && !is_safe_target(following, after) => {
                        safe.push_str("\\]");
                    }
                    character => safe.push(character),
                }
            }
        }
        fence = next_fence(fence, line);
        rest = after;
    }
    if let Some((mark, length)) = fence {
        // Else the rest of the page would be code.
        safe.push_str(&format!("\n{}", mark.to_string().repeat(length)));
    }
    safe
}

/// The mark and the length of the fence of an open block of code.
type Fence = (char, usize);

/// Returns the fence that a line opens. A fence that is indented may be part of a list, whose end would end its code.
fn fence_of(line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

/// Returns the open fence after a line.
fn next_fence(open: Option<Fence>, line: &str) -> Option<Fence> {
    let Some((mark, length)) = open else { return fence_of(line) };
    let text = line.trim();
    let is_end = text.chars().count() >= length && text.chars().all(|character| character == mark);
    open.filter(|_| !is_end)
}

/// Returns the lines outside of fences.
fn unfenced(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.split('\n').filter(move |line| {
        let before = fence;
        fence = next_fence(fence, line);
        before.is_none() && fence.is_none()
    })
}

/// Returns the byte ranges of the code in a line; `None` if it may go on in the next line.
fn code_spans(line: &str) -> Option<Vec<std::ops::Range<usize>>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(start) = line.get(at..)?.find('`').map(|start| at + start) {
        let run = |from: usize| line.get(from..).map_or(0, |rest| rest.len() - rest.trim_start_matches('`').len());
        let length = run(start);
        let mut end = start + length;
        loop {
            end += line.get(end..)?.find('`')?;
            let closing = run(end);
            end += closing;
            if closing == length {
                break;
            }
        }
        // An escaped backtick does not begin code.
        if line.get(..start)?.ends_with('\\') {
            return None;
        }
        spans.push(start..end);
        at = end;
    }
    Some(spans)
}

/// Returns true if the target behind the text of a link, in parentheses or after a colon, leads to the web or is
/// relative. It may begin in the next line.
fn is_safe_target(following: &str, next_lines: &str) -> bool {
    let target = following.get(1..).unwrap_or_default().trim_start();
    let target = if target.is_empty() { next_lines.trim_start() } else { target };
    let target = target.trim_start_matches('<');
    let target = target.split(|c: char| c.is_whitespace() || matches!(c, ')' | '>')).next().unwrap_or_default();
    let scheme = target.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    // References and escapes can spell a colon.
    !scheme.contains([':', '&', '\\']) || matches!(scheme.as_str(), "http:" | "https:") || scheme.starts_with("mailto:")
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Joins the lines of a text.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_escaped() {
        let text = "<a b='c' d=\"e\">&amp;</a>\r\n\t\u{0}\u{1b}\u{fffe}é\u{85}";
        let escaped =
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;&lt;/a&gt;&#13;\n\t\\u{0}\\u{1b}\\u{fffe}é\u{85}";
        assert_eq!(xml(text), escaped);
        assert_eq!(not_xml(escaped), None);
    }

    #[test]
    fn an_iri_in_turtle_ends_with_its_text() {
        assert_eq!(turtle_iri("http://e/é#a,b"), "<http://e/é#a,b>");
        assert_eq!(turtle_iri("e> .\n<a\\"), "<e\\u003E\\u0020.\\u000A\\u003Ca\\u005C>");
    }

    #[test]
    fn a_line_of_markdown_is_escaped() {
        for (text, escaped) in [
            ("![i](javascript:x) &lt; _a_b_", "!\\[i\\](javascript:x) \\&lt; \\_a_b\\_"),
            ("# a\n\n- b | c", "\\# a - b \\| c"),
            ("C# `x` ~y~ *z* a_b AT&T & Co", "C# \\`x\\` \\~y\\~ \\*z\\* a_b AT\\&T & Co"),
            ("<!-- <b onclick=1> -->", "\\<!-- \\<b onclick=1\\> --\\>"),
        ] {
            assert_eq!(markdown(text), escaped);
        }
        assert_eq!(markdown_code("a\n[b]"), "`a [b]`");
        assert_eq!(markdown_code("a`<b>"), "a\\`\\<b\\>");
        assert_eq!(markdown_link("a](b", "x(y)"), "[a\\](b](x%28y%29)");
        assert_eq!(markdown_block("a `b\n", "```\n<x>\n"), "````ab\n```\n<x>\n````\n\n");
    }

    #[test]
    fn markdown_of_others_stays_markdown_without_html() {
        for (text, safe) in [
            ("# a\n\n*b* [c](https://x/y_(z)) [d](e.md#f) [g](mailto:h)", None),
            ("1 < 2 and `Map<String>` and ``<a> ` <b>``", None),
            ("```html\n<b>\n```\n<b>", Some("```html\n<b>\n```\n&lt;b>")),
            ("~~~\n<b>\n```\n<b>", Some("~~~\n<b>\n```\n<b>\n~~~")),
            ("``` a`b\n<b>", Some("``` a`b\n&lt;b>")),
            // The list ends, and its code with it.
            ("- a\n  ```\n<b>", Some("- a\n  ```\n&lt;b>")),
            // Code from the first line to the second, and not in the second.
            ("a ` b\nc ` <b> ` d", Some("a ` b\nc ` &lt;b> ` d")),
            ("\\`<b>`", Some("\\`&lt;b>`")),
            ("|`a|<b>`|", Some("|`a|&lt;b>`|")),
            ("`a\r<b>`", Some("`a\n&lt;b>`")),
            ("<!-- --></x><?y", Some("&lt;!-- -->&lt;/x>&lt;?y")),
            ("[a](javascript:b) ![a](<data:b>)", Some("[a\\](javascript:b) ![a\\](&lt;data:b>)")),
            ("[a](java&#115;cript:b)", Some("[a\\](java&#115;cript:b)")),
            ("[a](javascript\\:b)", Some("[a\\](javascript\\:b)")),
            ("[a](\n JavaScript:b)", Some("[a\\](\n JavaScript:b)")),
            ("[a]\n\n[a]:\n  vbscript:b", Some("[a]\n\n[a\\]:\n  vbscript:b")),
            ("`[a](javascript:b)`", None),
        ] {
            assert_eq!(safe_markdown(text), safe.unwrap_or(text), "{text}");
        }
    }
}
