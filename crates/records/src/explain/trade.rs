//! Explains one intent, from the candles before it to its settlement.

use super::audit::{self, Check};
use super::before::{self, DecisionEntry};
use super::candle::{CandleLine, raw_table_of, table_of};
use super::conditions::{self, ConditionState};
use super::doubt;
use super::gate_move::gate_move;
use super::indicators::{Asking, AtDecision, recompute};
use super::step::Step;
use crate::contents::JournalContents;
use crate::error::RecordsError;
use crate::moment::{clock, delta, time_of_day, utc};
use crate::table::table;
use crate::trade::{IntentOrigin, TradeLine};
use candlewick_engine::{IntentId, IntentRow, Rule};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{GateView, Millis, MoneyScale, Registry, price_text, visible};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

const BEFORE: i64 = 5;
const DAY: i64 = Millis::DAY.get();
const MAX_LINES: u32 = 20_000;
/// Maximum distance from an intent's last line to the seals of its exchanges, in lines. If a seal
/// is farther away, the whole journal is walked.
const SEALED_WITHIN: u64 = 5_000;

#[derive(Debug, Serialize)]
pub struct Explanation {
    trade: TradeLine,
    not_sent_reason: Option<String>,
    stake_reason: Option<String>,
    passed_rules: Vec<&'static str>,
    indicators: BTreeMap<String, f64>,
    conditions: Vec<ConditionState>,
    gate: Option<GateView>,
    indicators_missing: Option<String>,
    candles: Vec<CandleLine>,
    /// Checks of a settled trade against the journal; empty before settlement and if the journal
    /// has too little data.
    audit: Vec<Check>,
    /// Number of raw requests that an older version stored outside the hash chain.
    exchanges_outside: u64,
    timeline: Vec<Step>,
    #[serde(skip)]
    scale: MoneyScale,
}

pub struct AskedTrade<'a> {
    pub name: &'a str,
    pub registry: &'a Registry,
    /// Computes the indicators even if the run has more than
    /// [`INDICATORS_WITHIN`](super::INDICATORS_WITHIN) entries before the decision.
    pub is_far: bool,
}

/// Reads everything about one intent.
///
/// `contents` may begin at the last snapshot. Reads only the entries of the intent, those around it
/// and those that its indicators need. Each is verified against the hash of the entry before it.
pub async fn read_trade(
    reader: &mut Reader,
    contents: &JournalContents,
    asked: &AskedTrade<'_>,
) -> Result<Explanation, RecordsError> {
    let (row, origin) = contents.find(asked.name)?;
    let intent = row.approved.intent();
    let decided = row.approved.decision_time();
    let lines = reader.sound_lines_of(intent.number()).await?;
    let end = lines.last().map_or(origin.seq, |last| last.seq) + SEALED_WITHIN;
    reader.read_seals(origin.seq..end).await?;
    let exchanges = reader.exchanges_of(intent.number()).await?;
    let exchanges_outside = reader.exchanges_outside_of(intent.number()).await?;
    let notes: Vec<&StoredLine> = contents.lines.iter().filter(|stored| is_note_of(stored, intent)).collect();
    let entries = lines.iter().chain(notes.iter().copied());
    let mut timeline: Vec<Step> = entries.map(|stored| Step::of_line(stored, decided)).collect();
    timeline.extend(exchanges.iter().flat_map(|exchange| Step::of_exchange(exchange, decided)));
    let trade = TradeLine::of(&contents.book, (row, origin));
    let venue_id = trade.venue_id.as_deref();
    let lists = doubt::read_lists(reader, (&lines, &notes)).await?;
    timeline.extend(lists.iter().flat_map(|exchange| doubt::steps(exchange, (row, origin), venue_id)));
    timeline.sort_by_key(|step| (step.time, step.rank()));
    let command = format!("explain {}", asked.name);
    let AskedTrade { registry, is_far, .. } = *asked;
    let asking = Asking { registry, is_far, for_conditions: false, command: &command };
    let bots = [(origin.bot.as_str(), origin.seq)];
    let shown = recompute(reader, contents, (origin.run, &bots), &asking).await?.pop();
    let (shown, indicators_missing) = match shown.unwrap_or_else(|| Ok(AtDecision::default())) {
        Ok(shown) => (shown, None),
        Err(why) => (AtDecision::default(), Some(why)),
    };
    let trading = contents.run(origin.run).and_then(|run| run.trading);
    let audit = audit::checks((row, origin), venue_id, trading, exchanges.iter().chain(&lists));
    Ok(Explanation {
        trade,
        not_sent_reason: lines.iter().find_map(not_sent_reason),
        stake_reason: read_stake_reason(reader, contents, origin, (decided, is_far)).await?,
        passed_rules: Rule::ALL.iter().map(|rule| rule.as_str()).collect(),
        indicators: shown.indicators,
        conditions: shown.conditions,
        gate: shown.gate,
        indicators_missing,
        candles: candles_around(reader, contents, (row, origin)).await?,
        audit,
        exchanges_outside,
        timeline,
        scale: origin.scale,
    })
}

async fn read_stake_reason(
    reader: &mut Reader,
    contents: &JournalContents,
    origin: &IntentOrigin,
    (at, is_far): (Millis, bool),
) -> Result<Option<String>, RecordsError> {
    let Some(run) = contents.run(origin.run) else { return Ok(None) };
    let Some(bot) = run.settings.bots.iter().position(|bot| bot.name == origin.bot) else { return Ok(None) };
    let (decision, mut reason) = (DecisionEntry { seq: origin.seq, bot, at }, None);
    before::visit_before(reader, contents, (run, &[decision]), is_far, |session, decision| {
        reason = before::stake_reason(session, run, decision);
    })
    .await?;
    Ok(reason)
}

fn is_note_of(stored: &StoredLine, intent: IntentId) -> bool {
    let line = &stored.line;
    let names = |end: char| {
        ["intent ", "trade #"].iter().any(|kind| line.body.contains(&format!("{kind}{intent}{end}")))
    };
    line.kind == LineKind::Note && line.intent.is_none() && (names(' ') || names(':'))
}

fn not_sent_reason(stored: &StoredLine) -> Option<String> {
    let note = Some(&stored.line).filter(|line| line.kind == LineKind::Note)?;
    let body: Value = serde_json::from_str(&note.body).ok()?;
    body["not_sent"].as_str().map(str::to_owned)
}

async fn candles_around(
    reader: &mut Reader,
    contents: &JournalContents,
    (row, origin): (&IntentRow, &IntentOrigin),
) -> Result<Vec<CandleLine>, RecordsError> {
    let decided = row.approved.decision_time();
    let mut candles = Vec::new();
    if let Some(run) = contents.run(origin.run)
        && let Some(bot) = run.settings.bots.iter().find(|bot| bot.name == origin.bot)
    {
        let length = bot.interval.length();
        let end = row.close_time.unwrap_or(decided + length) + length;
        let lines =
            reader.sound_lines_between(decided - length * BEFORE, end + Millis::new(1), MAX_LINES).await?;
        for stored in &lines {
            candles.extend(CandleLine::of(stored, run)?.filter(|line| line.series == bot.series()));
        }
    }
    Ok(candles)
}

impl Explanation {
    pub fn raw_text(&self) -> String {
        let mut rows = table(["time", "since decision", "what", ""]);
        for step in &self.timeline {
            let since = delta(self.trade.decision_time, step.time);
            rows.add_row([utc(step.time), since, step.what.clone(), step.raw()]);
        }
        format!("{}\n{}\n\n{}", Head(self), raw_table_of(&self.candles), rows.trim_fmt())
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decided = self.trade.decision_time;
        let mut rows = table(["time", "after", "what", ""]);
        let is_of_that_day = self.timeline.iter().all(|step| step.time.get() / DAY == decided.get() / DAY);
        let clock = if is_of_that_day { time_of_day } else { clock };
        for step in &self.timeline {
            let since = delta(decided, step.time);
            rows.add_row([clock(step.time), since, step.what.clone(), step.words(self.scale)]);
        }
        write!(f, "{}\n{}\n\n{}", Head(self), table_of(&self.candles, decided), rows.trim_fmt())
    }
}

struct Head<'a>(&'a Explanation);

impl Display for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(explained) = self;
        let TradeLine { intent_id, bot, direction, symbol, state, .. } = &explained.trade;
        let amount = explained.trade.stake_text();
        let trade = &explained.trade;
        writeln!(
            f,
            "Trade #{intent_id} of {bot}: {direction} {amount} on {symbol}, {} {}",
            trade.close_type, trade.expiration_type
        )?;
        if let Some(ordered) = trade.ordered_text() {
            writeln!(f, "The venue took that, and not what was asked for: {ordered}")?;
        }
        write!(f, "State: {state}")?;
        if let Some(reason) = &explained.not_sent_reason {
            write!(f, ": {}", visible(reason))?;
        }
        if let (Some(result), Some(pnl)) = (trade.result_text(), trade.pnl_text()) {
            write!(f, ", {result} {pnl}")?;
        }
        if let Some(id) = &trade.venue_id {
            write!(f, "; the venue calls it {}", visible(id))?;
        }
        if let Some(reason) = &explained.stake_reason {
            write!(f, "\nStake: {amount}, {reason}")?;
        }
        let clocks = conditions::on_clocks(&explained.conditions, trade.decision_time);
        writeln!(f, "\nDecided at {}{clocks}: {}", utc(trade.decision_time), trade.reason)?;
        if !explained.indicators.is_empty() {
            let shown =
                explained.indicators.iter().map(|(name, value)| format!("{name} = {}", price_text(*value)));
            writeln!(f, "Indicators: {}", shown.collect::<Vec<_>>().join(", "))?;
        }
        if !explained.conditions.is_empty() {
            writeln!(f, "Conditions:")?;
        }
        for line in conditions::lines(&explained.conditions) {
            writeln!(f, "  {line}")?;
        }
        if let Some(gate) = &explained.gate {
            let GateView { before, now, .. } = gate;
            writeln!(f, "Gate before it: {}\nGate after it: {}", visible(before), visible(now))?;
            if let Some(moved) = &gate.moved {
                writeln!(f, "Gate {}", gate_move(moved))?;
            }
        }
        if let Some(why) = &explained.indicators_missing {
            writeln!(f, "Indicators: not available: {why}")?;
        }
        let (first, last) = (explained.passed_rules.first(), explained.passed_rules.last());
        writeln!(
            f,
            "Risk: all {} rules let it pass, from {} to {}",
            explained.passed_rules.len(),
            first.unwrap_or(&"-"),
            last.unwrap_or(&"-")
        )?;
        for line in audit::lines(&explained.audit) {
            writeln!(f, "Audit: {line}")?;
        }
        if explained.exchanges_outside > 0 {
            let outside = explained.exchanges_outside;
            writeln!(
                f,
                "Raw exchanges: {outside} of an earlier program lie outside the hash chain: nothing shows whether they are as \
                 they were written"
            )?;
        }
        Ok(())
    }
}
