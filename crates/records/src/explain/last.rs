//! The most recent decisions in a journal: approved and rejected signals.

use super::before::{DecisionEntry, add_limit_figures};
use super::describe_refusal;
use super::moment::MomentQuery;
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::parse_refusal;
use crate::moment::format_short_time;
use crate::run::RecordedRun;
use candlewick_engine::{BotSettings, IntentId, IntentState, Rule};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{Direction, Millis, Symbol, escape_hidden};
use serde::Serialize;
use serde_json::Value;
use std::fmt::{self, Display};

const ENTRIES_PER_PAGE: u32 = 2_000;
const MAX_SCANNED_ENTRIES: u64 = 200_000;
const MAX_DECISIONS: usize = 10;
const MAX_REASON_CHARS: usize = 24;

#[derive(Debug, Serialize)]
pub struct LastDecisions {
    decisions: Vec<Decision>,
    looked_at: u64,
}

#[derive(Debug, Serialize)]
struct Decision {
    time: Millis,
    seq: u64,
    run: u64,
    bot: String,
    symbol: Symbol,
    direction: Option<Direction>,
    rule: Option<Rule>,
    refusal: Option<String>,
    intent: Option<u64>,
    state: Option<&'static str>,
    #[serde(skip)]
    decided: Millis,
    #[serde(skip)]
    is_under_way: bool,
    reason: String,
}

pub async fn read_last_decisions(
    reader: &mut Reader,
    contents: &JournalContents,
    (bot, symbol): (Option<&str>, Option<Symbol>),
) -> Result<LastDecisions, RecordsError> {
    let query = MomentQuery { time: Millis::ZERO, symbol, bot: bot.map(str::to_owned) };
    query.matching_bots(contents.last_run())?;
    let head = reader.head().await?.seq;
    let (mut end, mut numbers) = (head, Vec::new());
    while end > 0 && numbers.len() < MAX_DECISIONS && head - end < MAX_SCANNED_ENTRIES {
        let from = end.saturating_sub(u64::from(ENTRIES_PER_PAGE) - 1).max(1);
        let page = reader.lines(from, ENTRIES_PER_PAGE).await?;
        for stored in page.iter().rev().filter(|stored| stored.seq <= end) {
            let is_one = find_bot(stored, contents).is_some_and(|(_, own)| query.matches_bot(own));
            if is_one && numbers.len() < MAX_DECISIONS {
                numbers.push(stored.seq);
            }
        }
        end = from - 1;
    }
    numbers.reverse();
    let lines = reader.lines_by_number(&numbers).await?;
    let decisions = lines.iter().filter_map(|stored| Decision::new(stored, contents).transpose());
    let mut decisions: Vec<Decision> = decisions.collect::<Result<_, _>>()?;
    if let Some(run) = decisions.last().and_then(|last| contents.run(last.run)) {
        let place = |name: &str| run.settings.bots.iter().position(|bot| bot.name == name);
        let of_run = decisions.iter_mut().filter(|decision| decision.run == run.number);
        let refusals = of_run.filter_map(|decision| {
            let entry = DecisionEntry { seq: decision.seq, bot: place(&decision.bot)?, at: decision.decided };
            Some((entry, decision.rule?, decision.refusal.as_mut()?))
        });
        add_limit_figures(refusals.collect(), reader, (contents, run), false).await?;
    }
    Ok(LastDecisions { decisions, looked_at: head - end })
}

fn find_bot<'a>(
    stored: &StoredLine,
    contents: &'a JournalContents,
) -> Option<(&'a RecordedRun, &'a BotSettings)> {
    let (body, kind) = (&stored.line.body, stored.line.kind);
    let is_decision = kind == LineKind::Action
        && (body.starts_with(r#"{"action":"refuse""#) || body.starts_with(r#"{"action":"open""#));
    if !is_decision {
        return None;
    }
    let action: Value = serde_json::from_str(body).ok()?;
    let place = usize::try_from(action["bot"].as_u64()?).ok()?;
    let run = contents.runs.iter().find(|run| run.number == stored.line.run)?;
    Some((run, run.settings.bots.get(place)?))
}

impl Decision {
    fn new(stored: &StoredLine, contents: &JournalContents) -> Result<Option<Self>, RecordsError> {
        let Some((run, bot)) = find_bot(stored, contents) else { return Ok(None) };
        let action: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
        let time = stored.line.received;
        let refused = parse_refusal(stored)?;
        let risk = contents.risk_settings_at(run, time)?;
        let refusal = refused
            .as_ref()
            .map(|refused| describe_refusal(refused.rule, bot, (refused.decision_time, time), risk.as_ref()));
        let intent = stored.line.intent.filter(|_| refused.is_none());
        let decided = refused.as_ref().map_or(time, |refused| refused.decision_time);
        let row = intent.and_then(|intent| contents.book.row(IntentId::new(intent)));
        Ok(Some(Self {
            time,
            seq: stored.seq,
            run: run.number,
            bot: bot.name.clone(),
            symbol: bot.symbol,
            direction: serde_json::from_value(action["direction"].clone()).ok(),
            rule: refused.map(|refused| refused.rule),
            refusal,
            intent,
            state: row.map(|row| row.state.as_str()),
            decided,
            is_under_way: row.is_some_and(|row| row.state == IntentState::InFlight),
            reason: action["reason"]["text"].as_str().unwrap_or_default().to_owned(),
        }))
    }

    fn describe(&self, reason: &str) -> String {
        let (time, bot) = (format_short_time(self.time), escape_hidden(&self.bot));
        let direction = self.direction.map(|direction| format!(" {direction}")).unwrap_or_default();
        let outcome = match (&self.refusal, self.intent, self.state) {
            (Some(refusal), ..) => format!("rejected: {refusal}"),
            (None, Some(intent), _) if self.is_under_way => {
                format!("approved as trade #{intent}; the venue has not answered yet")
            }
            (None, Some(intent), Some(state)) => format!("approved as trade #{intent}, now {state}"),
            (None, Some(intent), None) => format!("approved as trade #{intent}"),
            (None, None, _) => "approved".to_owned(),
        };
        format!("{time}  {bot} on {}:{direction} {outcome} ({reason})", self.symbol)
    }
}

fn shorten_reasons(decisions: &[Decision]) -> Vec<String> {
    let shorten = |(place, own): (usize, &Decision)| {
        let mut before = decisions[..place].iter().rev();
        let last = before.find(|other| (&other.bot, other.direction) == (&own.bot, own.direction));
        let is_long = own.reason.chars().count() > MAX_REASON_CHARS;
        let is_repeated = is_long && last.is_some_and(|last| last.reason == own.reason);
        if is_repeated { "same reason".to_owned() } else { escape_hidden(&own.reason).to_string() }
    };
    decisions.iter().enumerate().map(shorten).collect()
}

impl Display for LastDecisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(last) = self.decisions.last() else {
            return write!(
                f,
                "The last {} journal entries contain no signal. Run `candlewick why TIME` to see what each bot decided at TIME.",
                self.looked_at
            );
        };
        writeln!(f, "Last decisions (UTC):")?;
        for (decision, reason) in self.decisions.iter().zip(shorten_reasons(&self.decisions)) {
            writeln!(f, "{}", decision.describe(&reason))?;
        }
        write!(
            f,
            "For details, run `candlewick why \"{}\"` (a decision) or `candlewick explain NUMBER` (a trade).",
            format_short_time(last.time)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_long_reason_once_per_bot_and_direction() {
        let decision = |bot: &str, direction, reason: &str| Decision {
            time: Millis::ZERO,
            seq: 1,
            run: 1,
            bot: bot.to_owned(),
            symbol: "EURUSD".parse().unwrap(),
            direction: Some(direction),
            rule: None,
            refusal: None,
            intent: None,
            state: None,
            decided: Millis::ZERO,
            is_under_way: false,
            reason: reason.to_owned(),
        };
        let (long, other) = ("rsi(14) < 30 and close > sma(200)", "rsi(14) > 70 and close < sma(200)");
        let decisions = [
            decision("a", Direction::Buy, long),
            decision("a", Direction::Sell, other),
            decision("a", Direction::Buy, long),
            decision("b", Direction::Buy, long),
            decision("a", Direction::Buy, "by hand"),
            decision("a", Direction::Buy, "by hand"),
            decision("a", Direction::Buy, long),
        ];
        let same = "same reason";
        assert_eq!(shorten_reasons(&decisions), [long, other, same, long, "by hand", "by hand", long]);
        let last = LastDecisions { decisions: decisions.into(), looked_at: 7 }.to_string();
        assert_eq!(last.matches(long).count(), 3, "{last}");
    }
}
