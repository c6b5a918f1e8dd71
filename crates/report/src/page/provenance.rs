//! Page section: hashes and versions of the data and the run.

use super::RunPage;
use crate::markup::escaped;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text = String::from(
        "<section id=\"provenance\"><h2>What this was made from</h2><p>Two runs of the same program with the same hashes \
         are the same run.</p><dl class=\"hashes\">",
    );
    for (name, value) in &page.provenance {
        let _ = write!(text, "<dt>{}</dt><dd data-figure=\"{0}\">{}</dd>", escaped(name), escaped(value));
    }
    text.push_str("</dl></section>");
    text
}
