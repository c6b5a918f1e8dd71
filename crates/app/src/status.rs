//! Status of a journal and its bot: money, trades, orders of unknown status, verdicts and blocking rules.

use crate::configuration::{LoadedConfig, control_paths};
use crate::control::describe_phase;
use crate::error::Result;
use crate::live::intents_lost_with_venue;
use crate::recent::read_recent_trades;
use candlewick_engine::{
    BotVerdict, EdgeRow, Event, EventKind, Halt, IntentId, IntentRow, IntentState, RunningEdge, Session,
    SettingsReload, VenueId,
};
use candlewick_journal::{Holder, JournalUrl, Lease, LeaseTerms, LineKind, Reader, StoredLine};
use candlewick_records::{
    EdgeIntervals, ForeignTrade, JournalContents, LimitLine, LimitReached, TradingMode, VerdictLine,
    count_text, describe_halt, format_number, format_utc, parse_refusal, table,
};
use candlewick_runtime::control::{
    ApiState, Blockage, ControlAnswer, ControlOrder, MarketState, Phase, RunState, SignalTally, send_order,
};
use candlewick_runtime::{ClockEstimate, OldTrade};
use candlewick_sdk::{Millis, Money, escape_hidden, group_thousands};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Serialize)]
pub struct Status {
    pub journal: String,
    pub holder: Option<JournalHolder>,
    pub bot: Option<RunState>,
    pub runs: usize,
    pub balance: f64,
    pub equity: f64,
    /// Total stake of open, in-flight and in-doubt trades, including duplicates.
    pub open_stakes: f64,
    pub wallet: Option<f64>,
    /// Wallet balance minus the balance implied by the trades. `None` if there is no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wallet_difference: Option<f64>,
    /// Profit of trades settled on the day of the last event.
    pub profit_today: f64,
    pub loss_streak: u32,
    pub open: Vec<u64>,
    pub in_flight: Vec<u64>,
    pub in_doubt: Vec<u64>,
    /// Intents that were unfinished when the embedded venue shut down.
    pub lost_with_venue: Vec<u64>,
    /// Venue trades without an intent: duplicates of an order, and foreign trades.
    pub strange_trades: Vec<ForeignTrade>,
    pub wallet_read: Option<Millis>,
    pub settled: usize,
    pub settled_by_person: Vec<u64>,
    pub halted: bool,
    pub halt: Option<Halt>,
    /// Limit that ended the last run and must be lifted manually; `None` while a bot runs.
    pub ended_by: Option<LimitReached>,
    pub reloaded: Option<SettingsReload>,
    pub verdicts: Vec<VerdictLine>,
    pub limits: Vec<LimitLine>,
    /// Risk rules that reject all signals of at least one bot. If no bot runs, omits `StaleData` and `ClockSkew`.
    pub blocked: Vec<Blockage>,
    /// Whether risk rules block every bot. Excludes brief blocks, such as those that last until a trade ends.
    pub all_blocked: bool,
    pub pauses: Vec<PauseLine>,
    pub ladders: Vec<LadderLine>,
    pub audit_findings: BTreeMap<String, u64>,
    /// Tally of external signals in the last run. `None` if there were no signals.
    pub signals: Option<SignalTally>,
    /// Arrival time of the last journal entry, in venue time.
    pub last_event: Millis,
    pub entries: u64,
    #[serde(skip)]
    now: Millis,
    #[serde(skip)]
    decimals: usize,
}

impl Status {
    pub async fn read(loaded: &LoadedConfig, url: &JournalUrl) -> Result<Self> {
        let mut reader = Reader::open(url).await?;
        let holder = reader.current_lease().await?.map(JournalHolder::from_lease);
        // The bot is queried before the slow read of the journal, so that its times do not look stale.
        let bot = query_bot(loaded).await?;
        let (contents, old) = read_recent_trades(&mut reader).await?;
        let (ledger, scale) = (contents.session.ledger(), contents.session.money_scale());
        let in_state = |state| {
            let rows = contents.book.rows().iter().filter(move |row| row.state == state);
            rows.map(|row| row.approved.intent().number()).collect::<Vec<_>>()
        };
        let trading = contents.runs.last().and_then(|run| run.trading);
        let has_ended = bot.is_none() && holder.as_ref().is_none_or(|holder| !holder.alive);
        let lost = if has_ended { intents_lost_with_venue(&contents) } else { Vec::new() };
        let last_event = contents.last_line.line.received;
        let now = match (&bot, &holder) {
            (Some(bot), _) => bot.at,
            // An embedded venue that has ended has no clock, so the time of the last event is used as its current time.
            (None, Some(holder)) if trading != Some(TradingMode::Sandbox) => holder.read,
            (None, _) => last_event,
        };
        let signals = read_signal_tally(bot.as_ref(), &contents, holder.as_ref(), &mut reader).await?;
        let halt = bot.as_ref().and_then(|bot| bot.halt.clone()).or_else(|| contents.halt());
        let of_journal = || Blockage::list_from_journal(&contents.session, now);
        let blocked = bot.as_ref().map_or_else(of_journal, |bot| bot.blocked.clone());
        Ok(Self {
            journal: url.to_string(),
            holder,
            bot,
            runs: contents.runs.len(),
            balance: scale.to_f64(ledger.free_balance()),
            equity: scale.to_f64(ledger.equity()),
            open_stakes: scale.to_f64(ledger.open_stakes()),
            wallet: ledger.wallet_balance().map(|wallet| scale.to_f64(wallet)),
            wallet_difference: (ledger.wallet_difference() != Money::ZERO)
                .then(|| scale.to_f64(ledger.wallet_difference())),
            profit_today: scale.to_f64(ledger.day_profit()),
            loss_streak: ledger.loss_streak(),
            open: in_state(IntentState::Open),
            in_flight: in_state(IntentState::InFlight),
            in_doubt: in_state(IntentState::InDoubt),
            lost_with_venue: lost.into_iter().map(IntentId::number).collect(),
            strange_trades: foreign_trades(&contents, &old),
            // A paper wallet belongs to the run and is read only once.
            wallet_read: contents.wallet_read_time().filter(|_| trading != Some(TradingMode::Paper)),
            settled: count_settled_trades(&contents, &old),
            settled_by_person: manually_settled_trades(&contents, &old),
            halted: contents.is_halted,
            halt,
            ended_by: contents.reached_limit().filter(|_| has_ended),
            reloaded: contents.last_settings_reload()?,
            verdicts: collect_verdicts(&contents, &old),
            limits: LimitLine::from_session(&contents.session, now),
            all_blocked: Blockage::are_all_bots_blocked(&blocked, contents.session.bot_names().len()),
            blocked,
            pauses: PauseLine::from_session(&contents.session, now),
            ladders: LadderLine::from_session(&contents.session, now),
            audit_findings: contents.audit_findings(None),
            signals,
            last_event,
            entries: contents.last_line.seq,
            now,
            decimals: scale.decimals() as usize,
        })
    }

    fn staleness_text(&self, at: Millis) -> String {
        let limit = self.bot.as_ref().and_then(|bot| bot.stale_after_s);
        let limit = limit.map_or(RunState::SILENT_AFTER, |own| Millis::from_seconds(i64::from(own.get())));
        describe_staleness(self.now - at, limit)
    }

    fn wallet_text(&self) -> String {
        let Some(wallet) = self.wallet else { return "-".to_owned() };
        let read = self.wallet_read.map(|at| self.staleness_text(at)).unwrap_or_default();
        let difference = match self.wallet_difference {
            Some(amount) if amount < 0.0 => {
                format!(", {} less than the trades imply", self.format_money(-amount))
            }
            Some(amount) => format!(", {} more than the trades imply", self.format_money(amount)),
            None => String::new(),
        };
        format!("{}{difference}{read}", self.format_money(wallet))
    }

    /// Describes the last venue response, or the last journal event if the bot does not answer.
    fn last_response_text(&self) -> String {
        let Some(bot) = &self.bot else {
            return format!("{}{}", format_utc(self.last_event), self.staleness_text(self.last_event));
        };
        let one = |state: &ApiState| {
            let mark = |at| if state.is_silent { self.staleness_text(at) } else { String::new() };
            let heard =
                state.heard.map_or("not yet".to_owned(), |at| format!("{}{}", format_utc(at), mark(at)));
            format!("{} {heard}", state.api.label())
        };
        let apis: Vec<String> = bot.api_states().iter().map(one).collect();
        match bot.heard {
            _ if !apis.is_empty() => apis.join("; "),
            // Bots of earlier versions report no state per API.
            Some(at) => format_utc(at),
            None => "not yet".to_owned(),
        }
    }

    fn problems_text(&self) -> String {
        if !self.lost_with_venue.is_empty() {
            let lost = list_trades(&self.lost_with_venue);
            return format!("unfinished when the embedded venue shut down: {lost}");
        }
        join_or_default(self.bot.iter().flat_map(|bot| bot.troubles.iter().cloned()), "; ", "none known")
    }

    fn format_money(&self, amount: f64) -> String {
        group_thousands(&format!("{amount:.*}", self.decimals))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holder = self.holder.as_ref().map_or("no process".to_owned(), JournalHolder::to_string);
        // Omits the bot's own trade counts, which may be newer than the counts in the journal.
        let silence = if self.holder.is_some() { "no answer" } else { "not running" };
        let phase = self.bot.as_ref().map_or(silence.to_owned(), describe_phase);
        let balance =
            format!("{} free, {} equity", self.format_money(self.balance), self.format_money(self.equity));
        let one = |text: String| vec![text];
        let or = |all: Vec<String>, none: &str| if all.is_empty() { vec![none.to_owned()] } else { all };
        let or_dash = |text: Option<String>| vec![text.unwrap_or_else(|| "-".to_owned())];
        let bot = self.bot.as_ref();
        let market = bot.and_then(|bot| bot.market.as_deref());
        let slowest = market.and_then(|market| market.slowest_candle);
        let tally = bot.and_then(|bot| bot.signals.as_deref());
        let next = tally.and_then(|tally| tally.next.as_ref());
        let next = next.map(|next| {
            format!("{} of {} at {}", next.direction, escape_hidden(&next.bot), format_utc(next.at))
        });
        let passed_over = tally.and_then(|tally| tally.passed_over.as_deref());
        let gates = bot.into_iter().filter_map(|bot| bot.gates.as_deref()).flatten();
        let manual = Some(&self.settled_by_person).filter(|manual| !manual.is_empty());
        let manual = manual.map(|manual| format!(", manually: {}", list_trades(manual))).unwrap_or_default();
        let settings = self.reloaded.as_ref().map_or("unchanged since the start".to_owned(), describe_reload);
        let signals = self.signals.as_ref().map(SignalTally::describe).unwrap_or_default();
        let limits = self.limits.iter().map(|limit| limit.describe(self.decimals)).collect();
        // Rows without lines are omitted.
        let rows = [
            ("journal", one(format!("{}, {}", self.journal, count_text(self.entries, "entry", "entries")))),
            ("held by", one(holder)),
            ("bot", one(phase)),
            ("clock", or_dash(bot.and_then(|bot| bot.clock).map(describe_clock))),
            ("runs", one(self.runs.to_string())),
            ("balance", one(balance)),
            ("wallet (last read)", one(self.wallet_text())),
            ("last venue response", one(self.last_response_text())),
            ("slowest candle", or_dash(slowest.map(|slowest| slowest.to_string()))),
            ("streamed prices", or_dash(stream_text(market))),
            ("next scheduled signal", or_dash(next)),
            ("skipped", passed_over.map(|words| escape_hidden(words).into_owned()).into_iter().collect()),
            ("external signals", or(signals, "none")),
            ("problems", one(self.problems_text())),
            ("profit today", one(format_number(format!("{:+.*}", self.decimals, self.profit_today)))),
            ("open trades", one(list_trades(&self.open))),
            ("in flight", one(list_trades(&self.in_flight))),
            ("unknown status", one(list_trades(&self.in_doubt))),
            ("unknown trades", one(describe_foreign_trades(&self.strange_trades))),
            ("settled trades", one(format!("{}{manual}", format_number(self.settled)))),
            ("new trades", one(self.describe_new_trades())),
            ("blocked", self.blocked.iter().map(Blockage::describe).collect()),
            ("settings", one(settings)),
            ("pauses", self.pauses.iter().map(PauseLine::describe).collect()),
            ("ladders", self.ladders.iter().map(|ladder| ladder.describe(self.decimals)).collect()),
            ("gates", gates.map(|(name, words)| format!("{}: {words}", escape_hidden(name))).collect()),
            ("active limits", or(limits, "no limits on money, losses or trade counts")),
            ("verdicts", self.verdicts.iter().map(VerdictLine::describe).collect()),
            ("audit findings", one(describe_findings(&self.audit_findings))),
            ("last event", one(format_utc(self.last_event))),
        ];
        let mut figures = table(["status", ""]);
        for (name, lines) in rows {
            for (index, line) in lines.into_iter().enumerate() {
                figures.add_row([if index == 0 { name } else { "" }.to_owned(), line]);
            }
        }
        f.write_str(&figures.render())
    }
}

async fn read_signal_tally(
    bot: Option<&RunState>,
    contents: &JournalContents,
    holder: Option<&JournalHolder>,
    reader: &mut Reader,
) -> Result<Option<SignalTally>> {
    if let Some(bot) = bot {
        return Ok(bot.signals.as_deref().filter(|tally| !tally.is_empty()).cloned());
    }
    match contents.notes_of_last_run().find_map(SignalTally::from_note) {
        // A run that was killed has not recorded its signal tally, but the journal still has a lease holder.
        None if holder.is_some() => count_signals_since(reader, contents.last_run().seq).await,
        noted => Ok(noted),
    }
}

fn stream_text(market: Option<&MarketState>) -> Option<String> {
    let stream = market?.stream?;
    let since = stream.missed_since.map(|at| format!(" since {}", format_utc(at))).unwrap_or_default();
    Some(format!("{stream}{since}"))
}

fn describe_staleness(age: Millis, limit: Millis) -> String {
    if age > limit { format!(", STALE: {} s old", age.get() / 1_000) } else { String::new() }
}

fn describe_reload(reloaded: &SettingsReload) -> String {
    let SettingsReload { at, by, changes, .. } = reloaded;
    let changes = changes.iter().map(|change| escape_hidden(change).into_owned());
    let changes = join_or_default(changes, "; ", "no changes");
    format!("reloaded {} by {by}: {changes}", format_utc(*at))
}

fn describe_foreign_trades(trades: &[ForeignTrade]) -> String {
    let text = |trade: &ForeignTrade| match trade.second_of {
        Some(intent) => format!("{}, a duplicate of trade #{intent}", trade.venue_id),
        None => format!("{}, not opened by this journal", trade.venue_id),
    };
    join_or_default(trades.iter().map(text), "; ", "none")
}

fn list_trades(numbers: &[u64]) -> String {
    join_or_default(numbers.iter().map(|number| format!("#{number}")), ", ", "none")
}

fn describe_findings(found: &BTreeMap<String, u64>) -> String {
    join_or_default(found.iter().map(|(audit, count)| format!("{audit} {count}")), ", ", "none")
}

fn join_or_default(parts: impl Iterator<Item = String>, between: &str, none: &str) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { none.to_owned() } else { parts.join(between) }
}

fn describe_clock(estimate: ClockEstimate) -> String {
    let ClockEstimate { low, high, agreeing, outvoted } = estimate;
    let most = high.map_or("any".to_owned(), |high| high.to_string());
    format!("venue clock {low} to {most} ms ahead ({agreeing} samples, {outvoted} outliers)")
}

impl Status {
    pub fn describe_new_trades(&self) -> String {
        let has_silent_bot = self.holder.as_ref().is_some_and(|holder| holder.alive);
        if let Some(RunState { phase: Phase::Suspended, reason: Some(reason), .. }) = &self.bot {
            return format!("suspended: {}", escape_hidden(reason));
        }
        if let (Some(ended), false) = (&self.ended_by, self.halted) {
            return ended.describe();
        }
        match (self.bot.as_ref().map(|bot| bot.phase), self.halted) {
            (Some(Phase::Halted), _) | (None, true) => {
                let halt = self.halt.clone().unwrap_or_default();
                format!("{}; run `candlewick resume` to open trades again", describe_halt(&halt))
            }
            (Some(Phase::Suspended), _) => "suspended".to_owned(),
            (Some(Phase::Stopping), _) => "none, since the bot is stopping".to_owned(),
            (None, false) if has_silent_bot => "unknown, since the bot process does not answer".to_owned(),
            (Some(Phase::Trading), _) | (None, false) if self.all_blocked => {
                "none for now, since risk rules reject every signal".to_owned()
            }
            (Some(Phase::Trading), _) | (None, false) => "allowed".to_owned(),
        }
    }
}

async fn query_bot(loaded: &LoadedConfig) -> Result<Option<RunState>> {
    let paths = control_paths(loaded)?;
    Ok(match send_order(&paths.socket, &ControlOrder::Status, None).await {
        Ok(ControlAnswer::Done { state }) => Some(*state),
        Ok(ControlAnswer::Signal { .. }) => None,
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => {
            tracing::warn!("the bot did not report its status: {problem}");
            None
        }
        Err(error) => {
            tracing::debug!("no bot answers: {error}");
            None
        }
    })
}

/// Counts signals and decisions from the journal line `begun` to the end. `None` if there are no signals.
async fn count_signals_since(reader: &mut Reader, begun: u64) -> Result<Option<SignalTally>> {
    let lines = reader.external_signals_from(begun).await?;
    let mut tally = SignalTally::default();
    let mut rest = &lines[..];
    while let [first, behind @ ..] = rest {
        rest = behind;
        let Some(source) = signal_source(first) else { continue };
        let numbered = (first.seq + 1..).zip(behind);
        let answers = numbered.take_while(|(seq, one)| one.seq == *seq && one.line.kind == LineKind::Action);
        let mut decided = None;
        for (_, answer) in answers {
            decided = match parse_refusal(answer)? {
                Some(refused) => Some(Err(refused.rule)),
                None if answer.line.intent.is_some() => Some(Ok(())),
                None => decided,
            };
        }
        tally.count(&source, decided);
    }
    Ok((!tally.is_empty()).then_some(tally))
}

fn signal_source(stored: &StoredLine) -> Option<String> {
    let event: Event =
        serde_json::from_str(&stored.line.body).ok().filter(|_| stored.line.kind == LineKind::Event)?;
    match event.kind {
        EventKind::OutsideSignal(signal) => Some(signal.source.to_string()),
        _ => None,
    }
}

fn count_settled_trades(contents: &JournalContents, old: &[OldTrade]) -> usize {
    let is_settled = |row: &&IntentRow| row.state == IntentState::Settled;
    let old = old.iter().filter(|old| old.settled.is_some()).count();
    old + contents.book.rows().iter().filter(is_settled).count()
}

fn manually_settled_trades(contents: &JournalContents, old: &[OldTrade]) -> Vec<u64> {
    let old = old.iter().filter(|old| old.is_settled_by_operator).map(|old| old.intent);
    let intents = contents.book.rows().iter().map(|row| row.approved.intent());
    let young = intents.filter(|intent| contents.book.is_settled_by_operator(*intent));
    old.chain(young).map(IntentId::number).collect()
}

fn foreign_trades(contents: &JournalContents, old: &[OldTrade]) -> Vec<ForeignTrade> {
    let mut trades = contents.foreign_trades();
    trades.retain(|trade| {
        let id = VenueId::truncated(&trade.venue_id);
        !old.iter().any(|old| old.has_venue_id(id.as_str()))
    });
    trades
}

#[derive(Default)]
struct BotTrades {
    rows: Vec<EdgeRow>,
    manual: u64,
}

fn collect_verdicts(contents: &JournalContents, old: &[OldTrade]) -> Vec<VerdictLine> {
    let JournalContents { session, book, .. } = contents;
    let is_past = contents.last_run().trading == Some(TradingMode::Sandbox);
    let verdicts: Vec<&BotVerdict> = session.verdicts().collect();
    let mut bots: Vec<BotTrades> = verdicts.iter().map(|_| BotTrades::default()).collect();
    let young = book.rows().iter().map(|row| {
        let (intent, bot) = (row.approved.intent(), row.approved.bot());
        (intent, bot, EdgeRow::from_row(row), book.is_settled_by_operator(intent))
    });
    let old = old.iter().map(|old| (old.intent, old.bot, old.edge, old.is_settled_by_operator));
    for (intent, bot, edge, is_manual) in old.chain(young) {
        let is_of = |verdict: &&BotVerdict| intent >= verdict.first_intent();
        let is_own = verdicts.get(bot.index()).is_some_and(is_of);
        let Some(own) = bots.get_mut(bot.index()).filter(|_| is_own) else { continue };
        own.rows.push(edge);
        own.manual += u64::from(is_manual);
    }
    let lines = session.bot_names().iter().zip(verdicts).zip(bots);
    let line = |((bot, verdict), own): ((&String, &BotVerdict), BotTrades)| {
        let intervals = EdgeIntervals::from_sequence(RunningEdge::from_rows(&own.rows).sequence());
        let line = VerdictLine::from_verdict(bot, verdict, (own.manual, intervals));
        if is_past { line.on_past_candles() } else { line }
    };
    lines.map(line).collect()
}

#[derive(Debug, Serialize)]
pub struct JournalHolder {
    pub program: String,
    pub pid: u32,
    pub host: String,
    /// Whether the process is running, judged by process id and heartbeat.
    pub alive: bool,
    pub since: Millis,
    pub heartbeat: Millis,
    /// Time at which the lease was read, on the journal's clock.
    #[serde(skip)]
    read: Millis,
}

impl JournalHolder {
    fn from_lease(lease: Lease) -> Self {
        let judge = Holder::current_process("candlewick");
        let alive = !LeaseTerms::default().may_take_over(&lease, &judge);
        let Lease { holder, since, heartbeat, heartbeat_age: silence, .. } = lease;
        let read = heartbeat + silence;
        Self { program: holder.program, pid: holder.pid, host: holder.host, alive, since, heartbeat, read }
    }
}

impl fmt::Display for JournalHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, pid, host, alive, heartbeat, .. } = self;
        let life = if *alive { "alive" } else { "not alive" };
        write!(f, "{program} (process {pid} on {host}), {life}, last heartbeat {}", format_utc(*heartbeat))
    }
}

#[derive(Debug, PartialEq, Serialize)]
pub struct PauseLine {
    /// Name of the paused symbol or bot. `None` if the pause applies to all bots.
    pub whose: Option<String>,
    pub after: String,
    pub until: Millis,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct LadderLine {
    pub bot: String,
    pub next_stake: f64,
    /// Ladder level of `next_stake`, 1-based.
    pub level: u32,
    pub levels: u32,
}

impl PauseLine {
    fn from_session(session: &Session, now: Millis) -> Vec<Self> {
        let running = session.running_pauses(now).into_iter();
        let line = |(running, whose): (candlewick_engine::RunningPause, _)| Self {
            whose,
            after: running.pause.describe_cause(),
            until: running.until,
        };
        let refused = session.refusal_pauses(now).into_iter().map(|(pause, symbol)| Self {
            whose: symbol.map(|symbol| symbol.to_string()),
            after: pause.cause(),
            until: pause.until,
        });
        let mut lines: Vec<Self> = running.map(line).chain(refused).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.until));
        lines
    }

    fn describe(&self) -> String {
        let whose = self.whose.as_deref().map(|name| format!("{} ", escape_hidden(name))).unwrap_or_default();
        format!("{whose}paused until {} ({})", format_utc(self.until), self.after)
    }
}

impl LadderLine {
    fn from_session(session: &Session, now: Millis) -> Vec<Self> {
        let scale = session.money_scale();
        let line = |ladder: candlewick_engine::LadderLevel| {
            let bot = session.bot_names().get(ladder.bot.index())?.clone();
            let (level, levels) = (ladder.level, ladder.levels);
            Some(Self { bot, next_stake: scale.to_f64(ladder.stake), level, levels })
        };
        session.ladder_levels(now).into_iter().filter_map(line).collect()
    }

    fn describe(&self, decimals: usize) -> String {
        let Self { bot, next_stake, level, levels } = self;
        format!("{}: next stake {next_stake:.decimals$} (level {level} of {levels})", escape_hidden(bot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_times_older_than_the_limit_as_stale() {
        let minutes = |count: i64| Millis::MINUTE * count;
        for (age, limit, expected) in [
            (minutes(0), minutes(3), ""),
            (minutes(3), minutes(3), ""),
            (minutes(3) + Millis::new(1), minutes(3), ", STALE: 180 s old"),
            (minutes(60), minutes(3), ", STALE: 3600 s old"),
            // In a fast sandbox, ten real seconds are twenty minutes.
            (minutes(19), minutes(20), ""),
            (minutes(21), minutes(20), ", STALE: 1260 s old"),
            // The clock was set back.
            (minutes(-60), minutes(3), ""),
        ] {
            assert_eq!(describe_staleness(age, limit), expected, "{age} of {limit}");
        }
    }
}
