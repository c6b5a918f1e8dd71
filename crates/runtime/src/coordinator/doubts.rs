//! Tracks intents in doubt (orders of unknown status), and the trades assigned to each intent.

use super::recorded_session::{ForgottenIntent, RecordedSession};
use crate::RuntimeSettings;
use crate::past::{HALT_PREFIX, RecoveredState};
use crate::resolver::{
    AcceptedTrade, ClaimedTrades, LagMeter, MAX_LIST_LAG, OrderAttempt, Resolution, Resolver,
    ResolverContext, WalletView, earliest_close, latest_close, may_belong_to, reported_request_time,
};
use candlewick_broker::{Account, TradeListing, TradeReport};
use candlewick_engine::{IntentId, IntentRow, IntentState, OrderTerms};
use candlewick_sdk::{Millis, Money};
use std::collections::{BTreeMap, BTreeSet};

const MAX_IMPLAUSIBLE_TRADES: usize = 10_000;

pub(crate) struct Doubts {
    pub(super) resolver: Resolver,
    claimed: ClaimedTrades,
    sent: BTreeMap<IntentId, Millis>,
    began: BTreeMap<IntentId, Millis>,
    /// The venue's last trade list, stored until the next wallet reading arrives.
    pub(super) listing: Option<TradeListing>,
    /// Implausible data that this run or an earlier run has already reported, as trade ids or full texts.
    implausible_data: BTreeSet<String>,
    implausible_trades: BTreeSet<String>,
    list_every: Option<Millis>,
}

impl Doubts {
    pub(crate) fn new(
        account: Account,
        settings: &RuntimeSettings,
        past: &mut RecoveredState,
        now: Millis,
    ) -> Self {
        let lag = LagMeter::new(Millis::new(i64::from(settings.list_lag_ms)));
        let mut resolver = Resolver::new(account, past.began.unwrap_or(now), lag);
        resolver.reported.extend(std::mem::take(&mut past.unexplained));
        let seconds = i64::from(settings.list_every_s);
        let mut claimed = std::mem::take(&mut past.evicted.claimed);
        for id in std::mem::take(&mut past.second_trades) {
            claimed.insert(id);
        }
        Self {
            resolver,
            claimed,
            sent: std::mem::take(&mut past.sent),
            began: std::mem::take(&mut past.in_doubt_since),
            listing: None,
            implausible_data: std::mem::take(&mut past.alarms),
            implausible_trades: BTreeSet::new(),
            list_every: (seconds > 0).then(|| Millis::from_seconds(seconds)),
        }
    }

    /// Marks a trade as belonging to an intent, possibly as a duplicate, so that no other intent can claim it.
    pub(crate) fn claim(&mut self, venue_id: &str) {
        self.claimed.insert(venue_id.to_owned());
    }

    pub(crate) fn is_claimed(&self, venue_id: &str) -> bool {
        self.claimed.contains(venue_id)
    }

    pub(crate) fn forget(&mut self, old: &ForgottenIntent) {
        self.sent.remove(&old.intent);
        self.began.remove(&old.intent);
        if let Some(id) = old.venue_id {
            self.claimed.mark_as_old(id.as_str(), old.ended);
        }
    }

    #[cfg(test)]
    pub(crate) fn retained_counts(&self) -> (usize, usize) {
        (self.claimed.young_trade_count(), self.sent.len())
    }

    /// Returns whether an order in doubt for the same symbol overlaps a finished intent in time, extended by `slack`.
    pub(crate) fn is_near_doubt(&self, session: &RecordedSession, row: &IntentRow, slack: Millis) -> bool {
        let terms = &row.approved;
        let symbols = [session.ordered_symbol(terms), session.traded_symbol(terms)];
        let ended = row.settled_at.or(row.answered_at).unwrap_or(Millis::MAX);
        self.resolver.has_doubt_near(symbols, (terms.decision_time() - slack, ended + slack))
    }

    pub(crate) fn note_sent(&mut self, intent: IntentId, now: Millis) {
        self.sent.insert(intent, now);
    }

    pub(crate) fn begin(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.build_attempt(session, terms, now);
        self.resolver.begin(doubt, now);
    }

    pub(crate) fn restore(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.build_attempt(session, terms, self.doubt_began_at(terms, now));
        self.resolver.begin(doubt, now);
    }

    pub(crate) fn restore_late_search(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.build_attempt(session, terms, self.doubt_began_at(terms, now));
        self.resolver.begin_late_search(doubt, now);
    }

    fn doubt_began_at(&self, terms: &OrderTerms, now: Millis) -> Millis {
        self.began.get(&terms.intent()).copied().unwrap_or(now)
    }

    pub(crate) fn reinstate(&mut self, session: &RecordedSession, refused: &IntentRow, now: Millis) {
        self.resolver.begin(self.build_refused_attempt(session, refused), now);
    }

    pub(crate) fn refused_attempts(&self, session: &RecordedSession, now: Millis) -> Vec<OrderAttempt> {
        let rows = session.book().rows().iter();
        let is_young = |row: &&IntentRow| now - row.approved.decision_time() < Millis::DAY;
        // A request that this run marked as not sent was never sent. An earlier run may have sent such a request.
        let has_left = |row: &&IntentRow| {
            row.state != IntentState::NotSent || self.sent.contains_key(&row.approved.intent())
        };
        let refused = rows.filter(|row| row.is_refused()).filter(is_young).filter(has_left);
        refused.map(|row| self.build_refused_attempt(session, row)).collect()
    }

    fn build_refused_attempt(&self, session: &RecordedSession, row: &IntentRow) -> OrderAttempt {
        let answered = row.answered_at.unwrap_or_else(|| row.approved.decision_time());
        self.build_attempt(session, &row.approved, answered)
    }

    pub(crate) fn sent_at(&self, terms: &OrderTerms) -> Millis {
        self.sent.get(&terms.intent()).copied().unwrap_or(terms.decision_time())
    }

    fn build_attempt(&self, session: &RecordedSession, terms: &OrderTerms, ended: Millis) -> OrderAttempt {
        OrderAttempt {
            intent: terms.intent(),
            order: session.to_trade_order(terms),
            stake: terms.stake(),
            sent: self.sent_at(terms),
            ended,
            latest_expected_close: latest_close(ended, terms.expiry().close_type),
        }
    }

    pub(crate) fn next_routine_poll(&self, now: Millis) -> Option<Millis> {
        self.list_every.map(|every| now + every)
    }

    /// Returns whether implausible data is new. Data that has once halted a run never counts as new again.
    pub(crate) fn is_new_implausible_data(&mut self, text: &str, is_halted: bool) -> bool {
        let halted_by = format!("{HALT_PREFIX}{text}");
        if is_halted {
            !self.implausible_data.contains(&halted_by) && self.implausible_data.insert(text.to_owned())
        } else {
            self.implausible_data.insert(halted_by)
        }
    }

    pub(crate) fn is_new_implausible_time(&mut self, venue_id: &str, text: &str) -> bool {
        !self.implausible_data.contains(text) && self.implausible_data.insert(venue_id.to_owned())
    }

    pub(crate) fn is_new_implausible_trade(&mut self, id: &str) -> bool {
        self.implausible_trades.len() < MAX_IMPLAUSIBLE_TRADES
            && self.implausible_trades.insert(id.to_owned())
    }

    pub(crate) fn resolve(
        &mut self,
        listing: &TradeListing,
        wallet: Option<Money>,
        session: &RecordedSession,
        (opening, uncertainty, has_stood): (&[IntentId], Millis, bool),
        now: Millis,
    ) -> Vec<Resolution> {
        let wallet =
            wallet.map(|balance| WalletView { balance, expected_balance: session.ledger().free_balance() });
        // Intents that wait for the journal are included, because the ledger has already deducted their stakes.
        let waiting = session.journal.waiting_intents();
        let in_flight: Vec<OrderAttempt> = (opening.iter().copied().chain(waiting))
            .filter_map(|intent| Some(self.build_attempt(session, &session.terms(intent)?, Millis::MAX)))
            .collect();
        let answered = self.recently_answered_orders(session);
        let refused = self.refused_attempts(session, now);
        let known = ResolverContext {
            claimed: &self.claimed,
            in_flight: &in_flight,
            answered: &answered,
            refused: &refused,
            reserved: &session.session().reserved_intents().collect(),
            has_unknown_payment: has_unbooked_money(session, now + uncertainty),
            is_ledger_stable: has_stood,
            wallet,
            uncertainty,
        };
        // Settled trades also show the list's lag, because short trades may end before the list is read.
        let book = session.book();
        let is_young = |at: &Millis| listing.began - *at <= MAX_LIST_LAG;
        let accepted: Vec<_> = (book.rows().iter())
            .filter_map(|row| {
                // A manually settled trade does not count as late, because the venue no longer has it.
                let is_gone = book.is_settled_by_operator(row.approved.intent());
                let answered_at = row.answered_at.filter(|at| is_young(at) && !is_gone)?;
                Some((book.venue_id(row)?, answered_at, row.state == IntentState::Settled))
            })
            .collect();
        let accepted = accepted.iter().map(|(id, at, is_settled)| AcceptedTrade {
            id: id.as_str(),
            accepted_at: *at,
            is_settled: *is_settled,
        });
        self.resolver.lag.record_listing(listing, accepted);
        self.resolver.take_listing(listing, &known, now)
    }

    fn recently_answered_orders(&self, session: &RecordedSession) -> Vec<OrderAttempt> {
        let Some(since) = self.resolver.earliest_relevant_time() else { return Vec::new() };
        let book = session.book();
        let rows = book.rows().iter().filter(|row| book.venue_id(row).is_some());
        let answers = rows.filter_map(|row| Some((row, row.answered_at.filter(|at| *at >= since)?)));
        answers.map(|(row, at)| self.build_attempt(session, &row.approved, at)).collect()
    }

    pub(crate) fn second_trade_owner(
        &self,
        report: &TradeReport,
        session: &RecordedSession,
        uncertainty: Millis,
    ) -> Option<IntentId> {
        let book = session.book();
        // The time is compared first, because this comparison is cheap.
        let at = reported_request_time(report);
        let is_near = |row: &&IntentRow| {
            let terms = &row.approved;
            let slack = uncertainty + terms.expiry().close_type.duration() + Millis::MINUTE * 2;
            let has_ended = |at| row.answered_at.is_some_and(|answered_at| answered_at + slack < at);
            at.is_none_or(|at| terms.decision_time() - slack <= at && !has_ended(at))
        };
        let rows = book.rows().iter().rev().filter(is_near).filter(|row| book.venue_id(row).is_some());
        let attempts =
            rows.filter_map(|row| Some(self.build_attempt(session, &row.approved, row.answered_at?)));
        attempts.filter(|one| may_belong_to(one, report, uncertainty)).map(|one| one.intent).next()
    }

    pub(crate) fn assign(&mut self, intent: IntentId, venue_id: &str) -> Result<(), String> {
        self.resolver.assign(intent, venue_id, &self.claimed).map_err(|why| why.describe(intent))
    }
}

/// Returns whether the wallet may contain money from duplicate or closed trades that is not booked yet.
fn has_unbooked_money(session: &RecordedSession, now: Millis) -> bool {
    let may_be_over = |row: &IntentRow| {
        let earliest = earliest_close(row.approved.decision_time(), row.approved.expiry());
        row.state == IntentState::Open && row.close_time.unwrap_or(earliest) <= now
    };
    session.book().rows().iter().any(may_be_over) || !session.session().second_trades().is_empty()
}
