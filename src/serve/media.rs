//! The choice of an answer's media type by `Accept`: [RFC 9110,
//! 12.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1).

use hyper::StatusCode;

use super::body::HttpError;
use crate::query::results::ResultsFormat;
use crate::sink::Syntax;

/// The media types of rows and booleans, in order of preference if the client has none.
pub(super) const ROWS: &[(&str, ResultsFormat)] = &[
    ("application/sparql-results+json", ResultsFormat::Json),
    ("application/json", ResultsFormat::Json),
    ("application/sparql-results+xml", ResultsFormat::Xml),
    ("application/xml", ResultsFormat::Xml),
    ("text/csv; charset=utf-8", ResultsFormat::Csv),
    ("text/tab-separated-values; charset=utf-8", ResultsFormat::Tsv),
    ("application/x-ndjson", ResultsFormat::JsonLines),
    ("text/markdown; charset=utf-8", ResultsFormat::Markdown),
    ("text/plain; charset=utf-8", ResultsFormat::Table),
];

/// The media types of graphs.
pub(super) const GRAPHS: &[(&str, Syntax)] = &[
    ("text/turtle; charset=utf-8", Syntax::Turtle),
    ("application/n-triples", Syntax::NTriples),
    ("application/ld+json", Syntax::JsonLd),
    ("application/rdf+xml", Syntax::RdfXml),
    ("application/trig", Syntax::TriG),
    ("application/n-quads", Syntax::NQuads),
    ("application/x-ndjson", Syntax::JsonLdLines),
    ("text/plain; charset=utf-8", Syntax::NTriples),
];

/// Returns the media type that the client prefers.
pub(super) fn choose<T: Copy>(
    accept: Option<&str>,
    known: &[(&'static str, T)],
) -> Result<(&'static str, T), HttpError> {
    let accept = accept.unwrap_or("*/*");
    let mut best = None;
    for one in known {
        let liked = quality(accept, one.0.split(';').next().unwrap_or_default());
        if liked > best.map_or(0.0, |(liked, _)| liked) {
            best = Some((liked, *one));
        }
    }
    best.map(|(_, one)| one).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        HttpError::new(StatusCode::NOT_ACCEPTABLE, format!("the answer is written as one of {}", names.join(", ")))
    })
}

/// Returns the client's quality value for a media type, from 0 to 1. An exact range takes precedence over a wildcard.
fn quality(accept: &str, media_type: &str) -> f32 {
    let mut found = (0, 0.0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let exactness = match name.strip_suffix('*') {
            None if name == media_type => 3,
            Some("*/") => 1,
            Some(start) if start.ends_with('/') && media_type.starts_with(start) => 2,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        if exactness > found.0 {
            found = (exactness, weight.map_or(Ok(1.0), str::parse).unwrap_or(0.0));
        }
    }
    found.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(accept: &str) -> Option<&'static str> {
        choose(Some(accept), ROWS).ok().map(|(name, _)| name.split(';').next().unwrap())
    }

    #[test]
    fn preferred_media_type_is_chosen() {
        assert_eq!(choose(None, ROWS).unwrap().1, ResultsFormat::Json);
        assert_eq!(rows("*/*"), Some("application/sparql-results+json"));
        assert_eq!(rows("text/csv"), Some("text/csv"));
        assert_eq!(rows("text/*"), Some("text/csv"));
        assert_eq!(rows("text/csv;q=0.5, application/sparql-results+xml"), Some("application/sparql-results+xml"));
        assert_eq!(rows("application/sparql-results+json;q=0, */*;q=0.1"), Some("application/json"));
        assert_eq!(rows("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), Some("application/xml"));
        assert_eq!(rows("TEXT/CSV ; Q=0.3"), Some("text/csv"));
        assert_eq!(rows("image/png"), None);
        assert_eq!(rows("text/csv;q=x"), None);
    }
}
