//! Intents whose answer was lost, and what is known of all trades that are somebody's.

use super::recorded_session::{OldIntent, RecordedSession};
use crate::RuntimeSettings;
use crate::past::{HALTED, Past};
use crate::resolver::{
    Accepted, Claimed, Decided, Decision, Doubt, Known, LONGEST_LIST_LAG, LagMeter, Resolution, Resolver,
    UNCERTAINTY, Undecidable, WalletView, earliest_close, latest_close, may_have_made, request_time_of,
};
use candlewick_broker::{Account, TradeListing, TradeReport};
use candlewick_engine::{IntentId, IntentRow, IntentState, OrderTerms};
use candlewick_sdk::{Millis, Money};
use std::collections::{BTreeMap, BTreeSet};

/// Listed trades that are remembered for what cannot be of them.
const MAX_ODD_ROWS: usize = 10_000;

/// Looks for the trades of intents in doubt, until they are trades or are none.
pub(crate) struct Doubts {
    resolver: Resolver,
    /// Identifiers of all trades that are an intent's, or are known as a second trade of one.
    claimed: Claimed,
    /// When each intent's request left, or was about to.
    sent: BTreeMap<IntentId, Millis>,
    /// When doubts of earlier runs began.
    began: BTreeMap<IntentId, Millis>,
    /// A listing that waits for the balances after it.
    listing: Option<TradeListing>,
    /// What was said of our trades that cannot be, in this run or before: their names, or the whole of it.
    oddities: BTreeSet<String>,
    /// Listed trades of which something was said that cannot be.
    odd_rows: BTreeSet<String>,
    /// How often the list is looked through for trades that no intent explains.
    list_every: Option<Millis>,
}

/// What a person found out about an intent in doubt.
pub(crate) enum PersonsVerdict {
    /// It is this trade, by the venue's own report.
    Adopt(Box<TradeReport>),
    /// It is none.
    NotOpened,
}

impl Doubts {
    pub(crate) fn new(account: Account, settings: &RuntimeSettings, past: &mut Past, now: Millis) -> Self {
        let lag = LagMeter::new(Millis::new(i64::from(settings.list_lag_ms)));
        let mut resolver = Resolver::new(account, past.began.unwrap_or(now), lag);
        resolver.recall_unexplained(std::mem::take(&mut past.unexplained));
        let seconds = i64::from(settings.list_every_s);
        let mut claimed = std::mem::take(&mut past.old.claimed);
        for id in std::mem::take(&mut past.second_trades) {
            claimed.insert(id);
        }
        Self {
            resolver,
            claimed,
            sent: std::mem::take(&mut past.sent),
            began: std::mem::take(&mut past.doubted),
            listing: None,
            oddities: std::mem::take(&mut past.alarms),
            odd_rows: BTreeSet::new(),
            list_every: (seconds > 0).then(|| Millis::from_seconds(seconds)),
        }
    }

    /// A trade is an intent's, or is known as a second trade of one: its money is that intent's, and no other's.
    pub(crate) fn claim(&mut self, venue_id: &str) {
        self.claimed.insert(venue_id.to_owned());
    }

    /// Whether a trade is an intent's, or is known as a second trade of one.
    pub(crate) fn is_claimed(&self, venue_id: &str) -> bool {
        self.claimed.contains(venue_id)
    }

    /// Whether a trade was told as one that no intent explains, in this run or before.
    pub(crate) fn is_reported(&self, venue_id: &str) -> bool {
        self.resolver.is_reported(venue_id)
    }

    /// Nothing more can come of an intent, but that the venue names its trade again.
    pub(crate) fn forget(&mut self, old: &OldIntent) {
        self.sent.remove(&old.intent);
        self.began.remove(&old.intent);
        if let Some(id) = old.venue_id {
            self.claimed.make_old(id.as_str(), old.ended);
        }
    }

    /// Of how many trades the names are kept, and of how many intents when their requests left.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        (self.claimed.names(), self.sent.len())
    }

    /// Whether an intent that is over lies beside a request whose trade is looked for, or may yet be found: on its symbol, and no more than
    /// `slack` away from when that trade was made.
    pub(crate) fn is_beside(&self, session: &RecordedSession, row: &IntentRow, slack: Millis) -> bool {
        let terms = &row.approved;
        let symbols = [session.symbol_of(terms), session.traded_symbol(terms)];
        let ended = row.settled_at.or(row.answered_at).unwrap_or(Millis::MAX);
        self.resolver.has_beside(symbols, (terms.decision_time() - slack, ended + slack))
    }

    /// An intent's request leaves now.
    pub(crate) fn note_sent(&mut self, intent: IntentId, now: Millis) {
        self.sent.insert(intent, now);
    }

    /// An intent is in doubt since `now`.
    pub(crate) fn begin(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.doubt_of(session, terms, now);
        self.resolver.begin(doubt, now);
    }

    /// An intent was in doubt when the last run ended.
    pub(crate) fn recall(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.doubt_of(session, terms, self.began_at(terms, now));
        self.resolver.begin(doubt, now);
    }

    /// An intent was taken as not opened in an earlier run; its trade may yet be found.
    pub(crate) fn recall_not_opened(&mut self, session: &RecordedSession, terms: &OrderTerms, now: Millis) {
        let doubt = self.doubt_of(session, terms, self.began_at(terms, now));
        self.resolver.recall_not_opened(doubt, now);
    }

    fn began_at(&self, terms: &OrderTerms, now: Millis) -> Millis {
        self.began.get(&terms.intent()).copied().unwrap_or(now)
    }

    /// An intent that counted as refused is in doubt since `now`: the venue lists a trade that may be its own.
    pub(crate) fn reinstate(&mut self, session: &RecordedSession, refused: &IntentRow, now: Millis) {
        self.resolver.begin(self.refused_doubt(session, refused), now);
    }

    /// The requests of the last day that the venue rejected or that were not sent.
    pub(crate) fn refused(&self, session: &RecordedSession, now: Millis) -> Vec<Doubt> {
        let rows = session.book().rows().iter();
        let is_young = |row: &&IntentRow| now - row.approved.decision_time() < Millis::DAY;
        // A request that this run kept back is nowhere; of an earlier run's nobody knows whether it left.
        let has_left = |row: &&IntentRow| {
            row.state != IntentState::NotSent || self.sent.contains_key(&row.approved.intent())
        };
        let refused = rows.filter(|row| row.is_refused()).filter(is_young).filter(has_left);
        refused.map(|row| self.refused_doubt(session, row)).collect()
    }

    fn refused_doubt(&self, session: &RecordedSession, row: &IntentRow) -> Doubt {
        let answered = row.answered_at.unwrap_or_else(|| row.approved.decision_time());
        self.doubt_of(session, &row.approved, answered)
    }

    /// When the request of an intent left, or was about to.
    pub(crate) fn sent_at(&self, terms: &OrderTerms) -> Millis {
        self.sent.get(&terms.intent()).copied().unwrap_or(terms.decision_time())
    }

    /// What is known of a request that ended, as far as is known, at `ended`.
    fn doubt_of(&self, session: &RecordedSession, terms: &OrderTerms, ended: Millis) -> Doubt {
        Doubt {
            intent: terms.intent(),
            order: session.order_of(terms),
            stake: terms.stake(),
            sent: self.sent_at(terms),
            ended,
            expected_close_latest: latest_close(ended, terms.expiry().close_type),
        }
    }

    /// When the next look at the list is useful; none when nothing is in doubt.
    pub(crate) fn next_look(&self) -> Option<Millis> {
        self.resolver.next_look()
    }

    /// Whether a doubt may end by itself.
    pub(crate) fn is_searching(&self) -> bool {
        self.resolver.is_searching()
    }

    /// When the list is to be looked through next, doubts or not.
    pub(crate) fn next_routine_look(&self, now: Millis) -> Option<Millis> {
        self.list_every.map(|every| now + every)
    }

    /// How long a trade may be missing from the list.
    pub(crate) fn list_lag(&self) -> Millis {
        self.resolver.list_lag()
    }

    /// The list is asked for.
    pub(crate) fn begin_look(&mut self, now: Millis) {
        self.resolver.begin_look(now);
    }

    /// Whether the run was not halted yet by something in these words that cannot be, or, where it is halted for another reason,
    /// whether that was not said yet. What an earlier run was halted by, a person has seen and resumed from.
    pub(crate) fn is_new_oddity(&mut self, text: &str, is_halted: bool) -> bool {
        let halted_by = format!("{HALTED}{text}");
        if is_halted {
            !self.oddities.contains(&halted_by) && self.oddities.insert(text.to_owned())
        } else {
            self.oddities.insert(halted_by)
        }
    }

    /// The same of a trade's times, of which one is said, whatever the venue makes of it next.
    pub(crate) fn has_new_odd_time(&mut self, venue_id: &str, text: &str) -> bool {
        !self.oddities.contains(text) && self.oddities.insert(venue_id.to_owned())
    }

    /// The same of a listed trade; of endless ones nothing more is said.
    pub(crate) fn is_new_odd_row(&mut self, id: &str) -> bool {
        self.odd_rows.len() < MAX_ODD_ROWS && self.odd_rows.insert(id.to_owned())
    }

    /// The list has come; the balances after it are a second source.
    pub(crate) fn keep_listing(&mut self, listing: TradeListing) {
        self.listing = Some(listing);
    }

    pub(crate) fn take_listing(&mut self) -> Option<TradeListing> {
        self.listing.take()
    }

    /// Resolves the doubts by a listing, and by what the wallet held after it.
    pub(crate) fn resolve(
        &mut self,
        listing: &TradeListing,
        wallet: Option<Money>,
        session: &RecordedSession,
        (opening, uncertainty, has_stood): (&[IntentId], Option<Millis>, bool),
        now: Millis,
    ) -> Vec<Resolution> {
        let wallet =
            wallet.map(|balance| WalletView { balance, explained_without_doubts: session.ledger().free() });
        // What waits for the journal has its stake taken off the ledger like what is under way.
        let waiting = session.journal.waiting_intents();
        let in_flight: Vec<Doubt> = (opening.iter().copied().chain(waiting))
            .filter_map(|intent| Some(self.doubt_of(session, &session.terms(intent)?, Millis::MAX)))
            .collect();
        let answered = self.answered_beside(session);
        let refused = self.refused(session, now);
        let uncertainty = uncertainty.map_or(UNCERTAINTY, |known| known.max(UNCERTAINTY));
        let known = Known {
            claimed: &self.claimed,
            in_flight: &in_flight,
            answered: &answered,
            refused: &refused,
            reserved: &session.session().reserved().collect(),
            has_unknown_pay: has_unknown_pay(session, now + uncertainty),
            has_stood,
            wallet,
            uncertainty,
        };
        // A trade that is over and not listed yet shows a lag as well: the shortest are over before the list is read.
        let book = session.book();
        let is_young = |at: &Millis| listing.began - *at <= LONGEST_LIST_LAG;
        let accepted: Vec<_> = (book.rows().iter())
            .filter_map(|row| {
                // One that a person settled is not late: the venue has it no more.
                let is_gone = book.is_settled_by_person(row.approved.intent());
                let answered_at = row.answered_at.filter(|at| is_young(at) && !is_gone)?;
                Some((book.venue_id(row)?, answered_at, row.state == IntentState::Settled))
            })
            .collect();
        let accepted = accepted.iter().map(|(id, at, is_settled)| Accepted {
            id: id.as_str(),
            at: *at,
            is_settled: *is_settled,
        });
        self.resolver.measure_lag(listing, accepted);
        self.resolver.take_listing(listing, &known, now)
    }

    /// Requests that were answered while something is looked for, or not long before.
    fn answered_beside(&self, session: &RecordedSession) -> Vec<Doubt> {
        let Some(since) = self.resolver.looks_since() else { return Vec::new() };
        let book = session.book();
        let rows = book.rows().iter().filter(|row| book.venue_id(row).is_some());
        let answers = rows.filter_map(|row| Some((row, row.answered_at.filter(|at| *at >= since)?)));
        answers.map(|(row, at)| self.doubt_of(session, &row.approved, at)).collect()
    }

    /// Whether the venue may have made this trade of the request of an intent that is looked for.
    pub(crate) fn may_have_taken(
        &self,
        intent: IntentId,
        report: &TradeReport,
        uncertainty: Option<Millis>,
    ) -> bool {
        let uncertainty = uncertainty.map_or(UNCERTAINTY, |known| known.max(UNCERTAINTY));
        self.resolver.may_have_taken(intent, report, uncertainty)
    }

    /// Returns the intent in doubt, or among these refused ones, whose request may have made this trade of another account.
    pub(crate) fn asked_for_elsewhere(
        &self,
        report: &TradeReport,
        (refused, uncertainty): (&[Doubt], Option<Millis>),
    ) -> Option<IntentId> {
        let uncertainty = uncertainty.map_or(UNCERTAINTY, |known| known.max(UNCERTAINTY));
        self.resolver.asked_for_elsewhere(report, (refused, uncertainty))
    }

    /// Whose answered request may have made this trade as well.
    pub(crate) fn second_of(
        &self,
        report: &TradeReport,
        session: &RecordedSession,
        uncertainty: Option<Millis>,
    ) -> Option<IntentId> {
        let uncertainty = uncertainty.map_or(UNCERTAINTY, |known| known.max(UNCERTAINTY));
        let book = session.book();
        // Far from it in time, no need to look closer.
        let at = request_time_of(report);
        let is_near = |row: &&IntentRow| {
            let terms = &row.approved;
            let slack = uncertainty + terms.expiry().close_type.duration() + Millis::MINUTE * 2;
            let has_ended = |at| row.answered_at.is_some_and(|answered_at| answered_at + slack < at);
            at.is_none_or(|at| terms.decision_time() - slack <= at && !has_ended(at))
        };
        let rows = book.rows().iter().rev().filter(is_near).filter(|row| book.venue_id(row).is_some());
        let doubts = rows.filter_map(|row| Some(self.doubt_of(session, &row.approved, row.answered_at?)));
        doubts.filter(|doubt| may_have_made(doubt, report, uncertainty)).map(|doubt| doubt.intent).next()
    }

    /// A person ends a doubt.
    ///
    /// # Errors
    /// Why it cannot be ended so.
    pub(crate) fn decide(&mut self, intent: IntentId, verdict: &PersonsVerdict) -> Result<Decided, String> {
        let decision = match verdict {
            PersonsVerdict::Adopt(report) => Decision::Adopt { venue_id: report.id.clone() },
            PersonsVerdict::NotOpened => Decision::NotOpened,
        };
        self.resolver.resolve_by_person(intent, decision, &self.claimed).map_err(|undecidable| {
            match undecidable {
                Undecidable::NotInDoubt => format!("trade #{intent} is not in doubt"),
                Undecidable::TradeTaken => format!(
                    "that trade is another order's, or counts as a second trade of one; if the venue made no other of \
                     trade #{intent}, `--not-opened` ends the doubt"
                ),
            }
        })
    }
}

/// Whether the venue may have paid by `now` for a trade that is open as far as is known. By the rules that is its stake, or what a win
/// earns beside it; what a venue pays that errs is known when it says how the trade ended.
fn has_unknown_pay(session: &RecordedSession, now: Millis) -> bool {
    let may_be_over = |row: &IntentRow| {
        let earliest = earliest_close(row.approved.decision_time(), row.approved.expiry());
        row.state == IntentState::Open && row.close_time.unwrap_or(earliest) <= now
    };
    session.book().rows().iter().any(may_be_over) || !session.session().second_trades().is_empty()
}
