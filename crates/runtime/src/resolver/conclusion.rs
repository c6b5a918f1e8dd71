//! Conclusions from a listing for intents that may own the same trades.

use super::candidate_table::{CandidateTable, Group};
use super::case::{Case, Stage};
use super::refused::rivals;
use super::wallet::{Reserved, WalletView};
use super::{Doubt, Known, Why, earliest_close};
use candlewick_broker::{OpenOrder, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Expiry, Millis, Money};
use std::collections::BTreeSet;

/// Conclusion for a group. Indices refer to the [`CandidateTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    Wait,
    Adopt(Vec<(usize, usize)>),
    NotOpened(usize),
    Ask(Why),
    /// One trade too many: the row may belong to these intents, which count as refused.
    Reinstate(Vec<IntentId>, usize),
    /// Other settlements are missing; `is_late` escalates.
    WaitForEnds {
        is_late: bool,
    },
}

pub(crate) struct Evidence<'a> {
    pub(crate) cases: &'a [Case],
    pub(crate) table: &'a CandidateTable<'a>,
    pub(crate) listing: &'a TradeListing,
    pub(crate) known: &'a Known<'a>,
    pub(crate) list_lag: Millis,
    pub(crate) is_alone: bool,
    pub(crate) now: Millis,
}

impl Evidence<'_> {
    pub(crate) fn conclude(&self, group: &Group) -> Conclusion {
        match group.intents.first() {
            Some(intent) if group.rows.is_empty() => self.conclude_absent(*intent),
            _ => self.conclude_present(group),
        }
    }

    /// Concludes for a group with matching trades.
    ///
    /// They are adopted if their number equals that of the intents and two listings showed them.
    /// Too many escalate at once. Too few or unclear ones escalate once no more can be expected.
    fn conclude_present(&self, group: &Group) -> Conclusion {
        let is_steady = self.listing.is_complete && self.every(group, Case::is_seen_twice);
        if !is_steady || self.table.is_awaited(group) {
            let is_late = self.every(group, |case| case.is_late(self.list_lag, self.now));
            return ask_if(is_late, self.unsteady(&group.intents));
        }
        if let Some(conclusion) = self.conclude_contested(group) {
            return conclusion;
        }
        // Orders of one millisecond left in the order of their numbers.
        let order = |intent: usize| (self.cases[intent].doubt.sent, self.cases[intent].doubt.intent);
        if let Some(pairs) = self.table.pairs(group, order) {
            return Conclusion::Adopt(pairs);
        }
        let is_due = self.every(group, |case| case.deadline(self.list_lag) <= self.listing.began);
        let venue_ids = self.table.names(&group.rows);
        if !self.table.is_certain(group) {
            ask_if(is_due, Why::UnclearTrades { venue_ids })
        } else if group.rows.len() < group.intents.len() {
            ask_if(is_due, Why::TooFewTrades { venue_ids })
        } else {
            Conclusion::Ask(Why::TooManyTrades { venue_ids })
        }
    }

    /// Concludes if a trade of the group may belong to a refused intent.
    ///
    /// With one trade too many, that intent is in doubt again. Otherwise the operator decides.
    fn conclude_contested(&self, group: &Group) -> Option<Conclusion> {
        let refused = (self.known.refused, self.known.uncertainty);
        let (intents, row) = rivals(self.table, group.rows.iter().copied(), refused)?;
        if group.rows.len() > group.intents.len() {
            return Some(Conclusion::Reinstate(intents, row));
        }
        let venue_ids = self.table.names(&group.rows);
        Some(Conclusion::Ask(Why::MayBeRefused { venue_ids, intents }))
    }

    /// Concludes for an intent without a matching trade.
    ///
    /// A departure is adopted if two listings after the deadline show it, it is the only one and no
    /// other program trades the account. Without any, the intent is not opened if the wallet
    /// agrees.
    fn conclude_absent(&self, intent: usize) -> Conclusion {
        let case = &self.cases[intent];
        match case.stage {
            Stage::NotOpened { .. } => return Conclusion::Wait,
            Stage::InDoubt => {}
        }
        let is_absent = self.listing.is_complete && case.is_absent_twice(case.deadline(self.list_lag));
        let departures = &self.table.departures[intent];
        if is_absent && !departures.is_empty() {
            return match self.table.only_departure(intent).filter(|_| self.is_alone) {
                Some(row) => Conclusion::Adopt(vec![(intent, row)]),
                None => Conclusion::Ask(Why::OtherTrades { venue_ids: self.table.names(departures) }),
            };
        }
        let is_late = case.is_late(self.list_lag, self.now);
        let why = match self.known.wallet {
            _ if !is_absent => self.unsteady(&BTreeSet::from([intent])),
            None => Why::WalletUnknown,
            Some(_) if case.is_stake_taken => Why::StakeTaken,
            Some(_) if self.has_unknown_pay(intent) => return Conclusion::WaitForEnds { is_late },
            Some(view) if view.proves_not_opened(case.doubt.stake, &self.reserved_by_others(intent)) => {
                return Conclusion::NotOpened(intent);
            }
            Some(view) => Why::WalletUnexplained { surplus: view.surplus() },
        };
        ask_if(is_late, why)
    }

    /// Returns whether another trade with unbooked end may have been paid.
    ///
    /// The rules allow nothing, the stake, or the return of a win. An erroneous payment can be any
    /// sum and may hide a missing stake.
    fn has_unknown_pay(&self, intent: usize) -> bool {
        let now = self.now + self.known.uncertainty;
        let may_be_over = |doubt: &Doubt| {
            let OpenOrder { close_type, expiration_type, .. } = doubt.order;
            earliest_close(doubt.sent, Expiry { close_type, expiration_type }) <= now
        };
        let is_over = |other: usize, row: &TradeReport| {
            let by_request = || may_be_over(&self.cases[other].doubt);
            row.progress.outcome().is_some() || row.close_time.map_or_else(by_request, |close| close <= now)
        };
        let may_be_paid =
            |other: usize| self.table.possible[other].iter().any(|row| is_over(other, self.table.rows[*row]));
        let mut others = (0..self.cases.len()).filter(|other| *other != intent);
        self.known.has_unknown_pay || self.known.in_flight.iter().any(may_be_over) || others.any(may_be_paid)
    }

    /// Returns whether the wallet is too low to contain the stake of an intent in doubt.
    ///
    /// This needs a stable ledger. Everything else that is unknown can only increase the wallet.
    pub(crate) fn shows_stake_taken(&self, intent: usize) -> bool {
        let doubt = &self.cases[intent].doubt;
        let is_sound = |view: &WalletView| view.balance >= Money::ZERO;
        self.known.has_stood
            && self
                .known
                .wallet
                .filter(is_sound)
                .is_some_and(|view| view.surplus() - self.reserved_by_others(intent).held < doubt.stake)
    }

    /// Returns the reserved stakes of other intents. Those with an open trade in the list left the
    /// wallet.
    fn reserved_by_others(&self, intent: usize) -> Reserved {
        let mut reserved = Reserved::default();
        let others = self.cases.iter().enumerate().filter(|(other, _)| *other != intent);
        for (other, case) in others {
            let stake = case.doubt.stake;
            let is_listed = !self.table.possible[other].is_empty();
            match case.stage {
                Stage::InDoubt if is_listed => {}
                Stage::InDoubt => reserved.unknown.push(stake),
                Stage::NotOpened { .. } if !self.known.reserved.contains(&case.doubt.intent) => {}
                // It may have left the wallet after all.
                Stage::NotOpened { .. } if is_listed => reserved.unknown.push(stake),
                Stage::NotOpened { .. } => reserved.held += stake,
            }
        }
        reserved.unknown.extend(self.known.in_flight.iter().map(|doubt| doubt.stake));
        reserved
    }

    fn unsteady(&self, intents: &BTreeSet<usize>) -> Why {
        let seen: BTreeSet<&String> = intents.iter().flat_map(|intent| &self.cases[*intent].seen).collect();
        let is_free = |id: &&String| !self.known.claimed.contains(id);
        Why::ListUnsteady { venue_ids: seen.into_iter().filter(is_free).cloned().collect() }
    }

    fn every(&self, group: &Group, holds: impl Fn(&Case) -> bool) -> bool {
        group.intents.iter().all(|intent| holds(&self.cases[*intent]))
    }
}

fn ask_if(is_time: bool, why: Why) -> Conclusion {
    if is_time { Conclusion::Ask(why) } else { Conclusion::Wait }
}
