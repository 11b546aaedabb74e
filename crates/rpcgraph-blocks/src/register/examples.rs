//! The examples of a building block, as in its `examples.yaml`.
//!
//! [`Examples::from_yaml`] reads the file and [`Examples::to_yaml`] writes it again, without its comments and its
//! layout, but with everything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::yaml::{self, YamlError};

/// Namespaces by prefix; the prefixes do not include the colon.
pub type Prefixes = BTreeMap<String, String>;

/// Entries that this program does not use, by name.
pub type UnusedEntries = BTreeMap<String, Value>;

/// The entry of a snippet with the formats of its uplifted forms in the documentation; null for none.
pub const DOCUMENTED: &str = "doc-uplift-formats";

/// The examples of a file, and the prefixes that they share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Examples {
    /// Prefixes of all examples.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prefixes: Prefixes,
    /// The examples, in order.
    pub examples: Vec<Example>,
    /// The other entries of the file.
    #[serde(flatten)]
    pub others: UnusedEntries,
}

/// An example: one thing, shown in one language or more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Example {
    /// Its subject, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its explanation, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Base IRI of its snippets, as if it were the document's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_uri: Option<String>,
    /// Name of the files that are made from the example, in place of `example_1_1`. Its extension is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_output_filename: Option<String>,
    /// Prefixes, which override the file's prefixes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prefixes: Prefixes,
    /// The snippets; empty if the whole example is in `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippets: Vec<Snippet>,
    /// Its other entries.
    #[serde(flatten)]
    pub others: UnusedEntries,
}

/// An example in one language.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Snippet {
    /// A short name (`json`, `jsonld`, `ttl`, `python`) or a media type.
    pub language: String,
    /// The JSON Schema, or a part of one such as `#Request`, that the snippet is an example of. `None` for the block's
    /// schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_ref: Option<String>,
    /// A JSONPath to the part of the text that is the example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_path: Option<String>,
    /// Base IRI, which overrides the example's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_uri: Option<String>,
    /// The text itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In place of `code`, the path of the file with the text, relative to the file of examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<String>,
    /// The text of that file, once it is read.
    #[serde(skip)]
    pub referenced: Option<String>,
    /// Its other entries.
    #[serde(flatten)]
    pub others: UnusedEntries,
}

impl Examples {
    /// Reads a file of examples: a list of them, or a mapping with `prefixes` and `examples`.
    ///
    /// Fails if the text is not YAML, or a value is not a string, a list or a mapping where the format requires one.
    pub fn from_yaml(text: &str) -> Result<Self, YamlError> {
        if yaml::read(text)?.is_array() {
            return yaml::read_as(text).map(|examples| Self { examples, ..Self::default() });
        }
        yaml::read_as(text)
    }

    /// Writes a file of examples, always as a mapping. A text of line ends alone does not survive the round trip.
    pub fn to_yaml(&self) -> Result<String, serde_saphyr::ser_error::Error> {
        // Every value can be written as JSON.
        yaml::write(&serde_json::to_value(self).unwrap_or_default())
    }
}

impl Snippet {
    /// Returns its text, or its reference if that was not followed.
    pub fn text(&self) -> &str {
        [&self.code, &self.referenced, &self.r#ref].into_iter().flatten().next().map_or("", String::as_str)
    }

    /// True if the documentation shows its uplifted form in this format; both formats unless an entry names them.
    pub fn documents(&self, format: &str) -> bool {
        match self.others.get(DOCUMENTED) {
            None => true,
            Some(Value::Array(formats)) => formats.iter().any(|other| other == format),
            Some(one) => one == format,
        }
    }

    /// Creates a snippet in a language from its text.
    pub fn new(language: impl Into<String>, code: impl Into<String>) -> Self {
        Self { language: language.into(), code: Some(code.into()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Examples {
        Examples::from_yaml(text).unwrap()
    }

    fn refused(text: &str) -> String {
        Examples::from_yaml(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_has_every_entry() {
        let file = read(
            "prefixes: {ex: 'http://example.org/'}
examples:
  - title: A call
    content: Some *text*.
    base-uri: http://example.org/base/
    base-output-filename: call
    prefixes: {my: 'http://example.org/my#'}
    transforms: [x]
    snippets:
      - language: json
        schema-ref: '#Request'
        base-uri: http://example.org/other/
        code: |
          {\"a\": 1}
      - {language: python, ref: call.py, shacl-closure: [a.ttl]}",
        );
        assert_eq!(file.prefixes["ex"], "http://example.org/");
        let [example] = file.examples.as_slice() else { panic!() };
        assert_eq!(example.title.as_deref(), Some("A call"));
        assert_eq!(example.base_output_filename.as_deref(), Some("call"));
        assert!(example.others.contains_key("transforms"));
        let [json, python] = example.snippets.as_slice() else { panic!() };
        assert_eq!(json.code.as_deref(), Some("{\"a\": 1}\n"));
        assert_eq!(json.schema_ref.as_deref(), Some("#Request"));
        assert_eq!(json.base_uri.as_deref(), Some("http://example.org/other/"));
        assert_eq!((python.code.as_deref(), python.r#ref.as_deref()), (None, Some("call.py")));
        assert!(python.others.contains_key("shacl-closure"));
        assert_eq!(read(&file.to_yaml().unwrap()), file);
    }

    #[test]
    fn a_file_may_be_a_list() {
        let file = read("- title: 2\n  snippets: [{language: json, code: '1'}]\n- content: only text\n");
        assert_eq!(file.examples.len(), 2);
        assert_eq!(file.examples[0].title.as_deref(), Some("2"));
    }

    #[test]
    fn code_is_text_without_quotes_too() {
        let file = read("- snippets: [{language: json, code: 5}, {language: json, code: true}]");
        let codes: Vec<_> = file.examples[0].snippets.iter().map(Snippet::text).collect();
        assert_eq!(codes, ["5", "true"]);
    }

    #[test]
    fn errors_in_examples_have_a_line() {
        for (text, said, line) in [
            ("examples:\n  - title: [a]\n", "string", 2),
            ("examples:\n  - snippets:\n    - {code: a}\n", "language", 3),
            ("examples:\n  - snippets:\n    - language: json\n      code: [a]\n", "string", 4),
            ("examples:\n  - title: a\n    title: b\n", "title", 3),
            ("a: b\n", "examples", 1),
            ("examples:\n\t- a\n", "", 2),
        ] {
            let error = refused(text);
            assert!(error.contains(said), "{text}: {error}");
            assert!(error.contains(&format!("line {line}")), "{text}: {error}");
        }
        refused("just text\n");
        refused("");
    }

    #[test]
    fn aliases_cannot_blow_up() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let alias = format!("*a{}, ", level - 1).repeat(10);
            text.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
        }
        text.push_str("examples: []\n");
        refused(&text);
    }

    #[test]
    fn any_text_is_written_so_that_it_is_read() {
        for code in [
            "",
            "x",
            " x",
            "x\n",
            "x\n\n",
            "\n\nx",
            "  indented\nless\n",
            "a\n b\n\n\n",
            "\t",
            "tab\there\n",
            "true",
            "null",
            "1.0",
            "- a",
            "#c",
            "a: b",
            "é\u{2028}😀\u{85}\n",
            "\r\n",
            "a\r\nb",
            "a \nb  \n",
            "'\"'",
            "---\n",
            "...\n",
            "{\"long\":  \"x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\"}",
        ] {
            let example = Example { snippets: vec![Snippet::new("json", code)], ..Example::default() };
            let file = Examples { examples: vec![example], ..Examples::default() };
            let text = file.to_yaml().unwrap();
            assert_eq!(Examples::from_yaml(&text).unwrap(), file, "{code:?} as\n{text}");
        }
    }
}
