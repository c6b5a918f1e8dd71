//! Draws conclusions about intents in doubt from the venue's trade list and from the wallet balance.

use super::candidate::{Match, Window, compare, is_deviating_trade_within, reported_request_time};
use super::candidate_table::{CandidateTable, Group};
use super::case::{Case, Stage};
use super::doubt::{MAX_ARRIVAL_DELAY, TIMESTAMP_TOLERANCE};
use super::{EscalationReason, OrderAttempt, Resolver, ResolverContext, earliest_close};
use candlewick_broker::{TradeListing, TradeOrder, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Expiry, Millis, Money};
use std::collections::BTreeSet;

/// Conclusion about intents that may own the same trades. All indices are indices of the [`CandidateTable`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    Wait,
    Adopt(Vec<(usize, usize)>),
    NotOpened(usize),
    Escalate(EscalationReason),
    /// The venue lists more trades than expected. The trade in this row may belong to one of these refused intents.
    Reinstate(Vec<IntentId>, usize),
    /// Payouts of other trades are still unknown. If `is_late` is true, the operator is notified.
    WaitForSettlements {
        is_late: bool,
    },
}

pub(crate) struct Evidence<'a> {
    pub(crate) cases: &'a [Case],
    pub(crate) table: &'a CandidateTable<'a>,
    pub(crate) listing: &'a TradeListing,
    pub(crate) context: &'a ResolverContext<'a>,
    pub(crate) list_lag: Millis,
    pub(crate) has_no_foreign_trades: bool,
    pub(crate) now: Millis,
}

impl Evidence<'_> {
    pub(crate) fn conclude(&self, group: &Group) -> Conclusion {
        match group.intents.first() {
            Some(intent) if group.rows.is_empty() => self.conclude_without_match(*intent),
            _ => self.conclude_with_matches(group),
        }
    }

    /// Handles a group with matching trades. Adopts the trades if two listings showed one trade for each intent.
    /// Escalates immediately if there are too many trades, and after the deadline if trades are missing or unclear.
    fn conclude_with_matches(&self, group: &Group) -> Conclusion {
        let is_steady =
            self.listing.is_complete && self.all_cases_satisfy(group, Case::is_presence_confirmed);
        if !is_steady || self.table.is_awaited(group) {
            let is_late = self.all_cases_satisfy(group, |case| case.is_late(self.list_lag, self.now));
            return escalate_if(is_late, self.unsteady_list_reason(&group.intents));
        }
        if let Some(conclusion) = self.conclude_contested_group(group) {
            return conclusion;
        }
        let order = |intent: usize| (self.cases[intent].doubt.sent, self.cases[intent].doubt.intent);
        if let Some(pairs) = self.table.pair_in_order(group, order) {
            return Conclusion::Adopt(pairs);
        }
        let is_due = self.all_cases_satisfy(group, |case| case.deadline(self.list_lag) <= self.listing.began);
        let venue_ids = self.table.ids(&group.rows);
        if !self.table.is_certain(group) {
            escalate_if(is_due, EscalationReason::UnclearTrades { venue_ids })
        } else if group.rows.len() < group.intents.len() {
            escalate_if(is_due, EscalationReason::TooFewTrades { venue_ids })
        } else {
            Conclusion::Escalate(EscalationReason::TooManyTrades { venue_ids })
        }
    }

    /// Handles a group with a trade that may belong to a refused intent. `None` if the group has no such trade.
    /// If it has more trades than intents, the refused intent returns to doubt. Otherwise the operator decides.
    fn conclude_contested_group(&self, group: &Group) -> Option<Conclusion> {
        let refused = (self.context.refused, self.context.uncertainty);
        let (intents, row) = find_rivals(self.table, group.rows.iter().copied(), refused)?;
        if group.rows.len() > group.intents.len() {
            return Some(Conclusion::Reinstate(intents, row));
        }
        let venue_ids = self.table.ids(&group.rows);
        Some(Conclusion::Escalate(EscalationReason::MayBeRefused { venue_ids, intents }))
    }

    /// Handles an intent without a matching trade. After the deadline, adopts a trade with different terms if it is the
    /// only candidate and no other program trades on the account. Without a candidate, the wallet may prove that no
    /// trade was opened.
    fn conclude_without_match(&self, intent: usize) -> Conclusion {
        let case = &self.cases[intent];
        match case.stage {
            Stage::NotOpened { .. } => return Conclusion::Wait,
            Stage::InDoubt => {}
        }
        let is_absent = self.listing.is_complete && case.is_absence_confirmed(case.deadline(self.list_lag));
        let departures = &self.table.deviating_rows[intent];
        if is_absent && !departures.is_empty() {
            return match self.table.only_deviating_row(intent).filter(|_| self.has_no_foreign_trades) {
                Some(row) => Conclusion::Adopt(vec![(intent, row)]),
                None => Conclusion::Escalate(EscalationReason::OtherTrades {
                    venue_ids: self.table.ids(departures),
                }),
            };
        }
        let is_late = case.is_late(self.list_lag, self.now);
        let why = match self.context.wallet {
            _ if !is_absent => self.unsteady_list_reason(&BTreeSet::from([intent])),
            None => EscalationReason::WalletUnknown,
            Some(_) if case.is_stake_taken => EscalationReason::StakeTaken,
            Some(_) if self.has_unknown_payout(intent) => return Conclusion::WaitForSettlements { is_late },
            Some(view) if view.proves_not_opened(case.doubt.stake, &self.other_reserved_stakes(intent)) => {
                return Conclusion::NotOpened(intent);
            }
            Some(view) => EscalationReason::WalletUnexplained { surplus: view.surplus() },
        };
        escalate_if(is_late, why)
    }

    /// Returns whether the venue may have paid out an unbooked trade. Such a payout could hide a deducted stake.
    fn has_unknown_payout(&self, intent: usize) -> bool {
        let now = self.now + self.context.uncertainty;
        let may_be_over = |doubt: &OrderAttempt| {
            let TradeOrder { close_type, expiration_type, .. } = doubt.order;
            earliest_close(doubt.sent, Expiry { close_type, expiration_type }) <= now
        };
        let is_over = |other: usize, row: &TradeReport| {
            let by_request = || may_be_over(&self.cases[other].doubt);
            row.progress.outcome().is_some() || row.close_time.map_or_else(by_request, |close| close <= now)
        };
        let may_be_paid = |other: usize| {
            self.table.possible_rows[other].iter().any(|row| is_over(other, self.table.rows[*row]))
        };
        let mut others = (0..self.cases.len()).filter(|other| *other != intent);
        self.context.has_unknown_payment
            || self.context.in_flight.iter().any(may_be_over)
            || others.any(may_be_paid)
    }

    /// Returns whether the wallet balance is so low that the stake of an intent in doubt must have been deducted.
    /// Always false while the ledger is unstable. Unknown payments only raise the balance, which favors `false`.
    pub(crate) fn proves_stake_taken(&self, intent: usize) -> bool {
        let doubt = &self.cases[intent].doubt;
        let is_sound = |view: &WalletView| view.balance >= Money::ZERO;
        self.context.is_ledger_stable
            && self
                .context
                .wallet
                .filter(is_sound)
                .is_some_and(|view| view.surplus() - self.other_reserved_stakes(intent).unspent < doubt.stake)
    }

    /// Returns the reserved stakes of all other intents, including those in flight.
    fn other_reserved_stakes(&self, intent: usize) -> ReservedStakes {
        let mut reserved = ReservedStakes::default();
        let others = self.cases.iter().enumerate().filter(|(other, _)| *other != intent);
        for (other, case) in others {
            let stake = case.doubt.stake;
            let is_listed = !self.table.possible_rows[other].is_empty();
            match case.stage {
                Stage::InDoubt if is_listed => {}
                Stage::InDoubt => reserved.uncertain.push(stake),
                Stage::NotOpened { .. } if !self.context.reserved.contains(&case.doubt.intent) => {}
                // The venue lists a trade, so the stake may have left the wallet after all.
                Stage::NotOpened { .. } if is_listed => reserved.uncertain.push(stake),
                Stage::NotOpened { .. } => reserved.unspent += stake,
            }
        }
        reserved.uncertain.extend(self.context.in_flight.iter().map(|doubt| doubt.stake));
        reserved
    }

    fn unsteady_list_reason(&self, intents: &BTreeSet<usize>) -> EscalationReason {
        let seen: BTreeSet<&String> = intents.iter().flat_map(|index| &self.cases[*index].seen_ids).collect();
        let is_free = |id: &&String| !self.context.claimed.contains(id);
        EscalationReason::ListUnsteady { venue_ids: seen.into_iter().filter(is_free).cloned().collect() }
    }

    fn all_cases_satisfy(&self, group: &Group, holds: impl Fn(&Case) -> bool) -> bool {
        group.intents.iter().all(|intent| holds(&self.cases[*intent]))
    }
}

fn escalate_if(is_due: bool, why: EscalationReason) -> Conclusion {
    if is_due { Conclusion::Escalate(why) } else { Conclusion::Wait }
}

/// Minimum time assumed between sending and answering a request, because the answer's time may be too early.
const MIN_TRANSIT_TIME: Millis = Millis::from_seconds(5);

/// Returns whether a trade may belong to a refused intent. Requires a reported time, so that old trades do not match.
pub(crate) fn may_match_refused(attempt: &OrderAttempt, report: &TradeReport, uncertainty: Millis) -> bool {
    reported_request_time(report).is_some()
        && compare(attempt, report, refusal_window(attempt, uncertainty)) != Match::Different
}

fn refusal_window(attempt: &OrderAttempt, uncertainty: Millis) -> Window {
    let answered = attempt.ended.clamp(attempt.sent + MIN_TRANSIT_TIME, attempt.sent + MAX_ARRIVAL_DELAY);
    attempt.window(uncertainty, answered + uncertainty + TIMESTAMP_TOLERANCE)
}

impl Resolver {
    /// Returns the refused intents that may own a trade. Call this only if the trade matches no intent in doubt.
    /// A trade with different terms counts only while no other program is known to trade on the account.
    pub(super) fn find_refused_candidates(
        &self,
        report: &TradeReport,
        (refused, uncertainty): (&[OrderAttempt], Millis),
    ) -> Vec<IntentId> {
        let is_departure = |attempt: &OrderAttempt| {
            self.reported.is_empty()
                && is_deviating_trade_within(attempt, report, refusal_window(attempt, uncertainty))
        };
        let exact: Vec<IntentId> = (refused.iter())
            .filter(|attempt| may_match_refused(attempt, report, uncertainty))
            .map(|attempt| attempt.intent)
            .collect();
        if exact.is_empty() {
            let departures = refused.iter().filter(|attempt| is_departure(attempt));
            return departures.map(|attempt| attempt.intent).collect();
        }
        exact
    }
}

fn find_rivals(
    table: &CandidateTable<'_>,
    mut rows: impl Iterator<Item = usize> + Clone,
    (refused, uncertainty): (&[OrderAttempt], Millis),
) -> Option<(Vec<IntentId>, usize)> {
    let owners = |row: usize| {
        let owners = refused.iter().filter(move |one| may_match_refused(one, table.rows[row], uncertainty));
        owners.map(|attempt| attempt.intent)
    };
    let intents: BTreeSet<IntentId> = rows.clone().flat_map(owners).collect();
    let row = rows.find(|row| owners(*row).next().is_some())?;
    Some((intents.into_iter().collect(), row))
}

/// Maximum number of subset sums. If there are more, every amount counts as explained.
pub(crate) const MAX_SUBSET_SUMS: usize = 4_096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalletView {
    pub(crate) balance: Money,
    /// Expected balance if every intent in doubt opened a trade: the ledger's free balance, without their stakes.
    pub(crate) expected_balance: Money,
}

/// Stakes that are deducted from the ledger's free balance, but may still be in the wallet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReservedStakes {
    pub(crate) unspent: Money,
    pub(crate) uncertain: Vec<Money>,
}

impl WalletView {
    pub(crate) fn surplus(&self) -> Money {
        self.balance - self.expected_balance
    }

    /// Returns whether the balance can be explained without this trade, but not with it.
    fn proves_not_opened(&self, stake: Money, others: &ReservedStakes) -> bool {
        let rest = self.surplus() - others.unspent;
        subset_sums(&others.uncertain).is_some_and(|sums| {
            sums.binary_search(&(rest - stake)).is_ok() && sums.binary_search(&rest).is_err()
        })
    }
}

/// Returns the distinct subset sums in ascending order, or `None` if there are more than [`MAX_SUBSET_SUMS`].
pub(crate) fn subset_sums(amounts: &[Money]) -> Option<Vec<Money>> {
    choice_sums(amounts.iter().map(std::slice::from_ref))
}

/// Like [`subset_sums`], but each sum uses at most one amount from each list in `choices`.
pub(crate) fn choice_sums<'a>(choices: impl Iterator<Item = &'a [Money]>) -> Option<Vec<Money>> {
    let mut sums = vec![Money::ZERO];
    for choice in choices {
        let more: Vec<Money> =
            choice.iter().flat_map(|amount| sums.iter().map(move |sum| *sum + *amount)).collect();
        sums.extend(more);
        sums.sort_unstable();
        sums.dedup();
        if sums.len() > MAX_SUBSET_SUMS {
            return None;
        }
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    #[test]
    fn trade_of_rejected_intent_lies_between_sending_and_answer() {
        // The request was sent at 100 s. `answered` is the date in the answer.
        let check = |answered: i64, requested: i64, expected: bool| {
            let doubt = OrderAttempt { ended: Millis::new(answered), ..testing::doubt(1) };
            let report = testing::report("a", Millis::new(requested));
            let found = may_match_refused(&doubt, &report, Millis::SECOND);
            assert_eq!(found, expected, "answered at {answered}, requested at {requested}");
        };
        check(101_000, 97_999, false);
        check(101_000, 98_000, true);
        // The limit is 5 s after sending, plus 1 s for the clocks and 1 s for the timestamp.
        check(101_000, 107_000, true);
        check(101_000, 107_001, false);
        check(115_000, 117_000, true);
        check(0, 107_000, true);
        check(900_000, 132_000, true);
        check(900_000, 132_001, false);
    }

    fn check(balance: i64, stake: i64, unspent: i64, maybe: &[i64], expected: bool) {
        let minor = Money::from_minor;
        let view = WalletView { balance: minor(balance), expected_balance: minor(50_000) };
        let others =
            ReservedStakes { unspent: minor(unspent), uncertain: maybe.iter().copied().map(minor).collect() };
        assert_eq!(view.proves_not_opened(minor(stake), &others), expected, "{balance} {maybe:?}");
    }

    #[test]
    fn wallet_proves_a_stake_only_to_the_cent() {
        check(51_000, 1_000, 0, &[], true);
        check(50_000, 1_000, 0, &[], false);
        check(51_001, 1_000, 0, &[], false);
        check(50_999, 1_000, 0, &[], false);
        check(53_000, 1_000, 2_000, &[], true);
        check(51_000, 1_000, 1_000, &[], false);
        check(53_000, 1_000, 0, &[2_000], true);
        check(51_000, 1_000, 0, &[2_000], true);
        check(52_000, 1_000, 0, &[2_000], false);
        check(51_000, 1_000, 0, &[1_000], false);
        check(52_000, 1_000, 0, &[1_000], true);
        // The 30.00 may be the sum of 10.00 and 20.00, or the other stake of 30.00.
        check(53_000, 1_000, 0, &[2_000, 3_000], false);
        // If there are too many stakes, the wallet proves nothing.
        let distinct: Vec<i64> = (0..13).map(|power| 1 << power).collect();
        check(50_000 + (1 << 20), 1 << 20, 0, &distinct[..12], true);
        check(50_000 + (1 << 20), 1 << 20, 0, &distinct, false);
    }
}
