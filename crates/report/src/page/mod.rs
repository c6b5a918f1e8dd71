//! Run report as one self-contained HTML file. The embedded script draws the charts.

mod chart;
mod charted;
mod comparison;
mod document;
mod gates;
mod packed;
mod recalled;
mod sections;
mod verdict;
mod week;

use crate::analysis::{Analysis, RunData};
use crate::figure::format_minute;
use crate::run::{EdgeLine, GateLine, Heading};
use candlewick_engine::IntentRow;
use candlewick_sdk::CandleSeries;
use chart::Charts;
use document::Document;
use packed::PackedRun;
use serde_json::Value;
use std::io::{self, Write};

pub use comparison::{ComparisonPage, TunePage, write_comparison_page, write_tune_page};
pub use document::DataTable;
pub use recalled::{ParsedRun, ParsedTrade};
pub use sections::flatten_document;

pub struct RunPage<'a> {
    pub title: String,
    pub edge: &'a EdgeLine,
    pub heading: Heading,
    pub break_even_payout_percent: Option<f64>,
    pub pnl: f64,
    pub bots: DataTable,
    pub figures: Vec<(&'static str, String)>,
    pub notices: Vec<String>,
    pub tables: Vec<(&'static str, DataTable)>,
    pub trades: RunData<'a>,
    /// Trades in the same order as in the CSV file of trades.
    pub rows: Vec<&'a IntentRow>,
    pub analysis: &'a Analysis,
    pub gates: &'a [GateLine],
    pub candles: Vec<CandleSeries>,
    pub no_sensitivity_reason: &'static str,
    pub settings: Value,
    pub provenance: Vec<(&'static str, String)>,
    /// JSON document that `--json` prints. The page embeds it for programs that read the page.
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

fn section_links(page: &RunPage<'_>) -> Vec<(&'static str, &'static str)> {
    let mut links = LINKS.to_vec();
    if !page.gates.is_empty() {
        let after = LINKS.iter().position(|(id, _)| *id == "baselines").map_or(LINKS.len(), |at| at + 1);
        links.insert(after, ("gates", "Gate"));
    }
    links
}

pub fn write_run_page(page: &RunPage<'_>, writer: impl Write) -> io::Result<()> {
    let mut charts = Charts::default();
    let mut packed = PackedRun::from_page(page)?;
    let sections = [
        verdict::section(page),
        sections::findings(page),
        charted::equity_section(page, &mut charts)?,
        charted::win_rate_section(page, &mut charts)?,
        charted::drawdowns_section(page),
        sections::trade_list(page),
        charted::returns_section(page, &mut charts),
        week::section(page),
        sections::results(page),
        sections::baselines(page),
        gates::section(page, &mut charts),
        charted::sensitivity_section(page, &mut charts),
        sections::settings(page),
        sections::provenance(page),
    ];
    packed.elements.append(&mut charts.elements);
    let document = Document {
        title: &page.title,
        subtitle: format!(
            "{} to {} UTC",
            format_minute(page.trades.span.start),
            format_minute(page.trades.span.end)
        ),
        links: &section_links(page),
        sections: &sections,
        data: &[("charts", &charts.to_value()), ("contents", &packed.contents), ("report", &page.document)],
        packed_elements: &packed.elements,
    };
    document.write(writer)
}
