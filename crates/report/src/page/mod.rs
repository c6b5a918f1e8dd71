//! The report of a run as one self-contained HTML file.
//!
//! A section is a file with a function from the [`RunPage`] to markup. A [`chart`] is declared as
//! data and drawn on a canvas by the page's own script (`script/`). Candles are stored in levels
//! ([`bars`]), and the script unpacks only the level that fits the visible range, so a page with a
//! million candles opens at once.

mod bars;
mod baselines;
mod candles;
mod chart;
mod comparison;
mod data_table;
mod document;
mod equity;
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

pub struct RunPage<'a> {
    pub title: String,
    pub verdict: VerdictText,
    pub bots: DataTable,
    pub figures: Vec<(&'static str, String)>,
    pub notices: Vec<String>,
    pub tables: Vec<(&'static str, DataTable)>,
    pub trades: Trades<'a>,
    /// In the order of the CSV file of trades.
    pub rows: Vec<&'a IntentRow>,
    pub analysis: &'a Analysis,
    pub gates: Vec<GateText<'a>>,
    pub candles: Vec<CandleSeries>,
    pub without_sensitivity: &'static str,
    pub settings: Value,
    pub provenance: Vec<(&'static str, String)>,
    /// The document that `--json` prints, embedded for programs that read the page.
    pub document: Value,
}

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

fn links_of(page: &RunPage<'_>) -> Vec<(&'static str, &'static str)> {
    let mut links = LINKS.to_vec();
    if !page.gates.is_empty() {
        let behind = LINKS.iter().position(|(id, _)| *id == "baselines").map_or(LINKS.len(), |at| at + 1);
        links.insert(behind, ("gates", "Gate"));
    }
    links
}

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
