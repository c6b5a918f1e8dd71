//! Explanation of one intent, from the candles before the decision to the settlement.

use super::audit::{self, AuditCheck};
use super::before::{self, DecisionEntry};
use super::conditions::{self, ConditionState};
use super::indicators::{DecisionContext, RecomputeOptions, recompute_indicators};
use super::step::Step;
use super::{CandleLine, doubt};
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::moment::{format_delta, format_short_time, format_time_of_day, format_utc};
use crate::table::table_text;
use crate::trade::{IntentOrigin, TradeLine};
use candlewick_engine::{IntentId, IntentRow, Origin, Rule};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{
    GateSnapshot, GateTransition, Millis, MoneyScale, Registry, SettledSignal, escape_hidden, format_price,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Display};

const PRIOR_CANDLES: i64 = 5;
const DAY_MS: i64 = Millis::DAY.get();
const MAX_LINES: u32 = 20_000;
/// Number of lines after a trade in which its seals are searched first. If a seal is missing, all lines are searched.
const SEAL_SEARCH_LINES: u64 = 5_000;

#[derive(Debug, Serialize)]
pub struct Explanation {
    trade: TradeLine,
    not_sent_reason: Option<String>,
    stake_reason: Option<String>,
    passed_rules: Vec<Rule>,
    indicators: BTreeMap<String, f64>,
    conditions: Vec<ConditionState>,
    gate: Option<GateSnapshot>,
    indicators_missing: Option<String>,
    candles: Vec<CandleLine>,
    /// Checks of a settled trade. Empty before settlement, or if data is missing.
    audit: Vec<AuditCheck>,
    /// Number of raw HTTP exchanges that an older version stored outside the hash chain.
    exchanges_outside: u64,
    timeline: Vec<Step>,
    #[serde(skip)]
    scale: MoneyScale,
}

pub struct TradeRequest<'a> {
    pub name: &'a str,
    pub registry: &'a Registry,
    pub is_replay_unlimited: bool,
}

/// Reads all data about one intent. Each entry is verified against the hash of the previous entry.
pub async fn read_trade(
    reader: &mut Reader,
    contents: &JournalContents,
    request: &TradeRequest<'_>,
) -> Result<Explanation, RecordsError> {
    let (row, origin) = contents.find_intent(request.name)?;
    let intent = row.approved.intent();
    let decided = row.approved.decision_time();
    let lines = reader.verified_lines_of_intent(intent.number()).await?;
    let end = lines.last().map_or(origin.seq, |last| last.seq) + SEAL_SEARCH_LINES;
    reader.read_seals(origin.seq..end).await?;
    let exchanges = reader.exchanges_of_intent(intent.number()).await?;
    let exchanges_outside = reader.count_unsealed_exchanges(intent.number()).await?;
    let notes: Vec<_> = contents.lines.iter().filter(|stored| is_trade_note(stored, intent)).collect();
    let entries = lines.iter().chain(notes.iter().copied());
    let mut timeline: Vec<Step> = entries.map(|stored| Step::from_line(stored, decided)).collect();
    timeline.extend(exchanges.iter().flat_map(|exchange| Step::from_exchange(exchange, decided)));
    let trade = TradeLine::new(&contents.book, (row, origin));
    let venue_id = trade.venue_id.as_deref();
    let lists = doubt::read_trade_lists(reader, (&lines, &notes)).await?;
    timeline.extend(lists.iter().flat_map(|exchange| doubt::build_steps(exchange, (row, origin), venue_id)));
    timeline.sort_by_key(|step| (step.time, step.sort_rank()));
    let command = format!("explain {}", request.name);
    let TradeRequest { registry, is_replay_unlimited, .. } = *request;
    let options =
        RecomputeOptions { registry, is_replay_unlimited, is_conditions_only: false, command: &command };
    let bots = [(origin.bot.as_str(), origin.seq)];
    let shown = recompute_indicators(reader, contents, (origin.run, &bots), &options).await?.pop();
    let (shown, indicators_missing) = match shown.unwrap_or_else(|| Ok(DecisionContext::default())) {
        Ok(shown) => (shown, None),
        Err(why) => (DecisionContext::default(), Some(why)),
    };
    let trading = contents.run(origin.run).and_then(|run| run.trading);
    let audit = audit::run_checks((row, origin), venue_id, trading, exchanges.iter().chain(&lists));
    Ok(Explanation {
        trade,
        not_sent_reason: lines.iter().find_map(not_sent_reason),
        stake_reason: read_stake_reason(reader, contents, origin, (decided, is_replay_unlimited)).await?,
        passed_rules: Rule::ALL.to_vec(),
        indicators: shown.indicators,
        conditions: shown.conditions,
        gate: shown.gate,
        indicators_missing,
        candles: read_candles_around(reader, contents, (row, origin)).await?,
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
    (at, is_unlimited): (Millis, bool),
) -> Result<Option<String>, RecordsError> {
    let Some(run) = contents.run(origin.run) else { return Ok(None) };
    let Some(bot) = run.settings.bots.iter().position(|bot| bot.name == origin.bot) else { return Ok(None) };
    let (decision, mut reason) = (DecisionEntry { seq: origin.seq, bot, at }, None);
    before::visit_sessions_before(reader, contents, (run, &[decision]), is_unlimited, |session, decision| {
        reason = before::stake_origin(session, run, decision);
    })
    .await?;
    Ok(reason)
}

fn is_trade_note(stored: &StoredLine, intent: IntentId) -> bool {
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

async fn read_candles_around(
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
        let lines = reader
            .verified_lines_between(decided - length * PRIOR_CANDLES, end + Millis::new(1), MAX_LINES)
            .await?;
        for stored in &lines {
            candles.extend(CandleLine::new(stored, run)?.filter(|line| line.series == bot.series()));
        }
    }
    Ok(candles)
}

impl Explanation {
    pub fn raw_text(&self) -> String {
        self.render(true)
    }

    fn render(&self, is_raw: bool) -> String {
        let mut head = self.trade_lines();
        head.extend(self.decision_lines());
        format!("{}\n\n{}\n\n{}", head.join("\n"), self.candle_table(is_raw), self.timeline_table(is_raw))
    }

    fn trade_lines(&self) -> Vec<String> {
        let trade = &self.trade;
        let TradeLine { intent_id, bot, direction, symbol, close_type, expiration_type, .. } = trade;
        let amount = trade.stake_text();
        let reason = self.not_sent_reason.as_ref().map(|reason| format!(": {}", escape_hidden(reason)));
        let result = trade.result_text().zip(trade.pnl_text());
        let result = result.map(|(result, pnl)| format!(", {result} {pnl}"));
        let id = trade.venue_id.as_ref().map(|id| format!("; venue id {}", escape_hidden(id)));
        let [reason, result, id] = [reason, result, id].map(Option::unwrap_or_default);
        let state = format!("State: {}{reason}{result}{id}", trade.state);
        let ordered = trade.ordered_text();
        let mut lines = vec![format!(
            "Trade #{intent_id} of {bot}: {direction} {amount} on {symbol}, {close_type} {expiration_type}"
        )];
        lines.extend(ordered.map(|one| format!("Ordered: {one}, but the venue opened a different trade")));
        lines.push(state);
        lines.extend(self.stake_reason.as_ref().map(|reason| format!("Stake: {amount}, {reason}")));
        lines
    }

    fn decision_lines(&self) -> Vec<String> {
        let decided = self.trade.decision_time;
        let clocks = conditions::format_local_times(&self.conditions, decided);
        let mut lines = vec![format!("Decided at {}{clocks}: {}", format_utc(decided), self.trade.reason)];
        if !self.indicators.is_empty() {
            let shown =
                self.indicators.iter().map(|(name, value)| format!("{name} = {}", format_price(*value)));
            lines.push(format!("Indicators: {}", shown.collect::<Vec<_>>().join(", ")));
        }
        if !self.conditions.is_empty() {
            lines.push("Conditions:".to_owned());
        }
        lines.extend(conditions::condition_lines(&self.conditions).iter().map(|line| format!("  {line}")));
        if let Some(GateSnapshot { before, now, moved, .. }) = &self.gate {
            lines.push(format!("Gate before: {}", escape_hidden(before)));
            lines.push(format!("Gate after: {}", escape_hidden(now)));
            lines.extend(moved.as_ref().map(|moved| format!("Gate {}", describe_transition(moved))));
        }
        lines.extend(self.indicators_missing.as_ref().map(|why| format!("Indicators not available: {why}")));
        if let [first, .., last] = self.passed_rules[..] {
            let count = self.passed_rules.len();
            lines.push(format!("Risk: all {count} rules passed, from {first} to {last}"));
        }
        lines.extend(audit::describe_checks(&self.audit).iter().map(|line| format!("Audit: {line}")));
        if self.exchanges_outside > 0 {
            lines.push(format!(
                "HTTP log: {} exchanges were recorded by an earlier version. They are not in the hash chain and may have been edited",
                self.exchanges_outside
            ));
        }
        lines
    }

    fn candle_table(&self, is_raw: bool) -> String {
        let time: fn(Millis) -> String = if is_raw { format_utc } else { format_short_time };
        let price: fn(f64) -> String = if is_raw { |price: f64| price.to_string() } else { format_price };
        let last = if is_raw { "received" } else { "" };
        let row = |CandleLine { candle, close_time, received, origin, .. }: &CandleLine| {
            let mark = match origin {
                _ if is_raw => format_utc(*received),
                _ if *close_time == self.trade.decision_time => "decision".to_owned(),
                Origin::Backfill => "backfilled".to_owned(),
                Origin::Live => String::new(),
            };
            let prices = [candle.open(), candle.high(), candle.low(), candle.close()].map(price);
            [time(candle.time())].into_iter().chain(prices).chain([mark])
        };
        table_text(["candle", "open", "high", "low", "close", last], self.candles.iter().map(row))
    }

    fn timeline_table(&self, is_raw: bool) -> String {
        let decided = self.trade.decision_time;
        let is_same_day = self.timeline.iter().all(|step| step.time.get() / DAY_MS == decided.get() / DAY_MS);
        let time = match (is_raw, is_same_day) {
            (true, _) => format_utc,
            (false, true) => format_time_of_day,
            (false, false) => format_short_time,
        };
        let row = |step: &Step| {
            let text = if is_raw { step.raw_text() } else { step.describe(self.scale) };
            [time(step.time), format_delta(decided, step.time), step.what.clone(), text]
        };
        table_text(["time", "after", "event", "details"], self.timeline.iter().map(row))
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// Describes a gate transition, such as `closed at TIME, when the BUY signal of TIME won`.
fn describe_transition(moved: &GateTransition) -> String {
    let what = if moved.is_open { "opened" } else { "closed" };
    let at = format_utc(moved.at);
    match moved.by {
        Some(SettledSignal { decided, direction, won }) => {
            let result = if won { "won" } else { "lost" };
            format!("{what} at {at}, when the {direction} signal of {} {result}", format_utc(decided))
        }
        None => format!("{what} at {at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Direction;

    #[test]
    fn describes_time_and_cause_of_a_gate_move() {
        // The time is 2026-01-05 08:14 UTC, according to `date -d @1767600840`.
        let at = Millis::new(1_767_600_840_000);
        let by = SettledSignal { decided: at - Millis::MINUTE, direction: Direction::Buy, won: true };
        let lost = SettledSignal { direction: Direction::Sell, won: false, ..by };
        for (is_open, by, begin, end) in [
            (false, Some(by), "closed", ", when the BUY signal of 2026-01-05T08:13:00.000Z won"),
            (true, Some(lost), "opened", ", when the SELL signal of 2026-01-05T08:13:00.000Z lost"),
            (false, None, "closed", ""),
        ] {
            let expected = format!("{begin} at 2026-01-05T08:14:00.000Z{end}");
            assert_eq!(describe_transition(&GateTransition { at, is_open, by }), expected);
        }
    }
}
