//! One intent from the candles before it to its settlement.

use super::candle::{CandleLine, table_of};
use super::indicators::recompute;
use crate::chronicle::{Chronicle, TradeLine};
use crate::failure::Failure;
use crate::moment::{delta, utc};
use crate::output::table;
use candlewick_engine::Rule;
use candlewick_journal::{LineKind, Reader, StoredLine, Wire};
use candlewick_sdk::{Millis, Registry};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// Candles shown before the one that decided.
const BEFORE: i64 = 5;
/// Lines read around an intent at most.
const MOST_LINES: u32 = 20_000;

/// Fields of an entry that other columns show.
const COLUMNS: [&str; 5] = ["at", "received", "event", "action", "intent"];

/// Everything that a journal tells of an intent.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation {
    trade: TradeLine,
    /// The rules that were asked, in their order: all of them let it pass.
    passed_rules: Vec<&'static str>,
    /// The strategy's indicators at the decision, by name; empty when it offers none.
    indicators: BTreeMap<&'static str, f64>,
    /// Why the strategy that decided cannot be asked; null when it could be.
    indicators_missing: Option<String>,
    /// The series that it was decided on, from before the decision to its end.
    candles: Vec<CandleLine>,
    /// What happened, in the order of its arrival.
    timeline: Vec<Step>,
}

/// Something that happened to an intent.
#[derive(Debug, Serialize)]
struct Step {
    time: Millis,
    /// Since the decision, in milliseconds.
    after_ms: Millis,
    /// `decision`, an event's name, `request`, `reply` or `note`.
    what: String,
    /// The entry's or the wire's own text.
    detail: Value,
}

/// Reads all about an intent, named by its number or by the venue's name of its trade.
///
/// # Errors
/// There is none, or its entries cannot be read.
pub(crate) async fn read_trade(
    reader: &mut Reader,
    name: &str,
    registry: &Registry,
) -> Result<Explanation, Failure> {
    let chronicle = Chronicle::read(reader).await?;
    let (row, told) = chronicle.find(name)?;
    let intent = row.approved.intent();
    let decided = row.approved.decision_time();
    let mut timeline: Vec<Step> = Vec::new();
    for stored in reader.lines_of(intent.number()).await? {
        timeline.push(Step::of_line(&stored, decided));
    }
    let mention = format!("intent {intent} ");
    let is_note = |stored: &&StoredLine| {
        let line = &stored.line;
        line.kind == LineKind::Note && line.intent.is_none() && line.body.contains(&mention)
    };
    timeline.extend(chronicle.lines.iter().filter(is_note).map(|stored| Step::of_line(stored, decided)));
    for wire in reader.wires_of(intent.number()).await? {
        timeline.extend(Step::of_wire(&wire, decided));
    }
    timeline.sort_by_key(|step| (step.time, step.rank()));
    let (indicators, indicators_missing) = match recompute(reader, &chronicle, told, registry).await? {
        Ok(indicators) => (indicators, None),
        Err(why) => (BTreeMap::new(), Some(why)),
    };
    let mut candles = Vec::new();
    if let Some(run) = chronicle.run(told.run)
        && let Some(bot) = run.settings.bots.iter().find(|bot| bot.name == told.bot)
    {
        let length = bot.interval.length();
        let end = row.close_time.unwrap_or(decided + length) + length;
        let lines = reader.lines_between(decided - length * BEFORE, end + Millis::new(1), MOST_LINES).await?;
        for stored in &lines {
            candles.extend(CandleLine::of(stored, run)?.filter(|line| line.series == bot.series()));
        }
    }
    Ok(Explanation {
        trade: TradeLine::of(&chronicle.book, (row, told)),
        passed_rules: Rule::ALL.iter().map(|rule| rule.as_str()).collect(),
        indicators,
        indicators_missing,
        candles,
        timeline,
    })
}

impl Step {
    /// Of what happened in one millisecond, what came first.
    fn rank(&self) -> u8 {
        match self.what.as_str() {
            "decision" => 0,
            "request" => 1,
            "reply" => 2,
            _ => 3,
        }
    }

    /// Without what stands in the other columns.
    fn describe(&self) -> String {
        let Value::Object(fields) = &self.detail else {
            return self.detail.as_str().map_or_else(|| self.detail.to_string(), str::to_owned);
        };
        let mut fields = fields.clone();
        fields.retain(|key, value| !COLUMNS.contains(&key.as_str()) && !value.is_null());
        Value::Object(fields).to_string()
    }

    fn of_line(stored: &StoredLine, decided: Millis) -> Self {
        let line = &stored.line;
        let detail: Value =
            serde_json::from_str(&line.body).unwrap_or_else(|_| Value::String(line.body.clone()));
        let what = match line.kind {
            LineKind::Action => "decision",
            LineKind::Event => detail.get("event").and_then(Value::as_str).unwrap_or("event"),
            LineKind::Note | LineKind::Run => "note",
        };
        Self { time: line.received, after_ms: line.received - decided, what: what.to_owned(), detail }
    }

    /// The request, and its reply where there was one.
    fn of_wire(wire: &Wire, decided: Millis) -> Vec<Self> {
        let step = |time: Millis, what: &str, detail: Value| Self {
            time,
            after_ms: time - decided,
            what: what.to_owned(),
            detail,
        };
        let request = format!("{} {}", wire.what, wire.request);
        let mut steps = vec![step(wire.sent, "request", Value::String(request.trim_end().to_owned()))];
        let response = wire.response.as_deref().unwrap_or("no answer");
        let status = wire.status.map(|status| format!("{status} ")).unwrap_or_default();
        let reply = Value::String(format!("{status}{response}"));
        steps.push(step(wire.received.unwrap_or(wire.sent), "reply", reply));
        steps
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TradeLine { intent_id, bot, direction, amount, symbol, state, .. } = &self.trade;
        let trade = &self.trade;
        writeln!(
            f,
            "Intent {intent_id} of {bot}: {direction} {amount} on {symbol}, {} {}",
            trade.close_type, trade.expiration_type
        )?;
        write!(f, "State: {state}")?;
        if let (Some(result), Some(pnl)) = (trade.result, trade.pnl) {
            write!(f, ", {result} {pnl:+}")?;
        }
        if let Some(id) = &trade.venue_id {
            write!(f, "; the venue calls it {id}")?;
        }
        writeln!(f, "\nDecided at {}: {}", utc(trade.decision_time), trade.reason)?;
        if !self.indicators.is_empty() {
            let shown = self.indicators.iter().map(|(name, value)| format!("{name} = {value}"));
            writeln!(f, "Indicators: {}", shown.collect::<Vec<_>>().join(", "))?;
        }
        if let Some(why) = &self.indicators_missing {
            writeln!(f, "Indicators: cannot be told, as {why}")?;
        }
        let (first, last) = (self.passed_rules.first(), self.passed_rules.last());
        writeln!(
            f,
            "Risk: all {} rules let it pass, from {} to {}",
            self.passed_rules.len(),
            first.unwrap_or(&"-"),
            last.unwrap_or(&"-")
        )?;
        let mut rows = table(["time", "since decision", "what", ""]);
        for step in &self.timeline {
            let since = delta(trade.decision_time, step.time);
            rows.add_row([utc(step.time), since, step.what.clone(), step.describe()]);
        }
        write!(f, "\n{}\n\n{}", table_of(&self.candles, trade.decision_time), rows.trim_fmt())
    }
}
