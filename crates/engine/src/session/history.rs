//! Recent history of a Session. A corrected result is applied by folding the history again.
//!
//! Only live runs, their replays and journal folds keep a history. The history covers at least [`HISTORY_SPAN`], or
//! the last [`MAX_SETTLEMENTS`] settlements.

use super::Session;
use super::verdicts::SharedVerdicts;
use crate::intent::Intents;
use crate::reentry::Reentry;
use crate::risk::{Limits, OrderTerms, RiskState};
use crate::stake::Stake;
use crate::{
    Action, BotId, BotVerdict, Control, EdgeVerdict, Event, EventKind, Header, IntentId, Ledger, SecondTrade,
    TradeSettlement,
};
use candlewick_sdk::{Millis, Money, Outcome};

const HISTORY_SPAN: Millis = Millis::new(25 * Millis::HOUR.get());

const MAX_SETTLEMENTS: usize = 20_000;

/// Recent entries in up to two consecutive segments, which together cover the history span.
#[derive(Clone)]
pub(super) struct History {
    segments: Vec<Segment>,
}

#[derive(Clone)]
struct Segment {
    checkpoint: Checkpoint,
    entries: Vec<HistoryEntry>,
    began: Millis,
    settlements: usize,
}

#[derive(Clone)]
pub(super) enum HistoryEntry {
    Run(Box<Header>),
    Event(Event),
    Open(OrderTerms),
    Day(Millis),
    Reload(Event, Box<Limits>),
}

#[derive(Clone)]
struct Checkpoint {
    bots: Vec<(Stake, BotVerdict, Option<Box<Reentry>>)>,
    shared: SharedVerdicts,
    state: RiskState,
    ledger: Ledger,
    intents: Intents,
    second_trades: Vec<SecondTrade>,
    next_release: Millis,
    limits: Limits,
}

impl Segment {
    fn new(checkpoint: Checkpoint, began: Millis) -> Self {
        Self { checkpoint, entries: Vec::new(), began, settlements: 0 }
    }

    fn is_full(&self, at: Millis) -> bool {
        self.settlements >= MAX_SETTLEMENTS || at - self.began >= HISTORY_SPAN
    }
}

impl History {
    pub(super) fn replace_settlement(&mut self, intent: IntentId, result: (Outcome, Money)) -> Option<usize> {
        let mut segments = self.segments.iter_mut().enumerate();
        segments.find_map(|(place, segment)| {
            let settlement = segment.entries.iter_mut().find_map(|entry| find_settlement(entry, intent))?;
            *settlement = replace_result(settlement, intent, result);
            Some(place)
        })
    }

    fn has_settlement(&self, intent: IntentId) -> bool {
        let mut entries = self.segments.iter().flat_map(|segment| &segment.entries);
        entries
            .any(|entry| matches!(entry, HistoryEntry::Event(event) if settled_intent(&event.kind) == Some(intent)))
    }
}

fn find_settlement(entry: &mut HistoryEntry, intent: IntentId) -> Option<&mut EventKind> {
    let HistoryEntry::Event(event) = entry else { return None };
    (settled_intent(&event.kind) == Some(intent)).then_some(&mut event.kind)
}

const fn settled_intent(kind: &EventKind) -> Option<IntentId> {
    match kind {
        EventKind::Settled(settled) => Some(settled.intent),
        EventKind::SettledByPerson { intent, .. } => Some(*intent),
        _ => None,
    }
}

const fn replace_result(old: &EventKind, intent: IntentId, (outcome, profit): (Outcome, Money)) -> EventKind {
    match old {
        EventKind::Settled(settled) => EventKind::Settled(TradeSettlement { outcome, profit, ..*settled }),
        _ => EventKind::Settled(TradeSettlement::from_operator(intent, outcome, profit)),
    }
}

/// Returns whether the history records an event. Omits values such as prices, because the next value replaces them.
const fn is_recorded(kind: &EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Candle { .. }
            | EventKind::Price { .. }
            | EventKind::Balance { .. }
            | EventKind::Skew { .. }
            | EventKind::OutsideSignal(_)
            | EventKind::Correction { .. }
    )
}

impl Session {
    /// Handles an event like [`Session::handle`] and records it for later corrections.
    /// Use this method for live runs and their replays.
    pub fn handle_recorded(&mut self, event: &Event, actions: &mut Vec<Action>) {
        let first = actions.len();
        self.save_checkpoint(event.at);
        self.handle(event, actions);
        self.record_for_correction(event);
        for action in &actions[first..] {
            match action {
                Action::Open(approved) => self.record_entry(HistoryEntry::Open(*approved.terms())),
                Action::DayOpened { start, .. } => self.record_entry(HistoryEntry::Day(*start)),
                Action::Refuse(_) | Action::Verdict(_) => {}
            }
        }
    }

    pub(super) fn save_checkpoint(&mut self, at: Millis) {
        let is_due = self
            .history
            .as_ref()
            .is_none_or(|history| history.segments.last().is_none_or(|last| last.is_full(at)));
        if is_due {
            let segment = Segment::new(self.checkpoint(), at);
            let history = self.history.get_or_insert_with(|| Box::new(History { segments: Vec::new() }));
            if history.segments.len() > 1 {
                history.segments.remove(0);
            }
            history.segments.push(segment);
        }
    }

    pub(super) fn record_for_correction(&mut self, event: &Event) {
        if !is_recorded(&event.kind) {
            return;
        }
        self.record_entry(match event.kind {
            EventKind::Control { control: Control::Reload } => {
                HistoryEntry::Reload(*event, Box::new(self.limits.clone()))
            }
            _ => HistoryEntry::Event(*event),
        });
    }

    pub(super) const fn records_history(&self) -> bool {
        self.history.is_some()
    }

    pub(super) fn record_entry(&mut self, entry: HistoryEntry) {
        if let Some(segment) = self.history.as_mut().and_then(|history| history.segments.last_mut()) {
            let is_settlement = |event: &Event| settled_intent(&event.kind).is_some();
            segment.settlements +=
                usize::from(matches!(&entry, HistoryEntry::Event(event) if is_settlement(event)));
            segment.entries.push(entry);
        }
    }

    /// Copies the history of another Session with the same settings.
    /// Call this method after restoring the snapshot of that Session.
    pub fn copy_history_from(&mut self, other: &Self) {
        self.history.clone_from(&other.history);
    }

    fn checkpoint(&self) -> Checkpoint {
        let bots = self.bots.iter();
        Checkpoint {
            bots: bots.map(|bot| (bot.stake.clone(), (*bot.verdict).clone(), bot.reentry.clone())).collect(),
            shared: self.shared.clone(),
            state: self.state.clone(),
            ledger: self.ledger.clone(),
            intents: self.intents.clone(),
            second_trades: self.second_trades.clone(),
            next_release: self.next_release,
            limits: self.limits.clone(),
        }
    }

    /// Restores a checkpoint. Strategies, candles, external signals and names are unaffected.
    fn restore_checkpoint(&mut self, checkpoint: &Checkpoint) {
        for (bot, (stake, verdict, reentry)) in self.bots.iter_mut().zip(&checkpoint.bots) {
            (bot.stake, *bot.verdict, bot.reentry) = (stake.clone(), verdict.clone(), reentry.clone());
        }
        self.shared = checkpoint.shared.clone();
        self.state = checkpoint.state.clone();
        self.state.ensure_symbols(self.symbols.len());
        self.ledger = checkpoint.ledger.clone();
        self.intents = checkpoint.intents.clone();
        self.second_trades.clone_from(&checkpoint.second_trades);
        self.next_release = checkpoint.next_release;
        self.limits = checkpoint.limits.clone();
    }

    /// Returns whether the result of an intent can be corrected. Only recent settlements can be corrected.
    pub fn can_correct(&self, intent: IntentId) -> bool {
        self.history.as_ref().is_some_and(|history| history.has_settlement(intent))
    }

    /// Corrects the result of a settled trade. The state becomes the same as if the correct result had arrived first.
    /// Trades opened since then stay unchanged. Settlements outside the history are ignored.
    pub(super) fn on_correction(
        &mut self,
        intent: IntentId,
        result: (Outcome, Money),
        at: Millis,
        actions: &mut Vec<Action>,
    ) {
        let Some(mut history) = self.history.take() else { return };
        if let Some(first) = history.replace_settlement(intent, result) {
            let edges: Vec<EdgeVerdict> = self.verdicts().map(crate::BotVerdict::edge).collect();
            self.refold(&mut history, first);
            if self.ledger.is_day_over(at) {
                self.begin_day(at);
            }
            self.handle_due_time(at);
            for (place, before) in edges.into_iter().enumerate() {
                let verdict = &self.bots[place].verdict;
                if let (true, Some(bot)) = (verdict.edge() != before, BotId::new(place)) {
                    actions.push(Action::Verdict(verdict.judgement(bot, at)));
                }
            }
        }
        self.history = Some(history);
    }

    fn refold(&mut self, history: &mut History, first: usize) {
        let (limits, prepared) = (self.limits.clone(), self.prepared.take());
        let (wallet, skew) = (self.ledger.wallet_balance(), self.state.skew);
        for (place, segment) in history.segments.iter_mut().enumerate().skip(first) {
            if place == first {
                self.restore_checkpoint(&segment.checkpoint);
            } else {
                segment.checkpoint = self.checkpoint();
            }
            for entry in &segment.entries {
                self.refold_entry(entry);
            }
        }
        (self.limits, self.prepared) = (limits, prepared);
        if let Some(amount) = wallet {
            self.ledger.record_wallet_balance(amount);
        }
        self.state.skew = skew;
    }

    fn refold_entry(&mut self, entry: &HistoryEntry) {
        match entry {
            HistoryEntry::Run(header) => self.resume_run(header),
            HistoryEntry::Event(event) => self.recall_event(event),
            HistoryEntry::Open(terms) => self.recall_trade(terms),
            HistoryEntry::Day(start) => self.recall_day(*start),
            HistoryEntry::Reload(event, limits) => {
                debug_assert_eq!(event.kind, EventKind::Control { control: Control::Reload });
                self.recall_event(event);
                self.limits = (**limits).clone();
            }
        }
    }
}
