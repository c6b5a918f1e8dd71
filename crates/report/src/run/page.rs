//! Builds the HTML page of a run.

use super::{GateLine, RunReport, rows_of};
use crate::analysis::{Prices, Trades};
use crate::conditions::ConditionLine;
use crate::error::ReportError;
use crate::page::{DataTable, RunPage, VerdictText};
use candlewick_engine::{BotSettings, SessionSettings, TradeBook};
use candlewick_sdk::{CandleSeries, Millis, Money};
use candlewick_simulator::SimulationSettings;
use serde_json::{Map, Value, json};
use std::ops::Range;

pub struct PageParts<'a> {
    /// Kind of run: `Backtest` or `Journal`.
    pub kind: &'static str,
    pub book: &'a TradeBook,
    pub session: &'a SessionSettings,
    pub simulation: &'a SimulationSettings,
    pub strategies: &'a [(String, String)],
    pub balance: Money,
    pub span: &'a Range<Millis>,
    pub prices: Prices,
    pub candles: Vec<CandleSeries>,
    pub without_sensitivity: &'static str,
}

pub fn page_of<'a>(report: &'a RunReport, parts: PageParts<'a>) -> Result<RunPage<'a>, ReportError> {
    let bots = &parts.session.bots;
    let scale = parts.session.money_scale;
    let document = serde_json::to_value(report)?;
    let mut rows = rows_of(parts.book);
    rows.retain(|row| row.approved.bot().index() < bots.len());
    let has_bot = |one: &CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
    let mut candles = parts.candles;
    candles.retain(has_bot);
    candles.sort_by_key(|one| bots.iter().position(|bot| bot.series() == one.series()));
    let (prices, book, balance, span) = (parts.prices, parts.book, parts.balance, parts.span);
    Ok(RunPage {
        title: title_of(parts.kind, bots),
        verdict: report.verdict_text(),
        bots: report.bot_table(),
        figures: report.figures(),
        notices: report.notices.clone(),
        tables: vec![
            ("Delays, p50 / p99 ms", report.delay_table()),
            ("How often each condition held", ConditionLine::table(&report.conditions)),
        ],
        trades: Trades { book, bots, scale, balance, span, prices },
        rows,
        analysis: &report.analysis,
        gates: report.gates.iter().map(GateLine::to_text).collect(),
        candles,
        without_sensitivity: parts.without_sensitivity,
        settings: settings_of(parts.session, parts.simulation, parts.strategies),
        provenance: report.provenance(),
        document,
    })
}

impl RunReport {
    fn verdict_text(&self) -> VerdictText {
        VerdictText {
            break_even_payout_percent: self.break_even_payout_percent,
            pnl: self.pnl,
            ..self.edge.to_text()
        }
    }

    fn provenance(&self) -> Vec<(&'static str, String)> {
        let mut entries = Vec::new();
        entries.extend(self.data_hash.clone().map(|hash| ("data hash", hash)));
        entries.extend(self.journal_hash.clone().map(|hash| ("journal hash", hash)));
        entries.extend(self.head_hash.clone().map(|hash| ("hash of the last line", hash)));
        entries.push(("written by", concat!("candlewick ", env!("CARGO_PKG_VERSION")).to_owned()));
        entries
    }

    fn bot_table(&self) -> DataTable {
        DataTable { header: super::figures::BOT_HEADER.map(str::to_owned).into(), rows: self.bot_rows() }
    }
}

fn title_of(kind: &str, bots: &[BotSettings]) -> String {
    let named = |bot: &BotSettings| format!("{} ({} on {})", bot.name, bot.strategy, bot.series());
    match bots {
        [] => kind.to_owned(),
        [one] => format!("{kind} of {}", named(one)),
        [one, two] => format!("{kind} of {} and {}", named(one), named(two)),
        [one, two, three] => format!("{kind} of {}, {} and {}", one.name, two.name, three.name),
        [one, two, rest @ ..] => format!("{kind} of {}, {} and {} more bots", one.name, two.name, rest.len()),
    }
}

fn settings_of(
    session: &SessionSettings,
    simulation: &SimulationSettings,
    strategies: &[(String, String)],
) -> Value {
    let mut groups = Map::new();
    for (bot, (_, version)) in session.bots.iter().zip(strategies) {
        let mut settings = json!(bot);
        settings["strategy_version"] = json!(version);
        groups.insert(format!("bot {}", bot.name), settings);
    }
    let account = json!({ "initial_balance": session.balance, "decimals": session.money_scale.decimals() });
    groups.insert("account".to_owned(), account);
    groups.insert("risk".to_owned(), json!(session.risk));
    let mut settings = json!(simulation);
    if let Some(recorded) = &simulation.recorded_latency {
        let samples: usize = recorded.samples_ms.values().map(Vec::len).sum();
        settings["recorded_latency"] = json!(format!("{samples} samples, seed {}", recorded.seed));
    }
    groups.insert("simulation".to_owned(), settings);
    Value::Object(groups)
}
