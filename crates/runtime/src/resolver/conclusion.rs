//! What follows from a listing for intents that may own the same trades.

use super::candidate_table::{CandidateTable, Group};
use super::case::{Case, Stage};
use super::wallet::Reserved;
use super::{Known, Why, earliest_close};
use candlewick_broker::{OpenOrder, TradeListing, TradeReport};
use candlewick_sdk::{Expiry, Millis, Money};
use std::collections::BTreeSet;

/// What follows for a group. Intents and rows are numbered as in the [`CandidateTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// Nothing yet.
    Wait,
    /// These intents own these rows.
    Adopt(Vec<(usize, usize)>),
    /// This intent has no trade.
    NotOpened(usize),
    /// A person is to be asked.
    Ask(Why),
}

/// All that a conclusion rests on.
pub(crate) struct Evidence<'a> {
    /// In the order of the table.
    pub(crate) cases: &'a [Case],
    pub(crate) table: &'a CandidateTable<'a>,
    pub(crate) listing: &'a TradeListing,
    pub(crate) known: &'a Known<'a>,
    pub(crate) list_lag: Millis,
    /// Whether no other program is known to trade on the account.
    pub(crate) is_alone: bool,
    pub(crate) now: Millis,
}

impl Evidence<'_> {
    /// What follows for a group.
    pub(crate) fn conclude(&self, group: &Group) -> Conclusion {
        match group.intents.first() {
            Some(intent) if group.rows.is_empty() => self.conclude_absent(*intent),
            _ => self.conclude_present(group),
        }
    }

    /// Trades are listed that may be theirs. They are adopted when they are as many as the intents and were there
    /// twice; more of them are for a person at once, fewer and unclear ones when no more can be expected.
    fn conclude_present(&self, group: &Group) -> Conclusion {
        let is_steady = self.listing.is_complete && self.every(group, Case::is_seen_twice);
        if !is_steady || self.table.is_awaited(group) {
            let is_late = self.every(group, |case| case.is_late(self.list_lag, self.now));
            return ask_if(is_late, self.unsteady(&group.intents));
        }
        if let Some(pairs) = self.table.pairs(group, |intent| self.cases[intent].doubt.sent) {
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

    /// No trade is listed that is what was asked for. One that the venue may have made of the request instead is adopted when that
    /// was so twice after the deadline, it is the only one, and nobody else is known to trade. Without any the intent is not
    /// opened when the wallet agrees.
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
        let why = match self.known.wallet {
            _ if !is_absent => self.unsteady(&BTreeSet::from([intent])),
            None => Why::WalletUnknown,
            Some(view) if view.proves_not_opened(case.doubt.stake, &self.reserved_by_others(intent)) => {
                return Conclusion::NotOpened(intent);
            }
            Some(view) => Why::WalletUnexplained { surplus: view.surplus() },
        };
        ask_if(case.is_late(self.list_lag, self.now), why)
    }

    /// Stakes of the other intents that are taken off the ledger's free balance. One that has a trade in the list
    /// has left the wallet, and may be back when that trade may be over.
    fn reserved_by_others(&self, intent: usize) -> Reserved {
        let mut reserved = Reserved::default();
        let others = self.cases.iter().enumerate().filter(|(other, _)| *other != intent);
        for (other, case) in others {
            let stake = case.doubt.stake;
            let is_listed = !self.table.possible[other].is_empty();
            match case.stage {
                Stage::InDoubt if is_listed => reserved.unknown.extend(self.returned_of(other)),
                Stage::InDoubt => reserved.unknown.push(stake),
                Stage::NotOpened { .. } if !self.known.reserved.contains(&case.doubt.intent) => {}
                // It may have left the wallet after all.
                Stage::NotOpened { .. } if is_listed => reserved.unknown.push(stake),
                Stage::NotOpened { .. } => reserved.held += stake,
            }
        }
        reserved.unknown.extend(self.known.in_flight.iter().map(|doubt| doubt.stake));
        reserved.unknown.extend(self.known.returned);
        reserved
    }

    /// What the venue may have paid by now for the listed trade of an intent in doubt: its stake, and what a win earns.
    fn returned_of(&self, intent: usize) -> BTreeSet<Money> {
        let doubt = &self.cases[intent].doubt;
        let OpenOrder { close_type, expiration_type, .. } = doubt.order;
        let earliest = earliest_close(doubt.sent, Expiry { close_type, expiration_type });
        let now = self.now + self.known.uncertainty;
        let may_be_over = |row: &&TradeReport| {
            row.progress.outcome().is_some() || row.close_time.unwrap_or(earliest) <= now
        };
        let rows = self.table.possible[intent].iter().map(|row| self.table.rows[*row]).filter(may_be_over);
        let paid = |row: &TradeReport| {
            let won = row.payout.map(|payout| doubt.stake.profit_at(payout));
            [Some(doubt.stake), won].into_iter().flatten()
        };
        rows.flat_map(paid).collect()
    }

    /// What listings that prove nothing have shown all the same.
    fn unsteady(&self, intents: &BTreeSet<usize>) -> Why {
        let seen: BTreeSet<&String> = intents.iter().flat_map(|intent| &self.cases[*intent].seen).collect();
        let is_free = |id: &&String| !self.known.claimed.contains(*id);
        Why::ListUnsteady { venue_ids: seen.into_iter().filter(is_free).cloned().collect() }
    }

    fn every(&self, group: &Group, holds: impl Fn(&Case) -> bool) -> bool {
        group.intents.iter().all(|intent| holds(&self.cases[*intent]))
    }
}

fn ask_if(is_time: bool, why: Why) -> Conclusion {
    if is_time { Conclusion::Ask(why) } else { Conclusion::Wait }
}
