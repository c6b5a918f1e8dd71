//! Rendering of a run report as text and as a page.

use super::{BotLine, Heading, RunReport, StakeState, rows_by_decision};
use crate::ReportError;
use crate::analysis::{
    Baselines, Finding, Prices, RunData, SensitivityCurve, SensitivityPoint, VenueSetting,
};
use crate::conditions::ConditionLine;
use crate::figure::{
    break_even_payout_text, format_minute, format_money, format_number, format_percent, format_signed_money,
    format_signed_percent, p_value_text, prefixed_lines, sparkline,
};
use crate::page::{DataTable, RunPage};
use candlewick_engine::{BotSettings, SessionSettings, TradeBook};
use candlewick_records::{DelayLine, DelayPercentiles, count_text, table_text};
use candlewick_sdk::{CandleSeries, Millis, Money};
use candlewick_simulator::SimulationSettings;
use serde_json::{Map, Value, json};
use std::fmt;
use std::ops::Range;

const BOT_HEADER: [&str; 10] =
    ["bot", "symbol", "trades", "won", "lost", "drawn", "win rate", "profit", "evidence", "verdict"];
const INDEX_AFTER_WIN_RATE: usize = 3;
const DELAY_COLUMNS: [&str; 4] =
    ["candle close to receipt", "decision to venue", "decision to open", "request to response"];

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.edge.has_heading() {
            let Heading { title, lines, .. } = self.heading();
            writeln!(f, "{title}{}\n", prefixed_lines("", lines))?;
        } else {
            writeln!(f, "verdict: {}\n", self.edge.describe())?;
        }
        for headline in self.analysis.headlines() {
            writeln!(f, "{headline}\n")?;
        }
        let bots = table_text(BOT_HEADER, self.bot_rows());
        let thresholds: Vec<Option<f64>> = self.bots.iter().map(|line| line.edge.threshold_for).collect();
        let figures = self.figures().into_iter().map(|(name, value)| [name.to_owned(), value]);
        let figures = table_text(["all bots", ""], figures);
        writeln!(f, "{bots}\n\n{}.\n\n{figures}", self.edge.evidence_text(&thresholds))?;
        if !self.conditions.is_empty() {
            let held = ConditionLine::table(&self.conditions).to_text();
            writeln!(f, "\nHow often each condition was true\n\n{held}")?;
        }
        if let Some(words) = self.edge.explain_interval() {
            writeln!(f, "\n{words}.")?;
        }
        if !self.delays.is_empty() {
            let header = ["median / p99 delay, ms"].into_iter().chain(DELAY_COLUMNS);
            writeln!(f, "\n{}", table_text(header, self.delays.iter().map(delay_row)))?;
        }
        write!(
            f,
            "{}{}",
            Finding::render_all(&self.analysis.findings),
            prefixed_lines("note: ", &self.notices)
        )
    }
}

impl RunReport {
    fn heading(&self) -> Heading {
        let figures = match (self.win_rate, self.break_even) {
            (None, _) => "No trade was won or lost, so nothing is known about an edge.".to_owned(),
            (Some(rate), needed) => format!(
                "{}, win rate {}, break-even {}",
                count_text(self.trades, "trade", "trades"),
                format_percent(rate),
                format_percent(needed)
            ),
        };
        self.edge.heading(figures, self.p_value)
    }

    fn bot_rows(&self) -> Vec<Vec<String>> {
        let row = |line: &BotLine| {
            let counts = [line.trades, line.won, line.lost, line.draw].map(format_number);
            let mut row = vec![line.bot.clone(), line.symbol.clone()];
            row.extend(counts);
            row.extend([format_percent(line.win_rate), format_signed_money(line.pnl, self.scale)]);
            row.extend([line.edge.evidence(), line.edge.summary()]);
            row
        };
        self.bots.iter().map(row).collect()
    }

    pub(super) fn figures(&self) -> Vec<(&'static str, String)> {
        let Self { cancelled, unsettled, .. } = self;
        let [trades, won, lost, draw] = [self.trades, self.won, self.lost, self.draw].map(format_number);
        let [from, to] = [self.span.start, self.span.end].map(format_minute);
        let words = |words: Option<String>| words.unwrap_or_else(|| "-".to_owned());
        let mut figures = vec![
            ("candles", format!("{}, {from} to {to} UTC", format_number(self.candles))),
            ("trades", format!("{trades}: {won} won, {lost} lost, {draw} drawn, {cancelled} cancelled")),
            (
                "win rate",
                format!("{} (break-even {})", format_percent(self.win_rate), format_percent(self.break_even)),
            ),
            ("win rate, 95 % interval (anytime-valid)", words(self.edge.intervals.win_rate_text())),
            ("edge, 95 % interval (anytime-valid)", words(self.edge.intervals.edge_text())),
            ("break-even payout", self.break_even_payouts()),
            ("p-value (independent trades)", p_value_text(self.p_value)),
            ("profit and loss", format_signed_money(self.pnl, self.scale)),
            ("final balance", format_money(self.final_balance, self.scale)),
            ("max drawdown", format_money(self.max_drawdown, self.scale)),
            ("max drawdown, % of peak", format!("{:.2} %", self.max_drawdown_percent)),
            ("longest losing streak", self.longest_losing_streak.to_string()),
        ];
        if let Some(by_money) = self.stake_weighted_break_even() {
            figures.insert(INDEX_AFTER_WIN_RATE, ("break-even, weighted by stake", by_money));
        }
        figures.extend(sparkline(&self.analysis.equity).map(|line| ("equity curve", line)));
        figures.extend(self.baseline_figure());
        figures.extend(self.sensitivity_figures());
        figures.extend(self.edge.overlap_text().map(|overlap| ("overlap", overlap)));
        figures.extend(self.edge.reservations());
        if *cancelled > 0 {
            let pnl = format_signed_money(self.pnl_if_cancelled_lost, self.scale);
            figures.push(("profit if all cancelled trades had lost", pnl));
        }
        if *unsettled > 0 {
            let stakes = format_money(self.unsettled_stakes, self.scale);
            let where_they_are = match self.holder {
                StakeState::Returned => "returned",
                StakeState::AtVenue => "at the venue, not in the balance",
            };
            figures.push(("unsettled", format!("{unsettled} (stakes of {stakes} {where_they_are})")));
        }
        if !self.refused.is_empty() {
            let refused = self.refused.iter().map(|(rule, n)| format!("{rule} {}", format_number(n)));
            figures.push(("rejected signals", refused.collect::<Vec<_>>().join(", ")));
        }
        for gate in &self.gates {
            figures.extend(std::iter::once("gate").chain(std::iter::repeat("")).zip(gate.text_lines()));
        }
        if !self.audit_findings.is_empty() {
            let found = self.audit_findings.iter().map(|(audit, count)| format!("{audit} {count}"));
            figures.push(("audit findings", found.collect::<Vec<_>>().join(", ")));
        }
        let hashes = self.provenance().into_iter().filter(|(name, _)| name.ends_with(" hash"));
        figures.extend(hashes.map(|(name, hash)| (name, hash.chars().take(16).collect())));
        figures
    }

    fn stake_weighted_break_even(&self) -> Option<String> {
        let (by_trades, by_money) =
            (format_percent(self.break_even), format_percent(self.break_even_by_money));
        (by_trades != by_money).then(|| format!("{by_money} (the win rate is not weighted by stake)"))
    }

    fn break_even_payouts(&self) -> String {
        let text = |percent: Option<f64>| percent.map_or("-".to_owned(), break_even_payout_text);
        let (by_unit, by_money) =
            (text(self.break_even_payout_percent), text(self.break_even_payout_percent_by_money));
        if by_unit == by_money { by_unit } else { format!("{by_unit} ({by_money} weighted by stake)") }
    }

    fn baseline_figure(&self) -> Option<(&'static str, String)> {
        let Baselines { own, shifted_directions, always_buy, always_sell, .. } = self.analysis.baselines?;
        let [own, shifted, buy, sell] =
            [own, shifted_directions, always_buy, always_sell].map(format_signed_percent);
        let others = format!("random directions {shifted}, always BUY {buy}, always SELL {sell}");
        Some(("expectancy, % of stake", format!("{own} (same entries with {others})")))
    }

    fn sensitivity_figures(&self) -> Vec<(&'static str, String)> {
        let curves = self.analysis.sensitivity.iter().flat_map(|sensitivity| &sensitivity.curves);
        let text = |curve: &SensitivityCurve| {
            let point = |point: &SensitivityPoint| {
                let mean = point.return_per_unit.map_or("-".to_owned(), |one| format!("{:+.1}", one * 100.0));
                format!("{} {mean}", point.label)
            };
            let name = match curve.setting {
                VenueSetting::LatencyMs => "expectancy by latency, %",
                VenueSetting::PayoutPercent => "expectancy by payout, %",
                VenueSetting::Path => "expectancy by price path, %",
                VenueSetting::Stress => "expectancy under stress, %",
            };
            (name, curve.points.iter().map(point).collect::<Vec<_>>().join(", "))
        };
        curves.map(text).collect()
    }
}

fn delay_row(line: &DelayLine) -> Vec<String> {
    let text = |spread: Option<DelayPercentiles>| {
        spread.map_or("-".to_owned(), |DelayPercentiles { p50, p99, .. }| format!("{p50} / {p99}"))
    };
    let spreads = [
        line.close_to_available_ms,
        line.decide_to_arrival_ms,
        line.decide_to_open_ms,
        line.request_to_answer_ms,
    ];
    std::iter::once(line.symbol.clone()).chain(spreads.map(text)).collect()
}

pub struct PageParts<'a> {
    pub kind: &'static str,
    pub book: &'a TradeBook,
    pub session: &'a SessionSettings,
    pub simulation: &'a SimulationSettings,
    pub strategies: &'a [(String, String)],
    pub balance: Money,
    pub span: &'a Range<Millis>,
    pub prices: Prices,
    pub candles: Vec<CandleSeries>,
    pub no_sensitivity_reason: &'static str,
}

pub fn build_page<'a>(report: &'a RunReport, parts: PageParts<'a>) -> Result<RunPage<'a>, ReportError> {
    let bots = &parts.session.bots;
    let scale = parts.session.money_scale;
    let document = serde_json::to_value(report)?;
    let mut rows = rows_by_decision(parts.book);
    rows.retain(|row| row.approved.bot().index() < bots.len());
    let has_bot = |one: &CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
    let mut candles = parts.candles;
    candles.retain(has_bot);
    candles.sort_by_key(|one| bots.iter().position(|bot| bot.series() == one.series()));
    let (prices, book, balance, span) = (parts.prices, parts.book, parts.balance, parts.span);
    let delays = report.delays.iter().map(delay_row).collect();
    Ok(RunPage {
        title: bots_title(parts.kind, bots),
        edge: &report.edge,
        heading: report.heading(),
        break_even_payout_percent: report.break_even_payout_percent,
        pnl: report.pnl,
        bots: DataTable::new(BOT_HEADER, report.bot_rows()),
        figures: report.figures(),
        notices: report.notices.clone(),
        tables: vec![
            ("Delays: median / p99, ms", DataTable::new(["symbol"].into_iter().chain(DELAY_COLUMNS), delays)),
            ("How often each condition was true", ConditionLine::table(&report.conditions)),
        ],
        trades: RunData { book, bots, scale, balance, span, prices },
        rows,
        analysis: &report.analysis,
        gates: &report.gates,
        candles,
        no_sensitivity_reason: parts.no_sensitivity_reason,
        settings: collect_settings(parts.session, parts.simulation, parts.strategies),
        provenance: report.provenance(),
        document,
    })
}

impl RunReport {
    fn provenance(&self) -> Vec<(&'static str, String)> {
        let mut entries = Vec::new();
        entries.extend(self.data_hash.clone().map(|hash| ("data hash", hash)));
        entries.extend(self.journal_hash.clone().map(|hash| ("result hash", hash)));
        entries.extend(self.head_hash.clone().map(|hash| ("journal head hash", hash)));
        entries.push(("written by", concat!("candlewick ", env!("CARGO_PKG_VERSION")).to_owned()));
        entries
    }
}

fn bots_title(kind: &str, bots: &[BotSettings]) -> String {
    let named = |bot: &BotSettings| format!("{} ({} on {})", bot.name, bot.strategy, bot.series());
    match bots {
        [] => kind.to_owned(),
        [one] => format!("{kind} of {}", named(one)),
        [one, two] => format!("{kind} of {} and {}", named(one), named(two)),
        [one, two, three] => format!("{kind} of {}, {} and {}", one.name, two.name, three.name),
        [one, two, rest @ ..] => format!("{kind} of {}, {} and {} more bots", one.name, two.name, rest.len()),
    }
}

fn collect_settings(
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
