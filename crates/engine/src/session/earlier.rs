//! Restores a Session from the journal entries of earlier runs.

use super::Session;
use super::history::HistoryEntry;
use crate::intent::Intent;
use crate::nominal::nominal_close;
use crate::risk::PayoutProbe;
use crate::{
    EngineError, Event, EventKind, OrderTerms, RecordedEntry, SessionSettings, SymbolId, TradeSettlement,
};
use candlewick_sdk::{Candle, Millis, Signal, Strategy, Symbol};

struct NoOpStrategy;

impl Strategy for NoOpStrategy {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }
}

impl Session {
    /// Creates a Session in which all strategies are no-ops.
    pub fn without_strategies(settings: &SessionSettings) -> Result<Self, EngineError> {
        let strategies = settings.bots.iter().map(|_| Box::new(NoOpStrategy) as Box<dyn Strategy>);
        Self::new(settings, strategies.collect())
    }

    /// Applies a journal entry of an earlier run to the ledger, limits, ladders and intents.
    /// Strategies do not see the entry, and the entry causes no actions.
    pub fn recall(&mut self, recorded: &RecordedEntry) {
        match recorded {
            RecordedEntry::Refuse | RecordedEntry::Verdict => {}
            RecordedEntry::Open(approved) => {
                self.save_checkpoint(approved.decision_time());
                self.recall_trade(approved.terms());
                self.record_entry(HistoryEntry::Open(*approved.terms()));
            }
            RecordedEntry::DayOpened { start } => {
                self.save_checkpoint(*start);
                self.recall_day(*start);
                self.record_entry(HistoryEntry::Day(*start));
            }
            RecordedEntry::Event(event) => {
                self.save_checkpoint(event.at);
                self.recall_event(event);
                self.record_for_correction(event);
            }
        }
    }

    pub(super) fn recall_trade(&mut self, terms: &OrderTerms) {
        let at = terms.decision_time();
        self.intents.add_in_flight(terms, nominal_close(terms.expiry(), self.order_time(terms)));
        self.state.count_trade(&self.limits, at);
        self.state.count_bot_trade(terms.bot());
        if let Some(verdict) = self.verdict_mut(terms.bot()) {
            verdict.on_decided(terms.intent(), terms.symbol(), at);
        }
        if let Some(bot) = self.bots.get_mut(terms.bot().index()) {
            bot.give_up_missed_level(at);
            bot.stake.on_decided(terms.intent());
            bot.on_decided(terms.expiry());
        }
        if PayoutProbe::for_symbol(&self.limits, &self.state, terms.symbol(), at) == PayoutProbe::Needed {
            self.begin_probe((terms.bot(), terms.symbol(), terms.intent()), terms.stake());
        } else {
            self.round_ladder(terms.bot());
        }
        // The stake is reserved last, because ladder rounding uses the free balance at the decision.
        self.ledger.reserve(terms.stake());
    }

    pub(super) fn recall_event(&mut self, event: &Event) {
        self.recall_day(event.at);
        match &event.kind {
            EventKind::Candle { .. } | EventKind::Price { .. } => {}
            EventKind::OutsideSignal(signal) => {
                self.remember_signal(signal);
            }
            EventKind::Settled(settled) => self.recall_settlement(settled, event.at),
            EventKind::SettledByPerson { intent, outcome, profit } => {
                self.exclude_by_id(*intent);
                self.recall_settlement(&TradeSettlement::from_operator(*intent, *outcome, *profit), event.at);
            }
            _ => {
                self.handle_due_time(event.at);
                self.on_other_event(event, &mut Vec::new());
            }
        }
    }

    fn recall_settlement(&mut self, settled: &TradeSettlement, at: Millis) {
        self.handle_due_time(at);
        if let Some(Intent { bot, .. }) = self.on_settled(settled, at) {
            self.judge(bot, settled, at);
        }
    }

    /// Begins a new day if the previous day is over at `at`. Every event needs this check, because a day's `DayOpened`
    /// record follows the first event of the day in the journal and may be lost in a crash.
    pub(super) fn recall_day(&mut self, at: Millis) {
        if self.ledger.is_day_over(at) {
            self.begin_day(at);
        }
    }

    pub(crate) fn remember_symbol(&mut self, symbol: Symbol) -> SymbolId {
        let place = position_or_push(&mut self.symbols, symbol);
        self.state.ensure_symbols(self.symbols.len());
        SymbolId::new(place).unwrap_or(SymbolId::RETIRED)
    }
}

pub(super) fn position_or_push<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
