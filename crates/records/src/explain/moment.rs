//! Explains what each bot decided at a given time and, if it opened no trade, why not.

use super::before::{DecisionEntry, add_limit_figures};
use super::conditions::{self, ConditionState};
use super::indicators::{RecomputeOptions, recompute_indicators};
use super::{CandleLine, describe_refusal};
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::{find_rejection, is_candle, parse_refusal};
use crate::moment::{format_time_of_day, format_utc};
use crate::run::RecordedRun;
use candlewick_engine::{
    BotSettings, EndedTrade, Event, EventKind, IntentId, IntentRow, IntentState, OrderReply, Origin,
    RefusedSignal, Rejection, RiskSettings, Rule, pause_after, refusal_pause_after,
};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{Direction, Millis, Registry, Symbol, escape_hidden, format_price};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::{self, Display};

const MAX_LINES: u32 = 20_000;
/// Maximum age of the last candle before the moment, as a number of candle intervals.
const MAX_CANDLE_AGE_INTERVALS: i64 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentQuery {
    pub time: Millis,
    pub symbol: Option<Symbol>,
    pub bot: Option<String>,
}

pub struct MomentRequest<'a> {
    pub query: &'a MomentQuery,
    pub registry: &'a Registry,
    pub is_replay_unlimited: bool,
}

#[derive(Debug, Serialize)]
pub struct MomentReport {
    time: Millis,
    run: Option<u64>,
    bots: Vec<BotReport>,
    /// Description of the journal's end if the journal ends before the moment, otherwise `None`.
    ended: Option<String>,
}

#[derive(Debug, Serialize)]
struct BotReport {
    bot: String,
    symbol: Symbol,
    candle: Option<CandleLine>,
    /// `opened`, `refused`, `no_signal`, `warm_up`, `no_candle`, or the state of an intent that has no trade.
    answer: &'static str,
    conditions: Vec<ConditionState>,
    conditions_missing: Option<String>,
    rule: Option<Rule>,
    refusal: Option<String>,
    intent: Option<u64>,
    rejection: Option<String>,
    action: Option<Value>,
    signals: Vec<SignalMoment>,
    #[serde(skip)]
    refused: Option<(Millis, Millis)>,
    #[serde(skip)]
    refusal_entry: Option<DecisionEntry>,
    #[serde(skip)]
    is_under_way: bool,
}

/// Reads the decisions at a moment. Verifies each displayed line against the hash of the previous line.
pub async fn read_moment(
    reader: &mut Reader,
    contents: &JournalContents,
    request: &MomentRequest<'_>,
) -> Result<MomentReport, RecordsError> {
    let query = request.query;
    let time = query.time;
    if let Some(since) = contents.compacted_before().filter(|since| time < *since) {
        return Err(RecordsError::Compacted { since });
    }
    let Some(run) = contents.runs.iter().rev().find(|run| run.began <= time) else {
        return Ok(MomentReport { time, run: None, bots: Vec::new(), ended: None });
    };
    let bots = query.matching_bots(run)?;
    let mut found = Vec::new();
    for bot in bots {
        let from = time - bot.interval.length() * MAX_CANDLE_AGE_INTERVALS;
        let lines = reader.verified_lines_between(from, time + Millis::new(1), MAX_LINES).await?;
        let risk = contents.risk_settings_at(run, time)?;
        let mut moment = BotReport::new(bot, run, &lines)?.with_refusal(contents, bot, risk.as_ref());
        if let (Some(Rule::RefusedByVenue), Some((_, at)), Some(risk)) = (moment.rule, moment.refused, &risk)
            && let Some(pause) =
                describe_pause_after_refusals(reader, contents, risk, (bot.symbol, at)).await?
        {
            moment.refusal = moment.refusal.map(|words| format!("{words}, {pause}"));
        }
        let later = reader.verified_lines_between(from, time + moment_precision(time), MAX_LINES).await?;
        let begun = moment.candle.as_ref().map_or(time, |candle| candle.close_time);
        moment.signals = SignalMoment::collect(&later, (bot, run), begun, risk.as_ref())?;
        let of_intent = match moment.intent {
            Some(intent) => reader.verified_lines_of_intent(intent).await?,
            None => Vec::new(),
        };
        found.push(moment.with_outcome(contents, &of_intent));
    }
    add_conditions(&mut found, reader, (contents, run), request).await?;
    let refusals =
        found.iter_mut().filter_map(|bot| Some((bot.refusal_entry?, bot.rule?, bot.refusal.as_mut()?)));
    add_limit_figures(refusals.collect(), reader, (contents, run), request.is_replay_unlimited).await?;
    Ok(MomentReport { time, run: Some(run.number), bots: found, ended: describe_journal_end(contents, time) })
}

fn describe_journal_end(contents: &JournalContents, time: Millis) -> Option<String> {
    let last = Some(contents.last_line.line.received).filter(|last| *last < time)?;
    let why = contents.reached_limit().map(|limit| format!(", because the run was {}", limit.describe()));
    Some(format!("the journal ends at {}{}", format_utc(last), why.unwrap_or_default()))
}

async fn add_conditions(
    bots: &mut [BotReport],
    reader: &mut Reader,
    (contents, run): (&JournalContents, &RecordedRun),
    request: &MomentRequest<'_>,
) -> Result<(), RecordsError> {
    let command = format!("why {}", format_utc(request.query.time));
    let MomentRequest { registry, is_replay_unlimited, .. } = *request;
    let options =
        RecomputeOptions { registry, is_replay_unlimited, is_conditions_only: true, command: &command };
    let with_candle = |bot: &BotReport| Some((bot.bot.clone(), bot.candle.as_ref()?.seq + 1));
    let asked: Vec<(String, u64)> = bots.iter().filter_map(with_candle).collect();
    let asked: Vec<(&str, u64)> = asked.iter().map(|(bot, until)| (bot.as_str(), *until)).collect();
    let shown = recompute_indicators(reader, contents, (run.number, &asked), &options).await?;
    for (bot, shown) in bots.iter_mut().filter(|bot| bot.candle.is_some()).zip(shown) {
        match shown {
            Ok(shown) => bot.conditions = shown.conditions,
            Err(why) => bot.conditions_missing = Some(why),
        }
    }
    Ok(())
}

impl MomentQuery {
    pub(super) fn matching_bots<'a>(
        &self,
        run: &'a RecordedRun,
    ) -> Result<Vec<&'a BotSettings>, RecordsError> {
        let all = &run.settings.bots;
        if let Some(name) = self.bot.as_ref().filter(|name| all.iter().all(|bot| bot.name != **name)) {
            let known = all.iter().map(|bot| bot.name.clone()).collect();
            return Err(RecordsError::UnknownName { what: "bot", name: name.clone(), known });
        }
        let bots: Vec<&BotSettings> = all.iter().filter(|bot| self.matches_bot(bot)).collect();
        if let (true, Some(symbol)) = (bots.is_empty(), self.symbol) {
            let symbols: BTreeSet<String> = all.iter().map(|bot| bot.symbol.to_string()).collect();
            let known = symbols.into_iter().collect();
            return Err(RecordsError::UnknownSymbol { symbol, run: run.number, known });
        }
        Ok(bots)
    }

    pub(super) fn matches_bot(&self, bot: &BotSettings) -> bool {
        self.symbol.is_none_or(|symbol| symbol == bot.symbol)
            && self.bot.as_ref().is_none_or(|name| *name == bot.name)
    }
}

impl BotReport {
    fn new(bot: &BotSettings, run: &RecordedRun, lines: &[StoredLine]) -> Result<Self, RecordsError> {
        let mut last = None;
        for (place, stored) in lines.iter().enumerate() {
            if let Some(candle) = CandleLine::new(stored, run)?.filter(|candle| candle.series == bot.series())
            {
                last = Some((place, candle));
            }
        }
        let mut line = Self {
            bot: bot.name.clone(),
            symbol: bot.symbol,
            candle: None,
            answer: "no_candle",
            conditions: Vec::new(),
            conditions_missing: None,
            rule: None,
            refusal: None,
            intent: None,
            rejection: None,
            action: None,
            signals: Vec::new(),
            refused: None,
            refusal_entry: None,
            is_under_way: false,
        };
        let Some((place, candle)) = last else { return Ok(line) };
        line.answer = if candle.origin == Origin::Live { "no_signal" } else { "warm_up" };
        line.candle = Some(candle);
        // The journal records the decisions on a candle between that candle and the next event.
        let answers = lines[place + 1..].iter().take_while(|stored| stored.line.kind != LineKind::Event);
        for stored in answers.filter(|stored| !is_candle(stored)) {
            line.record_action(stored, bot, run)?;
        }
        Ok(line)
    }

    fn record_action(
        &mut self,
        stored: &StoredLine,
        bot: &BotSettings,
        run: &RecordedRun,
    ) -> Result<(), RecordsError> {
        let action: Value = serde_json::from_str(&stored.line.body).unwrap_or_default();
        let index = action.get("bot").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let name = index.and_then(|index| run.settings.bots.get(index)).map(|bot| &bot.name);
        if name != Some(&bot.name) {
            return Ok(());
        }
        if let Some(refused) = parse_refusal(stored)? {
            (self.answer, self.rule) = ("refused", Some(refused.rule));
            self.refused = Some((refused.decision_time, stored.line.received));
            let (seq, at) = (stored.seq, refused.decision_time);
            self.refusal_entry = index.map(|bot| DecisionEntry { seq, bot, at });
        } else {
            (self.answer, self.intent) = ("opened", stored.line.intent);
        }
        self.action = Some(action);
        Ok(())
    }

    fn with_refusal(
        mut self,
        contents: &JournalContents,
        bot: &BotSettings,
        risk: Option<&RiskSettings>,
    ) -> Self {
        let (Some(rule), Some(times)) = (self.rule, self.refused) else { return self };
        let is_symbol_limit =
            rule == Rule::MaxOpenTrades && risk.is_some_and(|risk| self.is_symbol_limit(contents, risk));
        let named = if is_symbol_limit { Rule::MaxOpenTradesPerSymbol } else { rule };
        let mut refusal = describe_refusal(named, bot, times, risk);
        if let (Rule::Pause, Some(risk)) = (rule, risk)
            && let Some(pause) = describe_pause_at(contents, risk, (&bot.name, bot.symbol), times.1)
        {
            refusal = format!("{refusal}, {pause}");
        }
        self.refusal = Some(refusal);
        self
    }

    /// Returns whether the per-symbol limit caused a rejection that an older version recorded as `MaxOpenTrades`.
    fn is_symbol_limit(&self, contents: &JournalContents, risk: &RiskSettings) -> bool {
        let at = self.action.as_ref().and_then(|action| action["decision_time"].as_i64()).map(Millis::new);
        let is_open = |row: &IntentRow| {
            let is_trade = matches!(row.state, IntentState::Open | IntentState::Settled);
            let begun = Some(row.approved.decision_time()) <= at;
            is_trade && begun && (row.settled_at.is_none() || row.settled_at > at)
        };
        let open = || contents.intents().filter(|(row, _)| is_open(row));
        let on_symbol = open().filter(|(_, origin)| origin.symbol == self.symbol).count();
        let (all, most) = (risk.max_open_trades as usize, risk.max_open_trades_per_symbol as usize);
        most > 0 && on_symbol >= most && (all == 0 || open().count() < all)
    }

    fn with_outcome(mut self, contents: &JournalContents, lines: &[StoredLine]) -> Self {
        let Some(intent) = self.intent.map(IntentId::new) else { return self };
        if let Some(row) = contents.book.row(intent) {
            self.is_under_way = row.state == IntentState::InFlight;
            self.answer = match row.state.as_str() {
                "open" | "settled" => "opened",
                state => state,
            };
            self.rejection = find_rejection(lines).map(|rejection| rejection.to_string());
        }
        self
    }

    fn reason(&self) -> String {
        let reason = self.action.as_ref().and_then(|action| action.get("reason")).and_then(Value::as_object);
        let Some(reason) = reason else { return String::new() };
        let text = reason.get("text").and_then(Value::as_str).unwrap_or_default();
        let numbers = reason.iter().filter(|(name, _)| *name != "text");
        let shown = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), format_price);
        numbers.fold(text.to_owned(), |text, (name, value)| format!("{text} {name}={}", shown(value)))
    }

    fn describe(&self) -> String {
        let reason = self.reason();
        let said = || {
            let direction = self.action.as_ref().and_then(|action| action.get("direction"));
            direction.and_then(Value::as_str).unwrap_or("signal").to_owned()
        };
        match (self.answer, &self.refusal, self.intent) {
            ("refused", Some(refusal), _) => format!("{} rejected: {refusal} ({reason})", said()),
            ("opened", _, Some(intent)) => format!("{} opened as trade #{intent}: {reason}", said()),
            (state, _, Some(intent)) => {
                let outcome = match (state, &self.rejection) {
                    ("rejected", Some(rejection)) => format!("declined by the venue ({rejection})"),
                    ("rejected", None) => "declined by the venue".to_owned(),
                    ("not_sent", _) => "not sent".to_owned(),
                    ("not_opened", _) => "not opened by the venue".to_owned(),
                    _ if self.is_under_way => "no answer from the venue yet".to_owned(),
                    _ => "status unknown".to_owned(),
                };
                format!("{}, trade #{intent}, {outcome}: {reason}", said())
            }
            ("warm_up", ..) => "no trade, because the candle was backfilled".to_owned(),
            ("no_candle", ..) => "no candle was recorded shortly before this time".to_owned(),
            _ => "no signal".to_owned(),
        }
    }
}

impl Display for MomentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "At {}", format_utc(self.time))?;
        let Some(run) = self.run else { return write!(f, ", no run had started yet.") };
        write!(f, ", in run {run}:")?;
        if let Some(ended) = &self.ended {
            write!(f, " {ended}.")?;
        }
        for bot in &self.bots {
            write!(f, "\n{} on {}: {}", bot.bot, bot.symbol, bot.describe())?;
            if let Some(line) = &bot.candle {
                let (candle, closed) = (&line.candle, format_utc(line.close_time));
                let clocks = conditions::format_local_times(&bot.conditions, line.close_time);
                let (open, high, low, close) = (candle.open(), candle.high(), candle.low(), candle.close());
                write!(
                    f,
                    "\n  last candle closed at {closed}{clocks}: open {open}, high {high}, low {low}, close {close}; received at {}",
                    format_utc(line.received)
                )?;
            }
            for line in conditions::condition_lines(&bot.conditions) {
                write!(f, "\n  {line}")?;
            }
            if let Some(why) = &bot.conditions_missing {
                write!(f, "\n  conditions not available: {}", escape_hidden(why))?;
            }
            for signal in &bot.signals {
                write!(f, "\n  external signal, {signal}")?;
            }
        }
        Ok(())
    }
}

fn moment_precision(at: Millis) -> Millis {
    [Millis::MINUTE, Millis::SECOND].into_iter().find(|one| at.is_aligned_to(*one)).unwrap_or(Millis::new(1))
}

#[derive(Debug, Serialize)]
struct SignalMoment {
    at: Millis,
    received: Millis,
    direction: Direction,
    source: String,
    id: String,
    rule: Option<Rule>,
    refusal: Option<String>,
    intent: Option<u64>,
}

impl SignalMoment {
    fn collect(
        lines: &[StoredLine],
        (bot, run): (&BotSettings, &RecordedRun),
        from: Millis,
        risk: Option<&RiskSettings>,
    ) -> Result<Vec<Self>, RecordsError> {
        let mut found = Vec::new();
        for (place, stored) in lines.iter().enumerate() {
            let Some(event) = parse_signal_event(stored) else { continue };
            let EventKind::OutsideSignal(signal) = event.kind else { continue };
            let own = run.settings.bots.get(signal.bot.index());
            if event.received < from || own.is_none_or(|own| own.name != bot.name) {
                continue;
            }
            let mut moment = Self {
                at: event.at,
                received: event.received,
                direction: signal.direction,
                source: signal.source.to_string(),
                id: signal.id.to_string(),
                rule: None,
                refusal: None,
                intent: None,
            };
            for action in lines[place + 1..].iter().take_while(|next| next.line.kind == LineKind::Action) {
                match parse_refusal(action)? {
                    Some(RefusedSignal { rule, .. }) => {
                        moment.rule = Some(rule);
                        moment.refusal = Some(describe_refusal(rule, bot, (event.at, event.received), risk));
                    }
                    None => moment.intent = action.line.intent.or(moment.intent),
                }
            }
            found.push(moment);
        }
        Ok(found)
    }
}

fn parse_signal_event(stored: &StoredLine) -> Option<Event> {
    let is_one = stored.line.kind == LineKind::Event && stored.line.body.contains("\"outside_signal\"");
    serde_json::from_str(&stored.line.body).ok().filter(|_| is_one)
}

impl Display for SignalMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, id) = (escape_hidden(&self.source), escape_hidden(&self.id));
        write!(f, "{} {} {id} from {source}: ", format_time_of_day(self.received), self.direction)?;
        match (&self.refusal, self.intent) {
            (Some(refusal), _) => write!(f, "rejected: {refusal}"),
            (None, Some(intent)) => write!(f, "approved as trade #{intent}"),
            (None, None) => write!(f, "dropped"),
        }
    }
}

const MAX_REFUSALS_TO_READ: usize = 200;

/// Describes a pause, such as `paused until TIME after 2 losses in a row`; `None` after a manual resume.
fn describe_pause_at(
    contents: &JournalContents,
    risk: &RiskSettings,
    bot_and_symbol: (&str, Symbol),
    at: Millis,
) -> Option<String> {
    if was_resumed_manually(contents) {
        return None;
    }
    let ended = contents.intents().filter_map(|(row, origin)| {
        let settled = row.settled_at.filter(|settled| *settled <= at)?;
        Some(EndedTrade { bot: &origin.bot, symbol: origin.symbol, outcome: row.outcome?, at: settled })
    });
    let (pause, until) = pause_after(risk, bot_and_symbol, ended.collect(), at)?;
    Some(format!("paused until {} after {}", format_utc(until), pause.describe_cause()))
}

/// Describes a pause caused by orders that the venue refused. Returns `None` after a manual resume.
async fn describe_pause_after_refusals(
    reader: &mut Reader,
    contents: &JournalContents,
    risk: &RiskSettings,
    (symbol, at): (Symbol, Millis),
) -> Result<Option<String>, RecordsError> {
    if was_resumed_manually(contents) {
        return Ok(None);
    }
    let answered = contents.intents().filter_map(|(row, origin)| {
        let answered = row.answered_at.filter(|answered| *answered <= at)?;
        Some((row.approved, row.state, origin.symbol, answered))
    });
    let mut answered: Vec<_> = answered.collect();
    answered.sort_by_key(|(_, _, _, at)| *at);
    let is_refused = |state: &IntentState| *state == IntentState::Rejected;
    let refused = answered.iter().filter(|(_, state, ..)| is_refused(state)).count();
    let mut skipped = refused.saturating_sub(MAX_REFUSALS_TO_READ);
    let mut answers = Vec::with_capacity(answered.len());
    for (approved, state, symbol, at) in answered {
        let refusal = match state {
            IntentState::Open | IntentState::Settled => None,
            IntentState::Rejected if skipped > 0 => {
                skipped -= 1;
                continue;
            }
            IntentState::Rejected => {
                let lines = reader.verified_lines_of_intent(approved.intent().number()).await?;
                let Some(Rejection::Refused { reason, .. }) = find_rejection(&lines) else { continue };
                Some(reason)
            }
            _ => continue,
        };
        answers.push(OrderReply { symbol, decided: approved.decision_time(), at, refusal });
    }
    let pause = refusal_pause_after(risk, symbol, &answers, at);
    Ok(pause.map(|pause| format!("until {} after {}", format_utc(pause.until), pause.cause())))
}

fn was_resumed_manually(contents: &JournalContents) -> bool {
    let is_resume = |body: &str| body.contains(r#""control":"resume""#);
    contents.lines.iter().any(|stored| stored.line.kind == LineKind::Event && is_resume(&stored.line.body))
}
