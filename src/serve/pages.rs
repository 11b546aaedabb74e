//! The pages: the report, and the query form.

use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use serde_json::json;

use super::body::{ResponseBody, whole};
use crate::query::QUERY_PREFIXES;
use crate::query::catalogue::CATALOGUE;
use crate::report::page::{BASIC, facts_script, head, own_policy, policy};

const BODY: &str = include_str!("page/query.html");
const SCRIPT: &str = concat!(include_str!("page/editor.js"), include_str!("page/query.js"));

/// A page, built once.
pub(super) struct StaticPage {
    html: Bytes,
    policy: String,
}

impl StaticPage {
    /// Creates the page that shows the logs.
    pub fn report(html: Vec<u8>) -> Self {
        Self { html: html.into(), policy: own_policy() }
    }

    /// Creates the page with the query form.
    pub fn ask() -> Self {
        let script = format!("\"use strict\";\n(() => {{\n{BASIC}{SCRIPT}}})();\n");
        let policy = policy(&script, "; connect-src 'self'");
        let queries: Vec<_> = CATALOGUE
            .iter()
            .map(|query| json!({ "name": query.name, "title": query.title(), "text": query.text }))
            .collect();
        let facts = facts_script(&json!({ "queries": queries, "prefixes": QUERY_PREFIXES, "logs": "./" }));
        let head = head("Ask with SPARQL", &policy);
        let html = format!("{head}{BODY}{facts}\n<script>{script}</script>\n</body>\n</html>\n");
        Self { html: html.into(), policy }
    }

    pub fn response(&self) -> Response<ResponseBody> {
        let mut response = whole("text/html; charset=utf-8", self.html.clone());
        let policy = HeaderValue::from_str(&format!("{}; frame-ancestors 'none'", self.policy));
        response.headers_mut().extend(policy.ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
        response
    }
}
