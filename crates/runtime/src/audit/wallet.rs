//! Compares every wallet reading with the ledger. A difference counts only after a second reading confirms it.
//! The wallet shows changes late, so recent ledger changes and money in flight may explain a difference.
//! If the confirmed amount is too large for our own trades, it is booked as a deposit or withdrawal. Otherwise, the
//! difference stays open. The limits then count a shortage as a loss, but it is not booked. A surplus is booked after
//! a long period without our own trades.

mod suspect;
#[cfg(test)]
mod tests;

use crate::resolver::{MAX_SUBSET_SUMS, subset_sums};
use candlewick_broker::WalletIdentity;
use candlewick_sdk::{Millis, Money};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use suspect::{Explanations, Suspicion};

/// Minimum time between two wallet readings that together confirm a difference.
pub(crate) const CONFIRMATION_INTERVAL: Millis = Millis::from_seconds(10);
/// Maximum delay until the wallet shows a ledger change. A difference that lasts longer has another cause.
const MAX_LAG: Millis = Millis::from_seconds(900);
const MAX_CHANGES: usize = 256;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WalletAudit {
    ledger: Option<(Money, Millis)>,
    changes: VecDeque<(Money, Millis)>,
    pub(crate) state: WalletState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<KnownWallet>>,
    #[serde(skip)]
    pub(crate) confirmed: Money,
    #[serde(skip)]
    suspect: Option<Suspicion>,
    #[serde(skip)]
    agreed: Option<Agreement>,
    /// Time of the last reading that equalled the ledger without any allowance for lag or money in flight.
    #[serde(skip)]
    exact: Option<Millis>,
    /// Time up to which all ledger changes are included in the last matching reading.
    #[serde(skip)]
    pub(crate) shown_until: Option<Millis>,
    #[serde(skip)]
    caused_at: Option<Millis>,
    /// Free balance at the last reading, and whether it was unchanged with all money in flight known.
    #[serde(skip)]
    last_free: (Money, bool),
    #[serde(skip)]
    longest_lag: Millis,
    #[serde(default)]
    pub(crate) bonus: BonusWallets,
}

#[derive(Clone, Copy, Debug)]
struct Agreement {
    sent: Millis,
    shown_until: Millis,
    /// Maximum amount by which the wallet may lag behind, due to recent changes and money in flight.
    unseen: Money,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletState {
    #[default]
    Sound,
    Missing,
    BelowZero,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WalletReading<'a> {
    pub(crate) wallet: Money,
    pub(crate) bonus: Option<Money>,
    pub(crate) free: Money,
    pub(crate) in_flight: &'a InFlightMoney,
    pub(crate) sent: Millis,
    pub(crate) lag: Millis,
    pub(crate) grace_period: Millis,
    pub(crate) is_last: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlightMoney {
    pub(crate) amounts: Vec<Vec<Money>>,
    /// Upper bound of all returns that cannot be computed, such as the return of an order in doubt.
    pub(crate) max_unknown_returns: Money,
    /// Whether a trade has ended without a booked result. The venue may then have returned any amount.
    pub(crate) is_settling: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadingOutcome {
    Agrees,
    Differs { difference: Money },
    Confirmed { step: Money, may_be_of_trades: bool },
    Settled { surplus: Money },
}

impl WalletAudit {
    pub(crate) fn set_state(&mut self, state: WalletState) -> bool {
        std::mem::replace(&mut self.state, state) != state && state != WalletState::Sound
    }

    pub(crate) const fn has_suspected_difference(&self) -> bool {
        self.suspect.is_some()
    }

    pub(crate) fn check(&mut self, reading: &WalletReading<'_>) -> ReadingOutcome {
        let WalletReading { wallet, free, sent, is_last, .. } = *reading;
        self.record_balance(free, sent);
        self.last_free = (free, free == self.last_free.0 && reading.in_flight.is_known());
        let raw = wallet - free - self.bonus.paid;
        let recent = self.changes_since(sent - self.lag(reading.lag));
        let possible = Explanations::new(raw, recent.map(|change| -change), reading.in_flight);
        // If the wallet equals the ledger exactly, no other explanation is considered.
        let difference = if raw == Money::ZERO { Money::ZERO } else { possible.nearest(self.confirmed) };
        // While the money in flight is unknown, a matching reading does not clear a suspected difference.
        let is_open = |suspect: &Suspicion| possible.contains(suspect.amount(self.confirmed));
        let is_uncertain = raw != self.confirmed && reading.in_flight.max_unknown_returns != Money::ZERO;
        if let Some(suspect) = self.suspect.as_ref().filter(|suspect| is_uncertain && is_open(suspect))
            && difference == self.confirmed
        {
            return ReadingOutcome::Differs { difference: self.reported_difference(suspect) };
        }
        if difference == self.confirmed {
            let is_settled = self.is_settled_surplus(raw, reading);
            self.note_agreement(raw == self.confirmed, reading);
            self.bonus.holds = reading.bonus.or(self.bonus.holds);
            let surplus = self.confirmed;
            return if is_settled { ReadingOutcome::Settled { surplus } } else { ReadingOutcome::Agrees };
        }
        if let Some(is_exact) = self.explain_by_bonus(reading.bonus, &possible) {
            self.note_agreement(is_exact, reading);
            return ReadingOutcome::Agrees;
        }
        let suspect = self.suspect_difference((difference, &possible), reading);
        if !is_last && suspect.last_reading_at - suspect.first_reading_at < CONFIRMATION_INTERVAL {
            let difference = self.reported_difference(&suspect);
            self.suspect = Some(suspect);
            return ReadingOutcome::Differs { difference };
        }
        let difference = suspect.amount(self.confirmed);
        let step = difference - self.confirmed;
        let is_repayment = is_between(difference, Money::ZERO, self.confirmed);
        let may_be_of_trades = is_repayment || !suspect.exceeds_own_trades;
        if difference == Money::ZERO {
            let caused_at = self.caused_at.take().filter(|_| suspect.is_from_wallet);
            self.measure_lag(self.agreed.map(|agreement| agreement.sent), caused_at);
        } else if may_be_of_trades && !is_repayment {
            self.caused_at = suspect.caused_at;
        }
        self.suspect = None;
        self.note_reading(raw == difference, reading);
        ReadingOutcome::Confirmed { step, may_be_of_trades }
    }

    fn reported_difference(&self, suspect: &Suspicion) -> Money {
        let counts_at_once = suspect.exceeds_own_trades || self.agreed.is_none();
        if counts_at_once { suspect.upper_bound } else { self.confirmed }
    }

    pub(crate) fn confirm(&mut self, step: Money) {
        self.confirmed += step;
        if let Some(agreement) = self.agreed
            && self.confirmed == Money::ZERO
        {
            self.shown_until = Some(agreement.shown_until);
        }
    }

    pub(crate) fn book(&mut self, amount: Money) {
        if let Some((free, _)) = &mut self.ledger {
            *free += amount;
        }
    }

    pub(crate) fn accept_difference(&mut self) {
        self.book(self.confirmed);
        (self.confirmed, self.suspect, self.caused_at) = (Money::ZERO, None, None);
    }

    #[inline]
    pub(crate) fn record_balance(&mut self, free: Money, now: Millis) {
        let change = free - self.ledger.map_or(free, |(known, _)| known);
        if change != Money::ZERO {
            if self.changes.len() == MAX_CHANGES {
                self.changes.pop_front();
            }
            self.changes.push_back((change, now));
        }
        if self.ledger.is_none() || change != Money::ZERO {
            self.ledger = Some((free, now));
        }
    }

    /// Moves the latest earlier ledger change by the amount `change` to the time `now`.
    pub(crate) fn postpone_change(&mut self, change: Money, now: Millis) {
        let is_earlier = |(known, at): &(Money, Millis)| *known == change && *at < now;
        if let Some(place) = self.changes.iter().rposition(is_earlier) {
            self.changes.remove(place);
            self.changes.push_back((change, now));
        }
    }

    /// Records the free balance after an event. `released` stakes, which never left the wallet, are a separate change.
    #[inline]
    pub(crate) fn record_event_balance(&mut self, free: Money, released: Money, now: Millis) {
        if released != Money::ZERO {
            self.record_balance(free - released, now);
        }
        self.record_balance(free, now);
    }

    pub(crate) fn is_ledger_stable(&self, now: Millis, patience: Millis) -> bool {
        self.ledger.is_some_and(|(_, changed_at)| now - changed_at >= patience)
    }

    pub(crate) fn may_be_from_own_trades(
        &self,
        surplus: Money,
        under_way: Vec<Money>,
        now: Millis,
        patience: Millis,
    ) -> bool {
        let recent = self.changes_since(now - patience);
        let all: Vec<Money> = recent.map(|change| -change).chain(under_way).collect();
        subset_sums(&all).is_none_or(|sums| sums.binary_search(&surplus).is_ok())
    }

    /// Returns whether recent ledger changes, such as a stake and its return, may cancel each other out.
    pub(crate) fn may_hide_changes(&self, reading: &WalletReading<'_>) -> bool {
        let mut sums: Vec<Money> = Vec::new();
        for change in self.changes_since(reading.sent - self.lag(reading.lag)) {
            let more: Vec<Money> = sums.iter().map(|sum| *sum + change).chain([change]).collect();
            sums.extend(more);
            sums.sort_unstable();
            sums.dedup();
            if sums.len() > MAX_SUBSET_SUMS || sums.binary_search(&Money::ZERO).is_ok() {
                return true;
            }
        }
        false
    }

    fn changes_since(&self, since: Millis) -> impl Iterator<Item = Money> {
        self.changes.iter().filter(move |(_, at)| *at > since).map(|(change, _)| *change)
    }

    fn unseen_change(&self, reading: &WalletReading<'_>) -> Money {
        let lag = self.lag(reading.lag);
        let since_exact = self.change_since(self.exact.map_or(reading.sent - MAX_LAG, |exact| exact - lag));
        let since_agreement = self.agreed.map(|last| last.unseen + self.change_since(last.sent));
        let moved = since_agreement.map_or(since_exact, |moved| moved.min(since_exact));
        // A confirmed difference may be caused by changes that the wallet does not show yet.
        let is_pending = self.confirmed != Money::ZERO;
        let pending =
            if is_pending { self.change_since(reading.sent - reading.grace_period) } else { Money::ZERO };
        moved.max(pending) + reading.in_flight.largest_amount()
    }

    fn change_since(&self, since: Millis) -> Money {
        self.changes_since(since).map(magnitude).sum()
    }

    fn is_settled_surplus(&self, raw: Money, reading: &WalletReading<'_>) -> bool {
        let now = reading.sent;
        let has_stood = self.ledger.is_some_and(|(_, at)| now - at >= reading.grace_period);
        let is_read_twice = self.exact.is_some_and(|at| now - at >= CONFIRMATION_INTERVAL);
        self.confirmed > Money::ZERO
            && raw == self.confirmed
            && *reading.in_flight == InFlightMoney::default()
            && has_stood
            && is_read_twice
            && !self.may_be_from_own_trades(raw, Vec::new(), now, MAX_LAG)
    }

    fn note_agreement(&mut self, is_exact: bool, reading: &WalletReading<'_>) {
        let suspect = self.suspect.take();
        // If the wallet changed and the ledger did not, the end of the difference shows that it was only lag.
        if let Some(Suspicion { last_reading_at, caused_at, .. }) =
            suspect.filter(|_| is_exact && self.last_free.1)
        {
            self.measure_lag(Some(last_reading_at), caused_at);
        }
        self.note_reading(is_exact, reading);
        if self.confirmed == Money::ZERO {
            self.shown_until = self.agreed.map(|agreement| agreement.shown_until);
        }
    }

    fn note_reading(&mut self, is_exact: bool, reading: &WalletReading<'_>) {
        let WalletReading { sent, in_flight: under_way, .. } = *reading;
        let shown_until = sent - self.lag(reading.lag);
        let young = self.change_since(shown_until);
        let unseen =
            if is_exact { young } else { young + under_way.largest_amount() + under_way.max_unknown_returns };
        self.agreed = Some(Agreement { sent, shown_until, unseen });
        if is_exact {
            self.exact = Some(sent);
        }
    }
}

impl InFlightMoney {
    fn is_known(&self) -> bool {
        self.max_unknown_returns == Money::ZERO && !self.is_settling
    }

    fn largest_amount(&self) -> Money {
        self.amounts.iter().filter_map(|amounts| amounts.iter().copied().max()).sum()
    }
}

pub(crate) fn magnitude(amount: Money) -> Money {
    amount.max(-amount)
}

fn is_between(amount: Money, one: Money, other: Money) -> bool {
    (one.min(other)..=one.max(other)).contains(&amount)
}

impl WalletAudit {
    pub(crate) fn lag(&self, setting: Millis) -> Millis {
        setting.max(self.longest_lag * 2).min(MAX_LAG)
    }

    /// Resets the measured lag after a result was corrected, because the wrong result may have looked like lag.
    pub(crate) fn forget_lag(&mut self) {
        (self.longest_lag, self.caused_at) = (Millis::ZERO, None);
        if let Some(suspect) = &mut self.suspect {
            suspect.caused_at = None;
        }
    }

    fn measure_lag(&mut self, until: Option<Millis>, caused_at: Option<Millis>) {
        if let (Some(until), Some(caused_at)) = (until, caused_at)
            && until - caused_at <= MAX_LAG
        {
            self.longest_lag = self.longest_lag.max(until - caused_at);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BonusWallets {
    pub(super) paid: Money,
    /// Balance of the bonus wallets at the last reading, `None` if the venue lists no bonus wallets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) holds: Option<Money>,
}

impl WalletAudit {
    /// Explains the difference by a changed bonus balance and returns whether the match is exact; `None` if impossible.
    fn explain_by_bonus(&mut self, bonus: Option<Money>, possible: &Explanations) -> Option<bool> {
        let paid = self.bonus.holds? - bonus?;
        let is_explained = paid != Money::ZERO && possible.contains(self.confirmed + paid);
        is_explained.then(|| {
            self.bonus = BonusWallets { paid: self.bonus.paid + paid, holds: bonus };
            possible.is_exact(self.confirmed + paid)
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownWallet {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameCheck {
    Known,
    New(Vec<KnownWallet>),
    Other { known: String, found: String },
}

impl WalletAudit {
    pub(crate) fn check_names(&mut self, wallets: &[WalletIdentity]) -> NameCheck {
        let wallets: Vec<KnownWallet> = wallets.iter().map(KnownWallet::from).collect();
        match &self.names {
            _ if wallets.is_empty() => NameCheck::Known,
            None => {
                self.names = Some(wallets.clone());
                NameCheck::New(wallets)
            }
            Some(known) if *known == wallets => NameCheck::Known,
            Some(known) => NameCheck::Other { known: describe(known), found: describe(&wallets) },
        }
    }
}

impl From<&WalletIdentity> for KnownWallet {
    fn from(name: &WalletIdentity) -> Self {
        Self { id: name.id.clone(), user: name.user.clone(), currency: name.currency.clone() }
    }
}

impl fmt::Display for KnownWallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if let Some(user) = &self.user {
            write!(f, " of user {user}")?;
        }
        if let Some(currency) = &self.currency {
            write!(f, " in {currency}")?;
        }
        Ok(())
    }
}

fn describe(wallets: &[KnownWallet]) -> String {
    let wallets: Vec<String> = wallets.iter().map(ToString::to_string).collect();
    wallets.join(" and ")
}
