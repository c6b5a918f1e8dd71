//! Resolves doubts by finding out which unanswered orders became trades.
//! The venue has no idempotency keys, so an unanswered order is never sent again. Instead, the [`Resolver`] searches
//! the venue's list for the trade. It schedules polls for each [`OrderAttempt`] in doubt, and turns [`TradeListing`]s
//! into [`Resolution`]s, without I/O and without a clock. If a doubt cannot be decided, the operator is notified.

mod candidate;
mod candidate_table;
mod case;
mod claimed;
mod conclusion;
mod doubt;
mod lag;

#[cfg(test)]
mod tests;

pub(crate) use conclusion::{MAX_SUBSET_SUMS, WalletView, choice_sums, subset_sums};
pub use doubt::latest_close;
pub(crate) use doubt::{EscalationReason, OrderAttempt, Resolution, ResolutionError, earliest_close};
pub(crate) use lag::{AcceptedTrade, LagMeter, MAX_LIST_LAG};

#[cfg(test)]
pub(crate) use tests::testing::{self, order as order_of_tests, report as report_of_tests};

pub(crate) use claimed::{ClaimedTrades, hash_id};

pub(crate) use candidate::{Match, compare_terms, is_deviating_trade, reported_request_time};
use candidate_table::{CandidateTable, Group, WindowedAttempt};
use candlewick_broker::{Account, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Symbol};
use case::{Case, Stage};
use conclusion::{Conclusion, Evidence, may_match_refused};
use std::collections::BTreeSet;

/// Period before a request in doubt. A duplicate trade of a request in this period may seem to match the intent.
const PRECEDING_WINDOW: Millis = Millis::MINUTE;

/// Minimum assumed clock error. Current measurements do not show how large the error was at the time of sending.
pub(crate) const MIN_CLOCK_UNCERTAINTY: Millis = Millis::from_seconds(2);

pub(crate) fn may_belong_to(attempt: &OrderAttempt, report: &TradeReport, uncertainty: Millis) -> bool {
    let window = attempt.window(uncertainty, attempt.latest_arrival());
    candidate::compare(attempt, report, window) != Match::Different
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ResolverContext<'a> {
    pub(crate) claimed: &'a ClaimedTrades,
    /// Requests in flight. The venue may list their trades before their answers arrive.
    pub(crate) in_flight: &'a [OrderAttempt],
    /// Answered requests. A duplicate trade of such a request belongs to no other intent.
    pub(crate) answered: &'a [OrderAttempt],
    /// Rejected or unsent requests. Such a request may have opened a trade nevertheless.
    pub(crate) refused: &'a [OrderAttempt],
    /// Intents that still have a reserved stake, but no known trade.
    pub(crate) reserved: &'a BTreeSet<IntentId>,
    /// Whether the venue may have paid an unknown amount. If so, the wallet proves nothing.
    pub(crate) has_unknown_payment: bool,
    /// Whether the ledger has been unchanged for longer than the maximum lag of the wallet.
    pub(crate) is_ledger_stable: bool,
    /// Wallet reading that was taken after the listing. `None` if the reading failed.
    pub(crate) wallet: Option<WalletView>,
    pub(crate) uncertainty: Millis,
}

#[derive(Debug)]
pub(crate) struct Resolver {
    account: Account,
    since: Millis,
    pub(crate) lag: LagMeter,
    cases: Vec<Case>,
    /// Trades that were assigned to intents but are not claimed yet. Prevents a second assignment.
    assigned: BTreeSet<String>,
    pub(crate) reported: BTreeSet<String>,
}

impl Resolver {
    pub(crate) fn new(account: Account, since: Millis, lag: LagMeter) -> Self {
        let (assigned, reported) = (BTreeSet::new(), BTreeSet::new());
        Self { account, since, lag, cases: Vec::new(), assigned, reported }
    }

    /// Starts the search for an intent's trade at `now`. Does nothing if the search is already running.
    pub(crate) fn begin(&mut self, doubt: OrderAttempt, now: Millis) {
        if self.find_case(doubt.intent).is_none() {
            self.cases.push(Case::new(doubt, now));
        }
    }

    pub(crate) fn begin_late_search(&mut self, doubt: OrderAttempt, now: Millis) {
        if self.find_case(doubt.intent).is_none() {
            self.cases.push(Case::new_not_opened(doubt, self.lag.allowance(), now));
        }
    }

    /// Returns whether `row` may be the intent's trade with different terms, according to the trade list and to `row`.
    pub(crate) fn may_have_other_terms(&self, id: IntentId, row: &TradeReport, uncertainty: Millis) -> bool {
        let is_match = |case: &Case| {
            case.deviating_ids.contains(&row.id)
                && candidate::is_deviating_trade(&case.doubt, row, uncertainty)
        };
        self.find_case(id).is_some_and(|place| is_match(&self.cases[place]))
    }

    pub(crate) fn find_order_on_other_account(
        &self,
        report: &TradeReport,
        (refused, uncertainty): (&[OrderAttempt], Millis),
    ) -> Option<IntentId> {
        let anywhere = TradeReport { account: None, ..report.clone() };
        let is_match = |doubt: &OrderAttempt| {
            let is_match =
                candidate::compare(doubt, &anywhere, doubt.arrival_window(uncertainty)) != Match::Different;
            is_match || candidate::is_deviating_trade(doubt, &anywhere, uncertainty)
        };
        let mut doubts = self.cases.iter().map(|case| &case.doubt);
        let mut refused = refused.iter();
        let found = doubts.find(|doubt| is_match(doubt));
        let found = found.or_else(|| refused.find(|doubt| may_match_refused(doubt, &anywhere, uncertainty)));
        found.map(|doubt| doubt.intent)
    }

    pub(crate) fn next_poll(&self) -> Option<Millis> {
        self.cases.iter().map(|case| case.next_poll).min()
    }

    /// Returns the earliest request time that matters for an intent in doubt. `None` if no intent is in doubt.
    pub(crate) fn earliest_relevant_time(&self) -> Option<Millis> {
        let in_doubt = self.cases.iter().filter(|case| case.stage == Stage::InDoubt);
        in_doubt.map(|case| case.doubt.sent - PRECEDING_WINDOW).min()
    }

    pub(crate) fn has_doubt_near(&self, symbols: [Symbol; 2], (from, until): (Millis, Millis)) -> bool {
        let list_lag = self.lag.allowance();
        let is_near = |case: &Case| {
            let is_then = case.doubt.sent <= until && from <= case.deadline(list_lag);
            is_then && symbols.contains(&case.doubt.order.symbol)
        };
        self.cases.iter().any(is_near)
    }

    pub(crate) fn is_searching(&self) -> bool {
        self.cases.iter().any(Case::is_search_active)
    }

    /// Records the start of a poll. Pass the result to [`Self::take_listing`] even if the poll failed.
    pub(crate) fn begin_poll(&mut self, now: Millis) {
        for case in &mut self.cases {
            case.begin_poll(now);
        }
    }

    pub(crate) fn take_listing(
        &mut self,
        listing: &TradeListing,
        known: &ResolverContext<'_>,
        now: Millis,
    ) -> Vec<Resolution> {
        self.cases.retain(|case| !case.is_expired(now));
        let list_lag = self.lag.allowance();
        let table = self.match_listing(listing, known, list_lag);
        for (intent, case) in self.cases.iter_mut().enumerate() {
            let deadline = case.deadline(list_lag);
            let (ids, departures) = (&table.possible_rows[intent], &table.deviating_rows[intent]);
            case.observe(listing, (table.ids(ids), table.ids(departures)), deadline);
            case.deviating_ids.extend(table.unclear_trade_ids(intent));
        }
        let is_alone = self.reported.is_empty();
        let evidence = Evidence {
            cases: &self.cases,
            table: &table,
            listing,
            context: known,
            list_lag,
            has_no_foreign_trades: is_alone,
            now,
        };
        let conclusions: Vec<_> =
            table.groups().into_iter().map(|group| (evidence.conclude(&group), group)).collect();
        let taken: Vec<usize> = (0..self.cases.len()).filter(|id| evidence.proves_stake_taken(*id)).collect();
        for intent in taken {
            self.cases[intent].is_stake_taken = true;
        }
        let mut resolutions = Vec::new();
        for (conclusion, group) in conclusions {
            self.apply_conclusion(conclusion, &group, &table, &mut resolutions);
        }
        self.report_unexplained(&table, known, &mut resolutions);
        self.cases.retain(|case| !is_adopted(case.doubt.intent, &resolutions));
        for case in &mut self.cases {
            case.advance_poll(case.deadline(list_lag), now);
        }
        resolutions
    }

    /// Assigns a trade to an intent manually, even if the intent counts as not opened.
    pub(crate) fn assign(
        &mut self,
        intent: IntentId,
        venue_id: &str,
        claimed: &ClaimedTrades,
    ) -> Result<(), ResolutionError> {
        let place = self.find_case(intent).ok_or(ResolutionError::NotInDoubt)?;
        if claimed.contains(venue_id) || !self.assigned.insert(venue_id.to_owned()) {
            return Err(ResolutionError::TradeTaken);
        }
        self.cases.remove(place);
        Ok(())
    }

    /// Applies the operator's decision that no trade was opened. Returns the end of the stake reservation.
    pub(crate) fn give_up(&mut self, intent: IntentId) -> Result<Millis, ResolutionError> {
        let list_lag = self.lag.allowance();
        let in_doubt = |case: &&mut Case| case.doubt.intent == intent && case.stage == Stage::InDoubt;
        let case = self.cases.iter_mut().find(in_doubt).ok_or(ResolutionError::NotInDoubt)?;
        Ok(case.give_up(list_lag))
    }

    fn find_case(&self, intent: IntentId) -> Option<usize> {
        self.cases.iter().position(|case| case.doubt.intent == intent)
    }

    fn match_listing<'a>(
        &self,
        listing: &'a TradeListing,
        known: &ResolverContext<'_>,
        list_lag: Millis,
    ) -> CandidateTable<'a> {
        let in_doubt: Vec<WindowedAttempt<'_>> = self
            .cases
            .iter()
            .map(|case| (&case.doubt, case.doubt.window(known.uncertainty, case.deadline(list_lag))))
            .collect();
        let in_flight: Vec<WindowedAttempt<'_>> = known
            .in_flight
            .iter()
            .map(|doubt| (doubt, doubt.window(known.uncertainty, Millis::MAX)))
            .collect();
        let is_free =
            |row: &TradeReport| !known.claimed.contains(&row.id) && !self.assigned.contains(&row.id);
        let mut table = CandidateTable::new(listing, is_free, (&in_doubt, &in_flight));
        // A trade that was already reported is foreign. A duplicate trade belongs to an answered request.
        let is_unknown = |row: &TradeReport| {
            let is_second = |attempt: &OrderAttempt| may_belong_to(attempt, row, known.uncertainty);
            let is_refused = |attempt: &OrderAttempt| may_match_refused(attempt, row, known.uncertainty);
            !self.reported.contains(&row.id)
                && !known.answered.iter().any(is_second)
                && !known.refused.iter().any(is_refused)
        };
        let doubts: Vec<Option<&OrderAttempt>> =
            self.cases.iter().map(|case| (case.stage == Stage::InDoubt).then_some(&case.doubt)).collect();
        table.find_deviating_rows((&doubts, known.in_flight), known.uncertainty, is_unknown);
        table
    }

    fn apply_conclusion(
        &mut self,
        conclusion: Conclusion,
        group: &Group,
        table: &CandidateTable<'_>,
        resolutions: &mut Vec<Resolution>,
    ) {
        match conclusion {
            Conclusion::Wait => {}
            Conclusion::Adopt(pairs) => {
                for (intent, row) in pairs {
                    resolutions.push(self.adopt(intent, table.rows[row]));
                }
            }
            Conclusion::NotOpened(intent) => {
                let case = &mut self.cases[intent];
                let reserved_until = case.give_up(self.lag.allowance());
                resolutions.push(Resolution::NotOpened { intent: case.doubt.intent, reserved_until });
            }
            Conclusion::Escalate(why) => self.escalate(&why, group, resolutions),
            Conclusion::Reinstate(intents, row) => {
                let report = Box::new(table.rows[row].clone());
                resolutions.push(Resolution::Reinstate { intents, report });
            }
            Conclusion::WaitForSettlements { is_late } => {
                for intent in &group.intents {
                    self.cases[*intent].awaits_settlements = true;
                }
                if is_late {
                    self.escalate(&EscalationReason::WalletUnsettled, group, resolutions);
                }
            }
        }
    }

    fn escalate(&mut self, why: &EscalationReason, group: &Group, resolutions: &mut Vec<Resolution>) {
        for intent in &group.intents {
            let case = &mut self.cases[*intent];
            if case.record_escalation(why) {
                let (intent, why) = (case.doubt.intent, why.clone());
                resolutions.push(Resolution::Escalate { intent, why });
            }
        }
    }

    fn adopt(&mut self, intent: usize, report: &TradeReport) -> Resolution {
        let case = &self.cases[intent];
        self.assigned.insert(report.id.clone());
        if let Some(missing) = case.last_missing_at {
            self.lag.record_found_trade(report, missing);
        }
        let (intent, report) = (case.doubt.intent, Box::new(report.clone()));
        match case.stage {
            Stage::InDoubt => Resolution::Adopt { intent, report },
            Stage::NotOpened { .. } => Resolution::AdoptLate { intent, report },
        }
    }

    /// Reports trades of this account that match no request. Skips trades that are manual, old or undated.
    fn report_unexplained(
        &mut self,
        table: &CandidateTable<'_>,
        known: &ResolverContext<'_>,
        resolutions: &mut Vec<Resolution>,
    ) {
        // Older trades may belong to intents that are no longer in memory. They were checked when they were new.
        let since = known
            .claimed
            .latest_dropped_end
            .map_or(self.since, |until| self.since.max(until + MIN_CLOCK_UNCERTAINTY));
        for report in table.unowned_reports() {
            let is_ours = report.account.is_none_or(|account| account == self.account);
            let is_young = reported_request_time(report).is_some_and(|at| at >= since);
            let is_foreign = report.is_opened_with_token == Some(false) || report.other_user.is_some();
            if is_foreign || !is_ours || !is_young {
                continue;
            }
            let intents = self.find_refused_candidates(report, (known.refused, known.uncertainty));
            if !intents.is_empty() {
                resolutions.push(Resolution::Reinstate { intents, report: Box::new(report.clone()) });
            } else if self.reported.insert(report.id.clone()) {
                resolutions.push(Resolution::Unexplained { report: Box::new(report.clone()) });
            }
        }
    }
}

fn is_adopted(intent: IntentId, resolutions: &[Resolution]) -> bool {
    resolutions.iter().any(|resolution| match resolution {
        Resolution::Adopt { intent: adopted, .. } | Resolution::AdoptLate { intent: adopted, .. } => {
            *adopted == intent
        }
        _ => false,
    })
}
