//! What a reader must know before believing the result.

use super::RunPage;
use crate::markup::escaped;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text = String::from("<section id=\"findings\"><h2>Findings</h2>");
    if page.analysis.findings.is_empty() {
        text.push_str("<p class=\"none\">Nothing was found that speaks against these figures.</p>");
    } else {
        text.push_str("<ul class=\"findings\">");
        for finding in &page.analysis.findings {
            let severity = finding.severity.as_str();
            let _ = write!(
                text,
                "<li class=\"{severity}\"><b>{severity}</b> <span>{}</span></li>",
                escaped(&finding.text)
            );
        }
        text.push_str("</ul>");
    }
    for notice in &page.notices {
        let _ = write!(text, "<p class=\"note\">{}</p>", escaped(notice));
    }
    text.push_str("</section>");
    text
}
