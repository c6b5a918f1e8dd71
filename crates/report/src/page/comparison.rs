//! Two runs side by side, as a page.

use super::DataTable;
use super::document::Document;
use super::plots::{ACCENT, BAD, Plots, curve, layout, line, time_axis};
use crate::markup::escaped;
use candlewick_sdk::Millis;
use plotly::Plot;
use plotly::common::{LineShape, Mode};
use plotly::layout::Axis;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Two runs, with all that their page shows.
pub struct ComparisonPage {
    /// What the runs are called.
    pub names: [String; 2],
    /// The verdicts: name and words.
    pub verdicts: [(String, String); 2],
    /// The balances over time.
    pub curves: [Vec<(Millis, f64)>; 2],
    /// Tables by their headings, with a sentence for those without a row.
    pub tables: Vec<(&'static str, String, DataTable)>,
    /// The document that `--json` prints.
    pub document: Value,
}

/// Writes the page of a comparison.
///
/// # Errors
/// Those of `writer`.
pub fn write_comparison_page(page: &ComparisonPage, writer: impl Write) -> io::Result<()> {
    let mut plots = Plots::default();
    let [first, second] = &page.names;
    let mut sections = vec![verdicts(page), balances(page, &mut plots)];
    for (heading, summary, table_data) in &page.tables {
        let table = if table_data.is_empty() { String::new() } else { table_data.to_markup() };
        sections.push(format!("<section><h2>{heading}</h2><p>{}</p>{table}</section>", escaped(summary)));
    }
    let document = Document {
        title: &format!("{first} beside {second}"),
        subtitle: format!("A is {first}, B is {second}"),
        links: &[("verdict", "Verdicts"), ("equity", "Balances")],
        sections: &sections,
        data: &[("plots", &plots.to_value()), ("report", &page.document)],
        packed: &[],
    };
    document.write(writer)
}

fn verdicts(page: &ComparisonPage) -> String {
    let mut text =
        String::from("<section id=\"verdict\"><p class=\"kicker\">Verdicts</p><dl class=\"hashes\">");
    for (side, (name, words)) in ["A", "B"].iter().zip(&page.verdicts) {
        let _ = write!(text, "<dt>{side}</dt><dd data-verdict=\"{}\">{}</dd>", escaped(name), escaped(words));
    }
    text.push_str("</dl></section>");
    text
}

fn balances(page: &ComparisonPage, plots: &mut Plots) -> String {
    let mut plot = Plot::new();
    for ((points, name), colour) in page.curves.iter().zip(["A", "B"]).zip([ACCENT, BAD]) {
        let points: Vec<(i64, f64)> = points.iter().map(|(at, balance)| (at.get(), *balance)).collect();
        let drawn = curve(&points, name).mode(Mode::Lines);
        plot.add_trace(drawn.line(line(colour, 1.6).shape(LineShape::Hv)));
    }
    plot.set_layout(layout().x_axis(time_axis()).y_axis(Axis::new().title("balance").tick_format(",~f")));
    let drawn = plots.add("equity", ("The balances of both runs over time", 360), &plot);
    format!("<section id=\"equity\"><h2>Balances</h2>{drawn}</section>")
}
