//! The report of a run as one self-contained HTML file: the verdict first, then the money over time, candles with the
//! trades on them, findings, tables, what other directions and settings would have brought, and what the run was.
//!
//! A section is a file, and a function from the [`RunPage`] to markup; drawings are specified with the `plotly` crate and
//! drawn by the script that it carries. Candles are in it in levels ([`bars`]), of which the page's own script
//! (`page.js`) unpacks the one that fits what is looked at, so that a million of them open at once.

mod bars;
mod baselines;
mod candles;
mod comparison;
mod data_table;
mod document;
mod equity;
mod figure;
mod findings;
mod packed;
mod plots;
mod provenance;
mod recalled;
mod results;
mod sensitivity;
mod settings;
mod thin;
mod trade_columns;
mod verdict;

pub use comparison::{ComparisonPage, write_comparison_page};
pub use data_table::DataTable;
pub use recalled::{RecalledRun, RecalledTrade};
pub use settings::flattened;
pub use verdict::VerdictText;

use crate::analysis::{Analysis, Trades};
use candlewick_engine::IntentRow;
use candlewick_sdk::CandleSeries;
use document::Document;
use plots::Plots;
use serde_json::Value;
use std::io::{self, Write};

/// A run, with all that its page shows.
pub struct RunPage<'a> {
    /// What it is, as the heading says it.
    pub title: String,
    /// The verdict in words, and what it rests on.
    pub verdict: VerdictText,
    /// A line for each bot.
    pub bots: DataTable,
    /// Name and value of each figure, in their order.
    pub figures: Vec<(&'static str, String)>,
    /// What the reader should know besides the findings.
    pub notices: Vec<String>,
    /// Further tables with their headings, as the delays of a live run.
    pub tables: Vec<(&'static str, DataTable)>,
    /// What the run's trades are part of.
    pub trades: Trades<'a>,
    /// The trades, in the order of the CSV file of trades.
    pub rows: Vec<&'a IntentRow>,
    /// What they say.
    pub analysis: &'a Analysis,
    /// The candles that bots listened to.
    pub candles: Vec<CandleSeries>,
    /// How a sensitivity comes to be seen, where there is none.
    pub without_sensitivity: &'static str,
    /// Everything that was configured.
    pub settings: Value,
    /// Hashes and versions by name.
    pub provenance: Vec<(&'static str, String)>,
    /// The document that `--json` prints, for machines that read the page.
    pub document: Value,
}

/// Where the reader of a page is led.
const LINKS: [(&str, &str); 9] = [
    ("verdict", "Verdict"),
    ("equity", "Balance"),
    ("candles", "Candles"),
    ("findings", "Findings"),
    ("results", "Figures"),
    ("tables", "Tables"),
    ("baselines", "Baselines"),
    ("sensitivity", "Sensitivity"),
    ("settings", "Settings"),
];

/// Writes the page of a run.
///
/// # Errors
/// Those of `writer`.
pub fn write_run_page(page: &RunPage<'_>, writer: impl Write) -> io::Result<()> {
    let mut plots = Plots::default();
    let candles = candles::Packed::of(page)?;
    let sections = [
        verdict::section(page),
        equity::section(page, &mut plots),
        candles.section(),
        findings::section(page),
        results::section(page),
        baselines::section(page, &mut plots),
        sensitivity::section(page, &mut plots),
        settings::section(page),
        provenance::section(page),
    ];
    let document = Document {
        title: &page.title,
        subtitle: verdict::time_of(page),
        links: &LINKS,
        sections: &sections,
        data: &[("plots", &plots.to_value()), ("contents", &candles.contents), ("report", &page.document)],
        packed: &candles.elements,
    };
    document.write(writer)
}
