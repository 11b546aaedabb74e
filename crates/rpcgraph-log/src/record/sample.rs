//! Samples in files that describe formats.

use super::described::FormatDefinition;
use super::own_format::{OwnFormat, OwnFormatError};
use super::{Entry, Reader, ReaderOptions};

impl OwnFormat {
    /// Parses a file in TOML, and checks that its sample gives the stated result.
    ///
    /// # Errors
    ///
    /// If the text is not such a file, or its sample gives another result.
    pub fn described(text: &str) -> Result<Self, OwnFormatError> {
        let described: FormatDefinition = toml::from_str(text)?;
        let own_format = described.own_format()?;
        if let Some(sample) = described.sample.as_ref().filter(|_| described.refuse.is_none()) {
            described.test(sample, &own_format)?;
        }
        Ok(own_format)
    }
}

impl FormatDefinition {
    /// Reads the sample, and compares the result with the expected one.
    fn test(&self, sample: &str, own_format: &OwnFormat) -> Result<(), OwnFormatError> {
        let failed = |problem: String| Err(OwnFormatError::File(format!("{}: {problem}", self.name)));
        let (mut found, mut unread) = (Vec::new(), None);
        let mut reader =
            match Reader::new(sample.as_bytes(), &ReaderOptions::default().with_own_format(own_format.clone())) {
                Ok(reader) => reader,
                Err(error) => return failed(error.to_string()),
            };
        while let Ok(Some(entry)) = reader.next_entry() {
            match serde_json::from_slice::<serde_json::Value>(entry.bytes()) {
                Ok(message) if matches!(entry, Entry::Record(_)) => found.push(message),
                _ => {
                    unread =
                        unread.or(Some((entry.location().line, String::from_utf8_lossy(entry.bytes()).into_owned())))
                }
            }
        }
        let expected = self.gives.as_ref().map_or(found.len().max(1), |gives| gives.messages);
        if found.len() != expected {
            let unread = unread.map(|(line, text)| format!("; line {line} was not read: `{text}`")).unwrap_or_default();
            let plural = if found.len() == 1 { "" } else { "s" };
            return failed(format!("the sample gives {} message{plural} and not {expected}{unread}", found.len()));
        }
        let method = self.gives.as_ref().and_then(|gives| gives.method.as_deref());
        let first = found.first().and_then(|message| message.get("method")?.as_str());
        match method {
            Some(method) if first != Some(method) => {
                let first = first.map_or("none".to_owned(), |first| format!("`{first}`"));
                failed(format!("the method of the sample's first message is {first} and not `{method}`"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_samples_of_formats() {
        for text in Format::ALL.iter().filter_map(|format| format.file()) {
            if let Err(error) = OwnFormat::described(text) {
                panic!("{error}");
            }
        }
        for format in Format::ALL {
            assert_eq!(Format::detect(format.sample().as_bytes()), *format);
        }
    }

    /// With RPCGRAPH_BLESS=1, the list is rewritten: formats with code in the order of their table, then the others.
    #[test]
    fn formats_are_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/record");
        let mut rows: Vec<(usize, String)> = Vec::new();
        for file in fs::read_dir(folder.join("formats")).unwrap() {
            let path = file.unwrap().path();
            let table: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let name = table["name"].as_str().unwrap();
            assert_eq!(path.file_stem().unwrap(), name);
            let capital = |word: &str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
            let variant: String = name.split('-').map(capital).collect();
            let by_text = table.get("clue").is_some_and(toml::Value::is_str);
            let literals = table.get("literals").and_then(toml::Value::as_array);
            let literals: Vec<_> = literals.into_iter().flatten().filter_map(toml::Value::as_str).collect();
            let rank = table["rank"].as_integer().unwrap();
            let row = format!("            {variant} = {rank} \"{name}\" {by_text} {literals:?},\n");
            rows.push((Format::from_name(name).and_then(Format::code_position).unwrap_or(usize::MAX), row));
        }
        rows.sort();
        let list = folder.join("formats.rs");
        let text = fs::read_to_string(&list).unwrap();
        let (front, rest) = text.split_once("$with! {\n").unwrap();
        let (_, behind) = rest.split_once("        }\n").unwrap();
        let expected = format!(
            "{front}$with! {{\n{}        }}\n{behind}",
            rows.into_iter().map(|(_, row)| row).collect::<String>()
        );
        if std::env::var_os("RPCGRAPH_BLESS").is_some() {
            fs::write(&list, &expected).unwrap();
        }
        assert_eq!(text, expected, "RPCGRAPH_BLESS=1 makes it anew");
    }
}
