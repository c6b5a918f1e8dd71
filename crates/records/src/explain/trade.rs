//! One intent from the candles before it to its settlement.

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

/// Candles shown before the one that decided.
const BEFORE: i64 = 5;
/// Milliseconds of a day.
const DAY: i64 = Millis::DAY.get();
/// Lines read around an intent at most.
const MAX_LINES: u32 = 20_000;
/// How far behind the last line about an intent the seals of its exchanges stand at most; of others the whole journal is walked.
const SEALED_WITHIN: u64 = 5_000;

/// Everything that a journal holds of an intent.
#[derive(Debug, Serialize)]
pub struct Explanation {
    trade: TradeLine,
    /// Why its request never left; null when it did.
    not_sent_reason: Option<String>,
    /// Where its stake came from, in words; null where the journal does not tell.
    stake_reason: Option<String>,
    /// The rules that were asked, in their order: all of them let it pass.
    passed_rules: Vec<&'static str>,
    /// The strategy's indicators at the decision, by name; empty when it offers none.
    indicators: BTreeMap<String, f64>,
    /// The conditions that its strategy goes by and how each stood at the decision; empty when it says none.
    conditions: Vec<ConditionState>,
    /// How its gate stood before and after the decision, in words; null without one.
    gate: Option<GateView>,
    /// Why the strategy that decided cannot be asked; null when it could be.
    indicators_missing: Option<String>,
    /// The series that it was decided on, from before the decision to its end.
    candles: Vec<CandleLine>,
    /// What of a settled trade is checked by what the journal holds; empty before, and where it holds too little.
    audit: Vec<Check>,
    /// How many of its raw requests an earlier program kept outside the hash chain.
    exchanges_outside: u64,
    /// What happened, in the order of its arrival.
    timeline: Vec<Step>,
    #[serde(skip)]
    scale: MoneyScale,
}

/// Which trade is to be explained, and how far its past is read.
pub struct AskedTrade<'a> {
    /// The number of its intent, or the venue's name of it.
    pub name: &'a str,
    /// Who has the strategy that decided.
    pub registry: &'a Registry,
    /// Whether its indicators are computed however many entries of its run come before the decision; else up to
    /// [`INDICATORS_WITHIN`](super::INDICATORS_WITHIN).
    pub is_far: bool,
}

/// Reads all about an intent of a journal of these contents, which may be of its last snapshot on. Of the entries only those are read
/// that are about it, around it, or needed for its indicators, each held to the hash before it.
///
/// # Errors
/// There is none, or its entries cannot be read.
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

/// Where the stake of a decision came from.
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

/// Whether a note that is about no intent in particular names this one.
fn is_note_of(stored: &StoredLine, intent: IntentId) -> bool {
    let line = &stored.line;
    let names = |end: char| {
        ["intent ", "trade #"].iter().any(|kind| line.body.contains(&format!("{kind}{intent}{end}")))
    };
    line.kind == LineKind::Note && line.intent.is_none() && (names(' ') || names(':'))
}

/// Why the request of an intent never left, if this is the note that says so.
fn not_sent_reason(stored: &StoredLine) -> Option<String> {
    let note = Some(&stored.line).filter(|line| line.kind == LineKind::Note)?;
    let body: Value = serde_json::from_str(&note.body).ok()?;
    body["not_sent"].as_str().map(str::to_owned)
}

/// The candles of its bot from before the decision until after the end of the trade.
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
    /// With every entry, request and reply as it was recorded.
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

/// What stands above the tables.
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
