//! Finds list entries that the configuration would reject: entries outside trading hours or during an earlier trade.
//!
//! The entries are replayed through a session without strategies. The replay assumes that each trade ends in a draw.

use super::list::{DueEntry, ListEntry, SignalList};
use crate::bots::session_settings;
use crate::configuration::LoadedConfig;
use candlewick_engine::{
    Action, BotSettings, Event, EventKind, IntentId, OpenedTrade, Rule, Session, SessionSettings,
    TradeSettlement,
};
use candlewick_sdk::{Expiry, Millis, Money, Outcome, Symbol};
use candlewick_simulator::{SimulationSettings, TradeTimes};
use chrono::DateTime;
use chrono_tz::Tz;
use std::collections::{BTreeMap, BTreeSet};

const REPLAY_HORIZON: Millis = Millis::new(7 * 86_400_000);
const MAX_REPLAYED_ENTRIES: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RejectedEntry {
    pub(super) line: u64,
    pub(super) rule: Rule,
    pub(super) reason: String,
}

#[derive(Default)]
pub(super) struct ListRejections {
    pub(super) rejected_entries: BTreeMap<u64, RejectedEntry>,
    /// Lines rejected at every checked time. Excludes daily entries that are rejected only on some days.
    pub(super) always_rejected_lines: BTreeSet<u64>,
    entries: usize,
    /// Value of `max_open_trades_per_symbol` that would accept all entries. `None` if this limit rejects no entry.
    needed_limit: Option<usize>,
}

struct OpenTrade {
    intent: IntentId,
    entry: ListEntry,
    symbol: Symbol,
    closes: Millis,
    known: Millis,
}

impl ListRejections {
    pub(super) fn find(loaded: &LoadedConfig, entries: &[(ListEntry, Tz)], now: Millis) -> Self {
        let list = SignalList::from_entries(entries.iter().map(|(entry, _)| *entry).collect());
        let mut due = list.due_entries(now, now + REPLAY_HORIZON);
        let dated = entries.iter().filter_map(|(entry, _)| entry.time.fixed_time().map(|at| (at, *entry)));
        due.extend(dated.filter(|(at, _)| !(now < *at && *at <= now + REPLAY_HORIZON)).map(DueEntry::new));
        due.sort_by_key(|due| (due.at, due.entry.line));
        due.truncate(MAX_REPLAYED_ENTRIES);
        let mut settings = session_settings(loaded);
        // Rules that depend on candles, earlier payouts or trade results are disabled.
        let risk = &mut settings.risk;
        (risk.stale_after_intervals, risk.min_payout_percent, risk.enforce_verdict) = (0, 0.0, false);
        risk.min_payout_percent_by_symbol.clear();
        risk.best_payout_of.clear();
        let zones: BTreeMap<u64, Tz> = entries.iter().map(|(entry, zone)| (entry.line, *zone)).collect();
        let Some((refused, _)) = replay(&due, &settings, loaded, &zones) else { return Self::default() };
        let is_full = refused.iter().any(|one| one.rule == Rule::MaxOpenTradesPerSymbol);
        (settings.risk.max_open_trades_per_symbol, settings.risk.max_open_trades) = (0, 0);
        let unlimited = is_full.then(|| replay(&due, &settings, loaded, &zones)).flatten();
        let needed_limit = unlimited.map(|(_, most)| most).filter(|most| *most > 1);
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        for due in &due {
            *open.entry(due.entry.line).or_default() += 1;
        }
        let mut by_line = BTreeMap::new();
        for one in refused {
            open.entry(one.line).and_modify(|left| *left -= 1);
            by_line.entry(one.line).or_insert(one);
        }
        let always_refused = open.into_iter().filter(|(_, left)| *left == 0).map(|(line, _)| line).collect();
        Self {
            rejected_entries: by_line,
            always_rejected_lines: always_refused,
            entries: entries.len(),
            needed_limit,
        }
    }

    pub(super) fn describe(&self) -> Option<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for one in self.rejected_entries.values() {
            *counts.entry(rejection_reason(one.rule)).or_default() += 1;
        }
        let total = self.rejected_entries.len();
        let (first, _) = counts.first_key_value()?;
        let parts = counts.iter().map(|(reason, count)| format!("{count} {reason}"));
        let why = if counts.len() == 1 { first.clone() } else { parts.collect::<Vec<_>>().join(", ") };
        let hint = self.needed_limit.map(|most| {
            format!("; max_open_trades_per_symbol = {most} would allow overlaps in the same direction")
        });
        Some(format!(
            "{total} of {} entries would be rejected by the current configuration: {why}{}",
            self.entries,
            hint.unwrap_or_default()
        ))
    }
}

fn replay(
    due: &[DueEntry],
    settings: &SessionSettings,
    loaded: &LoadedConfig,
    zones: &BTreeMap<u64, Tz>,
) -> Option<(Vec<RejectedEntry>, usize)> {
    let mut session = Session::without_strategies(settings).ok()?;
    let (bots, simulation) = (&settings.bots, &loaded.config.simulation);
    let (mut running, mut refused, mut actions) = (Vec::<OpenTrade>::new(), Vec::new(), Vec::new());
    let mut most = 0;
    for due in due {
        let Some(bot) = bots.get(due.entry.bot.index()) else { continue };
        running.sort_by_key(|running| running.known);
        while running.first().is_some_and(|first| first.known <= due.at) {
            let ended = running.remove(0);
            let draw = TradeSettlement::from_operator(ended.intent, Outcome::Draw, Money::ZERO);
            feed(&mut session, ended.known, EventKind::Settled(draw), &mut actions);
        }
        actions.clear();
        let signal = due.signal(bot);
        feed(&mut session, due.at, EventKind::OutsideSignal(signal), &mut actions);
        for action in std::mem::take(&mut actions) {
            match action {
                Action::Open(approved) => {
                    let intent = approved.intent();
                    feed(&mut session, due.at, EventKind::Opened(opened_trade(intent)), &mut actions);
                    running.push(OpenTrade::new(intent, due, bot, simulation));
                    let same = running.iter().filter(|one| one.symbol == bot.symbol).count();
                    most = most.max(same);
                }
                Action::Refuse(found) => {
                    let zone = zones.get(&due.entry.line).copied().unwrap_or(Tz::UTC);
                    let reason = explain_rejection(found.rule, bot.symbol, &running, settings, zone);
                    refused.push(RejectedEntry { line: due.entry.line, rule: found.rule, reason });
                }
                Action::DayOpened { .. } | Action::Verdict(_) => {}
            }
        }
    }
    Some((refused, most))
}

impl OpenTrade {
    fn new(intent: IntentId, due: &DueEntry, bot: &BotSettings, simulation: &SimulationSettings) -> Self {
        let own = due.entry.close_type;
        let expiry = own.map_or(bot.expiry(), |close_type| Expiry { close_type, ..bot.expiry() });
        let arrival = due.at + bot.entry_delay().unwrap_or_default() + simulation.latency_ms;
        let closes = TradeTimes::new(expiry, arrival, simulation).close_time;
        let known = closes + simulation.settle_delay_ms;
        Self { intent, entry: due.entry, symbol: bot.symbol, closes, known }
    }
}

fn feed(session: &mut Session, at: Millis, kind: EventKind, actions: &mut Vec<Action>) {
    session.handle(&Event { at, received: at, kind }, actions);
}

const fn opened_trade(intent: IntentId) -> OpenedTrade {
    OpenedTrade {
        intent,
        venue_id: None,
        open_time: None,
        open_price: None,
        close_time: None,
        payout: None,
        taken: None,
    }
}

fn explain_rejection(
    rule: Rule,
    symbol: Symbol,
    running: &[OpenTrade],
    settings: &SessionSettings,
    zone: Tz,
) -> String {
    let risk = &settings.risk;
    let setting = match rule {
        Rule::MaxOpenTradesPerSymbol => {
            format!("max_open_trades_per_symbol = {}", risk.max_open_trades_per_symbol)
        }
        Rule::MaxOpenTrades => format!("max_open_trades = {}", risk.max_open_trades),
        Rule::OppositeOpen => "allow_opposite = false".to_owned(),
        Rule::DuplicateOpen => "allow_duplicate = false".to_owned(),
        Rule::OutsideHours | Rule::Blackout => return format!("rejected: {}", rejection_reason(rule)),
        rule => return format!("rejected: {}", rule.describe()),
    };
    let in_way = running.iter().filter(|one| rule == Rule::MaxOpenTrades || one.symbol == symbol);
    let Some(OpenTrade { entry, closes, .. }) = in_way.max_by_key(|one| one.closes) else {
        return format!("rejected by {rule} ({setting})");
    };
    let until = DateTime::from_timestamp_millis(closes.get()).unwrap_or_default();
    let (direction, until) = (entry.direction, until.with_timezone(&zone).format("%H:%M:%S"));
    format!("rejected: the {direction} trade of line {} is open until {until} ({setting})", entry.line)
}

fn rejection_reason(rule: Rule) -> String {
    let reason = match rule {
        Rule::Blackout => "during risk.blackouts",
        Rule::OutsideHours => "outside risk.hours",
        Rule::MaxOpenTradesPerSymbol => "while a trade of an earlier line is open on the symbol",
        Rule::MaxOpenTrades => "while max_open_trades is reached",
        Rule::OppositeOpen => "while a trade in the opposite direction is open on the symbol",
        Rule::DuplicateOpen => "while a trade with the same direction and close time is open on the symbol",
        rule => return format!("by {}", rule.describe()),
    };
    reason.to_owned()
}
