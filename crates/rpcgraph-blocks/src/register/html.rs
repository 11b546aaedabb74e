//! The report for people: one self-contained HTML file.

use super::report::{BlockReport, ItemVerdict, ReportItem};
use crate::diagnostic::markup::xml;

const STYLE: &str = include_str!("report.css");

/// Returns `report.html` for one block or several.
pub fn html(reports: &[&BlockReport], title: &str) -> String {
    let (title, class) =
        (xml(title), reports.iter().map(|report| report.verdict()).max().unwrap_or(ItemVerdict::Passed).name());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n\
         <p class=\"{class}\">{}.</p>\n",
        BlockReport::passed_in_words(reports.iter().copied(), " examples and tests passed")
    );
    if let Some(generated) = reports.first().and_then(|report| report.generated.as_ref()) {
        out.push_str(&format!("<p>Generated {}</p>\n", xml(generated)));
    }
    for report in reports {
        // The viewer of registers links to this anchor.
        let (id, name) = (xml(&report.id), xml(&report.name));
        out.push_str(&format!("<h2 id=\"bblock-{id}\">{id} - {name}</h2>\n"));
        for error in &report.errors {
            out.push_str(&format!("<pre class=\"error\">{}</pre>\n", xml(error)));
        }
        report.items.iter().for_each(|item| write_item(item, &mut out));
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn write_item(item: &ReportItem, out: &mut String) {
    let (class, open) = (item.verdict().name(), if item.passed() { "" } else { " open" });
    out.push_str(&format!("<details{open}>\n<summary class=\"{class}\">{}</summary>\n", xml(&item.title())));
    out.push_str(&format!("<p><a href=\"{}\"><code>{}</code></a>", xml(&item.href), xml(&item.file)));
    if item.must_fail {
        out.push_str(", which must fail");
    }
    out.push_str("</p>\n");
    for (section, entries) in item.sections() {
        out.push_str(&format!("<h3>{}</h3>\n<ul>\n", section.title()));
        for entry in entries {
            let class = match (entry.is_error, entry.is("uplift-loss")) {
                (true, _) => " class=\"error\"",
                (false, true) => " class=\"loss\"",
                (false, false) => "",
            };
            out.push_str(&format!("<li{class}><pre>{}</pre></li>\n", xml(&entry.message)));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</details>\n");
}
