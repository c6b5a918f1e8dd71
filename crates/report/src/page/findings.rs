//! Page section: findings.

use super::{RunPage, VerdictText};
use crate::markup::escaped;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text = String::from("<section id=\"findings\"><h2>Findings</h2>");
    if page.analysis.findings.is_empty() {
        let _ = write!(text, "<p class=\"none\">{}</p>", without_findings(&page.verdict));
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

/// Explains the absence of findings for each verdict. Findings question the figures, and the
/// figures of a rejected edge may well be sound.
fn without_findings(verdict: &VerdictText) -> &'static str {
    match verdict.name {
        "edge_shown" => {
            "Nothing was found that speaks against these figures. They are of trades that were made; whether the edge \
             lasts, only later ones show."
        }
        "edge_no_longer_held" => {
            "Nothing was found that makes these figures doubtful: they show an edge that is not supported any \
             more: it ended, or was smaller all along."
        }
        "edge_rejected" => {
            "Nothing was found that makes these figures doubtful: they rule an edge out, as the verdict says."
        }
        _ if !verdict.withheld.is_empty() => {
            "Nothing was found that speaks against these figures, besides what the verdict is withheld for."
        }
        _ => {
            "Nothing was found that speaks against these figures, but they do not yet decide whether there is an edge."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_nothing_was_found_is_no_praise_of_a_strategy_whose_edge_is_rejected() {
        let withheld = vec!["the latency is none".to_owned()];
        for (name, withheld, expected) in [
            ("edge_shown", vec![], "speaks against these figures. They are of trades that were made"),
            ("edge_rejected", vec![], "makes these figures doubtful: they rule an edge out"),
            ("not_enough_trades", withheld, "besides what the verdict is withheld for."),
            ("not_enough_trades", vec![], "but they do not yet decide"),
        ] {
            let verdict = VerdictText { name, withheld, ..VerdictText::default() };
            let text = without_findings(&verdict);
            assert!(text.starts_with("Nothing was found") && text.contains(expected), "{name}: {text}");
            assert_eq!(name == "edge_rejected", !text.contains("speaks against these figures"), "{name}");
        }
    }
}
