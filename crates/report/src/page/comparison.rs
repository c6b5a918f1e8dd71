//! HTML pages of comparisons of two runs, and of guided searches.

use super::DataTable;
use super::chart::{ACCENT_COLOUR, Axis, Chart, Charts, Column, LOSS_COLOUR, Layer, Line, Pane};
use super::document::Document;
use crate::figure::capitalise;
use crate::markup::escape_html;
use candlewick_sdk::Millis;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write};

pub struct ComparisonPage {
    pub names: [String; 2],
    pub verdicts: [(String, String); 2],
    pub curves: [Vec<(Millis, f64)>; 2],
    /// Sections of the page, each with heading, summary and table.
    pub tables: Vec<(&'static str, String, DataTable)>,
    pub document: Value,
}

pub fn write_comparison_page(page: &ComparisonPage, writer: impl Write) -> io::Result<()> {
    let mut charts = Charts::default();
    let [first, second] = &page.names;
    let mut sections = vec![verdict_section(page), balance_section(page, &mut charts)];
    for (heading, summary, table_data) in &page.tables {
        let table = if table_data.is_empty() { String::new() } else { table_data.to_markup() };
        sections.push(format!("<section><h2>{heading}</h2><p>{}</p>{table}</section>", escape_html(summary)));
    }
    let document = Document {
        title: &format!("{first} vs {second}"),
        subtitle: format!("A is {first}, B is {second}"),
        links: &[("verdict", "Verdicts"), ("equity", "Balances")],
        sections: &sections,
        data: &[("charts", &charts.to_value()), ("report", &page.document)],
        packed_elements: &[],
    };
    document.write(writer)
}

fn verdict_section(page: &ComparisonPage) -> String {
    let mut text =
        String::from("<section id=\"verdict\"><p class=\"kicker\">Verdicts</p><dl class=\"hashes\">");
    for (side, (name, words)) in ["A", "B"].iter().zip(&page.verdicts) {
        let _ = write!(
            text,
            "<dt>{side}</dt><dd data-verdict=\"{}\">{}</dd>",
            escape_html(name),
            escape_html(words)
        );
    }
    text.push_str("</dl></section>");
    text
}

fn balance_section(page: &ComparisonPage, charts: &mut Charts) -> String {
    let times = || page.curves.iter().flatten().map(|(at, _)| at.get());
    let (Some(from), Some(to)) = (times().min(), times().max()) else {
        return "<section id=\"equity\"><h2>Balances</h2><p class=\"none\">Neither run has a balance.</p></section>"
            .to_owned();
    };
    let sides = page.curves.iter().zip(["A", "B"]).zip([(ACCENT_COLOUR, false), (LOSS_COLOUR, true)]);
    let layers = sides.map(|((points, name), (colour, is_dashed))| {
        let x = Column::Plain(points.iter().map(|(at, _)| at.get() as f64).collect());
        let y = Column::Plain(points.iter().map(|(_, balance)| *balance).collect());
        Layer::Line(Line { is_stepped: true, is_dashed, ..Line::new(name, colour, x, y) })
    });
    let pane =
        Pane { title: "Balance".to_owned(), height: 320, decimals: 2, unit: "", layers: layers.collect() };
    let chart = Chart { axis: Axis::Time { from, to }, panes: vec![pane] };
    let drawn = charts.add("equity", "The balances of both runs over time", &chart);
    format!("<section id=\"equity\"><h2>Balances</h2>{drawn}</section>")
}

pub struct TunePage {
    pub title: String,
    pub subtitle: String,
    /// CSS class of the conclusion: `exploratory`, `open`, `withheld` or `rejected`.
    pub class: &'static str,
    pub headline: &'static str,
    pub explanation: String,
    pub next_steps: Vec<String>,
    pub tables: Vec<(&'static str, &'static str, DataTable)>,
    pub notes: Vec<String>,
    pub document: Value,
}

pub fn write_tune_page(page: &TunePage, writer: impl Write) -> io::Result<()> {
    let mut sections = vec![conclusion(page)];
    let mut links = vec![("verdict", "Conclusion")];
    for (name, heading, table) in &page.tables {
        links.push((name, heading));
        sections.push(format!("<section id=\"{name}\"><h2>{heading}</h2>{}</section>", table.to_markup()));
    }
    if !page.notes.is_empty() {
        links.push(("notes", "Notes"));
        let mut notes = String::from("<section id=\"notes\"><h2>Notes</h2>");
        for note in &page.notes {
            let _ = write!(notes, "<p class=\"note\">{}</p>", escape_html(note));
        }
        sections.push(notes + "</section>");
    }
    let document = Document {
        title: &page.title,
        subtitle: page.subtitle.clone(),
        links: &links,
        sections: &sections,
        data: &[("charts", &Charts::default().to_value()), ("report", &page.document)],
        packed_elements: &[],
    };
    document.write(writer)
}

fn conclusion(page: &TunePage) -> String {
    let mut text = format!(
        "<section id=\"verdict\" class=\"{}\"><p class=\"kicker\">Conclusion</p><h2>{}</h2><p class=\"words\">{}</p>\
         <p><b>Next</b></p><ol>",
        page.class,
        page.headline,
        escape_html(&page.explanation)
    );
    for step in &page.next_steps {
        let _ = write!(text, "<li>{}.</li>", escape_html(&capitalise(step)));
    }
    text.push_str("</ol></section>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn escapes_foreign_text_and_links_every_table() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = DataTable { header: row(["step", "found"]), rows: vec![row(["<b>candles", "1 & 2"])] };
        let page = TunePage {
            title: "<i>dips".to_owned(),
            subtitle: "rules".to_owned(),
            class: "rejected",
            headline: "No edge",
            explanation: "a < b".to_owned(),
            next_steps: vec!["<script>".to_owned()],
            tables: vec![("steps", "Results by step", table)],
            notes: vec!["x > y".to_owned()],
            document: json!({}),
        };
        let mut bytes = Vec::new();
        write_tune_page(&page, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let parts = "&lt;i&gt;dips|a &lt; b|<li>&lt;script&gt;.</li>|&lt;b&gt;candles|href=\"#steps\"|\
                     id=\"steps\"|x &gt; y";
        for part in parts.split('|') {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
