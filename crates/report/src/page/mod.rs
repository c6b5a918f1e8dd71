//! The report of a run as one self-contained HTML file: the verdict and the findings first, then the money over time with the
//! prices and trades below it, the list of trades, tables, what other directions and settings would have brought, and what the
//! run was.
//!
//! A section is a file, and a function from the [`RunPage`] to markup. What a chart shows is said in [`chart`], and drawn on a
//! canvas by the page's own script (`script/`). Candles are in the page in levels ([`bars`]), of which the script unpacks the
//! one that fits what is looked at, so that a million of them open at once.

mod bars;
mod baselines;
mod candles;
mod chart;
mod comparison;
mod data_table;
mod document;
mod equity;
mod figure;
mod findings;
mod gates;
mod packed;
mod provenance;
mod recalled;
mod results;
mod returns;
mod sensitivity;
mod settings;
mod trade_columns;
mod trade_list;
mod tuning;
mod value_bar;
mod verdict;
mod week;
mod win_rate;

pub use comparison::{ComparisonPage, write_comparison_page};
pub use data_table::DataTable;
pub(crate) use figure::{minute, span};
pub use gates::GateText;
pub use recalled::{RecalledRun, RecalledTrade};
pub use settings::flattened;
pub use tuning::{TunePage, write_tune_page};
pub use verdict::VerdictText;

use crate::analysis::{Analysis, Trades};
use candlewick_engine::IntentRow;
use candlewick_sdk::CandleSeries;
use chart::Charts;
use document::Document;
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
    /// What the gates of its bots were worth.
    pub gates: Vec<GateText<'a>>,
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
const LINKS: [(&str, &str); 13] = [
    ("verdict", "Verdict"),
    ("findings", "Findings"),
    ("equity", "Equity"),
    ("win-rate", "Win rate"),
    ("drawdowns", "Drawdowns"),
    ("list", "Trades"),
    ("returns", "Returns"),
    ("week", "Hours"),
    ("results", "Figures"),
    ("tables", "Tables"),
    ("baselines", "Baselines"),
    ("sensitivity", "Sensitivity"),
    ("settings", "Settings"),
];

/// The links of a page: one to its gates where it has any.
fn links_of(page: &RunPage<'_>) -> Vec<(&'static str, &'static str)> {
    let mut links = LINKS.to_vec();
    if !page.gates.is_empty() {
        let behind = LINKS.iter().position(|(id, _)| *id == "baselines").map_or(LINKS.len(), |at| at + 1);
        links.insert(behind, ("gates", "Gate"));
    }
    links
}

/// Writes the page of a run.
///
/// # Errors
/// Those of `writer`.
pub fn write_run_page(page: &RunPage<'_>, writer: impl Write) -> io::Result<()> {
    let mut charts = Charts::default();
    let mut packed = candles::Packed::of(page)?;
    let sections = [
        verdict::section(page),
        findings::section(page),
        equity::section(page, &mut charts)?,
        win_rate::section(page, &mut charts)?,
        equity::worst(page),
        trade_list::section(page),
        returns::section(page, &mut charts),
        week::section(page),
        results::section(page),
        baselines::section(page),
        gates::section(page, &mut charts),
        sensitivity::section(page, &mut charts),
        settings::section(page),
        provenance::section(page),
    ];
    packed.elements.append(&mut charts.elements);
    let document = Document {
        title: &page.title,
        subtitle: verdict::time_of(page),
        links: &links_of(page),
        sections: &sections,
        data: &[("charts", &charts.to_value()), ("contents", &packed.contents), ("report", &page.document)],
        packed: &packed.elements,
    };
    document.write(writer)
}
