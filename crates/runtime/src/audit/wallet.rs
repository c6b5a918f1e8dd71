//! The wallet against the ledger, at every reading.
//!
//! A reading must be the ledger's free balance, less some of the changes that are younger than the wallet's lag, plus some
//! of what trades under way may have returned already. Whatever it is beyond that is a difference.
//!
//! A difference is confirmed by a second reading. If our trades moved at least as much money since the last reading that
//! agreed, beside what that one left open, they may have caused it: it is kept, and a shortage counts as lost. If they moved
//! less, money came or went from outside: it is booked as a deposit or a withdrawal. A surplus that was kept is booked once
//! nothing of ours has happened for long; a shortage never is.

mod bonus;
mod lag;
mod names;
mod possible;
mod suspect;

pub(crate) use bonus::BonusWallets;
use names::KnownWallet;
pub(crate) use names::NameCheck;

use crate::resolver::sums_of;
use candlewick_sdk::{Millis, Money};
use possible::Possible;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use suspect::Suspect;

/// Least time between the two readings that confirm a difference.
pub(crate) const APART: Millis = Millis::from_seconds(10);
/// Longest lag that is measured. A later payment is late, not lag.
const LONGEST_LAG: Millis = Millis::from_seconds(900);
/// Changes that are remembered.
const MAX_CHANGES: usize = 256;

/// Follows the difference between wallet and ledger.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WalletAudit {
    /// Last free balance of the ledger, and when it last changed.
    ledger: Option<(Money, Millis)>,
    /// Recent changes of the free balance.
    changes: VecDeque<(Money, Millis)>,
    state: WalletState,
    /// The account's wallets, `None` before the first reading that names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<KnownWallet>>,
    /// Difference that two readings have confirmed.
    #[serde(skip)]
    confirmed: Money,
    #[serde(skip)]
    suspect: Option<Suspect>,
    /// Last reading that agreed with the confirmed difference.
    #[serde(skip)]
    agreed: Option<Agreement>,
    /// Last reading that agreed with it to the cent, by nothing that is under way or late.
    #[serde(skip)]
    exact: Option<Millis>,
    /// Moment of the newest change that the last reading which agreed with the ledger must have shown.
    #[serde(skip)]
    explained_until: Option<Millis>,
    /// Newest change that may have caused the confirmed difference.
    #[serde(skip)]
    caused_at: Option<Millis>,
    /// The ledger's free balance at the last reading, and whether the wallet alone can have changed since the one before.
    #[serde(skip)]
    last_free: (Money, bool),
    /// Longest lag so far.
    #[serde(skip)]
    longest_lag: Millis,
    #[serde(default)]
    bonus: BonusWallets,
}

/// A reading that agreed.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    sent: Millis,
    /// Moment of the newest change that it must have shown.
    shown_until: Millis,
    /// The most that our trades may have caused unseen: what was too young to be shown, or under way.
    unseen: Money,
}

/// Whether the venue shows a balance that can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletState {
    /// A balance.
    #[default]
    Sound,
    /// No balance.
    Missing,
    /// A balance below zero.
    BelowZero,
}

/// What the venue showed, and what the ledger holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) wallet: Money,
    /// What bonus wallets hold.
    pub(crate) bonus: Option<Money>,
    pub(crate) free: Money,
    /// What trades under way may have put into the wallet.
    pub(crate) under_way: &'a UnderWayMoney,
    /// When the wallet was asked for.
    pub(crate) sent: Millis,
    /// Least lag that is allowed for.
    pub(crate) lag: Millis,
    /// How long nothing of ours must have happened before a surplus is booked.
    pub(crate) patience: Millis,
    /// Whether there will be no second reading.
    pub(crate) is_last: bool,
}

/// What trades under way may have put into the wallet, beyond the ledger's free balance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnderWayMoney {
    /// What each trade may have put into the wallet: one of these amounts, or nothing.
    pub(crate) amounts: Vec<Vec<Money>>,
    /// The most that trades whose returns are unknown may have put in, as while an intent is in doubt: any amount up to it.
    pub(crate) unknown: Money,
    /// Whether a trade is over whose result is not booked: the venue may have returned other money than was agreed.
    pub(crate) is_settling: bool,
}

/// Result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalletReading {
    /// It agrees with the ledger and the confirmed difference.
    Agrees,
    /// It differs. A second reading has to confirm that; what left from outside counts at once.
    Differs {
        /// Wallet minus explained balance, as far as it counts.
        difference: Money,
    },
    /// A second reading has confirmed that the difference changed.
    Confirmed {
        /// Its change.
        step: Money,
        /// Whether our trades moved enough money to have caused the change.
        may_be_of_trades: bool,
    },
    /// A surplus has lasted for so long that no trade of ours explains it.
    Settled {
        /// The surplus.
        surplus: Money,
    },
}

impl WalletAudit {
    /// Returns what the venue showed last.
    pub(crate) const fn state(&self) -> WalletState {
        self.state
    }

    /// Records what the venue shows; returns whether that is another trouble than before.
    pub(crate) fn has_new_trouble(&mut self, state: WalletState) -> bool {
        std::mem::replace(&mut self.state, state) != state && state != WalletState::Sound
    }

    /// Starts from the difference that earlier runs have left.
    pub(crate) fn begin(&mut self, difference: Money) {
        self.confirmed = difference;
    }

    /// Returns the confirmed difference.
    pub(crate) const fn confirmed(&self) -> Money {
        self.confirmed
    }

    /// Returns whether a difference waits for its confirmation.
    pub(crate) const fn has_suspect(&self) -> bool {
        self.suspect.is_some()
    }

    /// Returns the moment of the newest change that the wallet must have shown when it last agreed with the ledger; `None` before
    /// the first reading that did.
    pub(crate) const fn explained_until(&self) -> Option<Millis> {
        self.explained_until
    }

    /// Compares a reading with the ledger.
    pub(crate) fn read(&mut self, reading: &Reading<'_>) -> WalletReading {
        let Reading { wallet, free, sent, is_last, .. } = *reading;
        self.watch(free, sent);
        self.last_free = (free, free == self.last_free.0 && reading.under_way.is_known());
        let raw = wallet - free - self.bonus.paid;
        let recent = self.changes_since(sent - self.lag(reading.lag));
        let possible = Possible::new(raw, recent.map(|change| -change), reading.under_way);
        // The ledger to the cent is the best explanation, whatever else is possible.
        let difference = if raw == Money::ZERO { Money::ZERO } else { possible.nearest(self.confirmed) };
        // While money is under way that nobody can reckon, a reading that agrees may as well be the suspected one again.
        let is_open = |suspect: &Suspect| possible.contains(suspect.amount(self.confirmed));
        let is_uncertain = raw != self.confirmed && reading.under_way.unknown != Money::ZERO;
        if let Some(suspect) = self.suspect.as_ref().filter(|suspect| is_uncertain && is_open(suspect))
            && difference == self.confirmed
        {
            return WalletReading::Differs { difference: self.counted(suspect) };
        }
        if difference == self.confirmed {
            let is_settled = self.is_settled_surplus(raw, reading);
            self.note_agreement(raw == self.confirmed, reading);
            self.bonus.holds = reading.bonus.or(self.bonus.holds);
            let surplus = self.confirmed;
            return if is_settled { WalletReading::Settled { surplus } } else { WalletReading::Agrees };
        }
        if let Some(is_exact) = self.explained_by_bonus(reading.bonus, &possible) {
            self.note_agreement(is_exact, reading);
            return WalletReading::Agrees;
        }
        let suspect = self.suspected((difference, &possible), reading);
        if !is_last && suspect.last - suspect.first < APART {
            let difference = self.counted(&suspect);
            self.suspect = Some(suspect);
            return WalletReading::Differs { difference };
        }
        let difference = suspect.amount(self.confirmed);
        let step = difference - self.confirmed;
        let is_repayment = is_between(difference, Money::ZERO, self.confirmed);
        let may_be_of_trades = is_repayment || !suspect.is_from_outside;
        if difference == Money::ZERO {
            let caused_at = self.caused_at.take().filter(|_| suspect.is_of_wallet);
            self.measure_lag(self.agreed.map(|agreement| agreement.sent), caused_at);
        } else if may_be_of_trades && !is_repayment {
            self.caused_at = suspect.caused_at;
        }
        self.suspect = None;
        self.note_reading(raw == difference, reading);
        WalletReading::Confirmed { step, may_be_of_trades }
    }

    /// The difference that counts before a second reading.
    fn counted(&self, suspect: &Suspect) -> Money {
        let counts_at_once = suspect.is_from_outside || self.agreed.is_none();
        if counts_at_once { suspect.certain } else { self.confirmed }
    }

    /// Keeps a confirmed change as difference.
    pub(crate) fn keep(&mut self, step: Money) {
        self.confirmed += step;
        if let Some(agreement) = self.agreed
            && self.confirmed == Money::ZERO
        {
            self.explained_until = Some(agreement.shown_until);
        }
    }

    /// A confirmed change is booked by the ledger next.
    pub(crate) fn book(&mut self, amount: Money) {
        if let Some((free, _)) = &mut self.ledger {
            *free += amount;
        }
    }

    /// The whole difference is booked by the ledger next.
    pub(crate) fn accept(&mut self) {
        self.book(self.confirmed);
        (self.confirmed, self.suspect, self.caused_at) = (Money::ZERO, None, None);
    }

    /// Records the ledger's free balance after an event. Each change counts, also one that another takes back: the wallet
    /// may show what was between.
    #[inline]
    pub(crate) fn watch(&mut self, free: Money, now: Millis) {
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

    /// Dates a change anew: the order that it reserved money for reached the venue late.
    pub(crate) fn postpone(&mut self, change: Money, now: Millis) {
        if let Some(place) = self.changes.iter().rposition(|(known, _)| *known == change) {
            self.changes.remove(place);
            self.changes.push_back((change, now));
        }
    }

    /// Records the free balance after an event that released stakes as well: the wallet held them before, so that this is a change of
    /// its own.
    #[inline]
    pub(crate) fn watch_event(&mut self, free: Money, released: Money, now: Millis) {
        if released != Money::ZERO {
            self.watch(free - released, now);
        }
        self.watch(free, now);
    }

    /// Returns whether the free balance has not changed for so long that a wallet which lags by `patience` shows it.
    pub(crate) fn has_stood(&self, now: Millis, patience: Millis) -> bool {
        self.ledger.is_some_and(|(_, changed_at)| now - changed_at >= patience)
    }

    /// Returns whether a surplus may be of our own trades: of changes since `patience`, and of what is under way.
    pub(crate) fn may_be_ours(
        &self,
        surplus: Money,
        under_way: Vec<Money>,
        now: Millis,
        patience: Millis,
    ) -> bool {
        let recent = self.changes_since(now - patience);
        let all: Vec<Money> = recent.map(|change| -change).chain(under_way).collect();
        sums_of(&all).is_none_or(|sums| sums.binary_search(&surplus).is_ok())
    }

    fn changes_since(&self, since: Millis) -> impl Iterator<Item = Money> {
        self.changes.iter().filter(move |(_, at)| *at > since).map(|(change, _)| *change)
    }

    /// Money that our trades moved, or may move, and that no agreeing reading has shown.
    fn moved_unseen(&self, reading: &Reading<'_>) -> Money {
        let lag = self.lag(reading.lag);
        let since_exact =
            self.moved_since(self.exact.map_or(reading.sent - LONGEST_LAG, |exact| exact - lag));
        let since_agreement =
            self.agreed.map(|agreement| agreement.unseen + self.moved_since(agreement.sent));
        let moved = since_agreement.map_or(since_exact, |moved| moved.min(since_exact));
        // A difference that is confirmed may be of changes that are not shown yet.
        let is_pending = self.confirmed != Money::ZERO;
        let pending =
            if is_pending { self.moved_since(reading.sent - reading.patience) } else { Money::ZERO };
        moved.max(pending) + reading.under_way.largest()
    }

    fn moved_since(&self, since: Millis) -> Money {
        self.changes_since(since).map(size).sum()
    }

    /// Whether a surplus has been read twice while nothing of ours was under way or changed, and is no lag.
    fn is_settled_surplus(&self, raw: Money, reading: &Reading<'_>) -> bool {
        let now = reading.sent;
        let has_stood = self.ledger.is_some_and(|(_, at)| now - at >= reading.patience);
        let is_read_twice = self.exact.is_some_and(|at| now - at >= APART);
        self.confirmed > Money::ZERO
            && raw == self.confirmed
            && *reading.under_way == UnderWayMoney::default()
            && has_stood
            && is_read_twice
            && !self.may_be_ours(raw, Vec::new(), now, LONGEST_LAG)
    }

    fn note_agreement(&mut self, is_exact: bool, reading: &Reading<'_>) {
        let suspect = self.suspect.take();
        // What was suspected for a while was lag if the wallet ended it, and not the ledger.
        if let Some(Suspect { last, caused_at, .. }) = suspect.filter(|_| is_exact && self.last_free.1) {
            self.measure_lag(Some(last), caused_at);
        }
        self.note_reading(is_exact, reading);
        if self.confirmed == Money::ZERO {
            self.explained_until = self.agreed.map(|agreement| agreement.shown_until);
        }
    }

    /// Remembers a reading that agrees with what is confirmed.
    fn note_reading(&mut self, is_exact: bool, reading: &Reading<'_>) {
        let Reading { sent, under_way, .. } = *reading;
        let shown_until = sent - self.lag(reading.lag);
        let young = self.moved_since(shown_until);
        let unseen = if is_exact { young } else { young + under_way.largest() + under_way.unknown };
        self.agreed = Some(Agreement { sent, shown_until, unseen });
        if is_exact {
            self.exact = Some(sent);
        }
    }
}

impl UnderWayMoney {
    /// Whether what trades may have put in is known.
    fn is_known(&self) -> bool {
        self.unknown == Money::ZERO && !self.is_settling
    }

    /// The most that the trades with known returns may have put in.
    fn largest(&self) -> Money {
        self.amounts.iter().filter_map(|amounts| amounts.iter().copied().max()).sum()
    }
}

fn size(amount: Money) -> Money {
    amount.max(-amount)
}

fn is_between(amount: Money, one: Money, other: Money) -> bool {
    (one.min(other)..=one.max(other)).contains(&amount)
}

#[cfg(test)]
mod tests;
