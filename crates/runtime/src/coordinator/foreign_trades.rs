//! Detects trades that no intent explains: second trades for one request, and trades of other programs.
//! Unexplained money starts a search of the venue's trade list, to tell a foreign trade from a deposit.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use super::trade_watch::reported_profit;
use crate::SecondTradeRule;
use crate::audit::{Audit, Finding, describe_stake};
use crate::resolver::EscalationReason;
use candlewick_broker::{TradeListing, TradeProgress, TradeReport};
use candlewick_engine::{EventKind, IntentId, IntentState, SecondTrade, VenueId};
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;

const SEARCH_INTERVAL: Millis = Millis::from_seconds(30);
const WARNING_DURATION: Millis = Millis::from_seconds(3_600);

#[derive(Debug, Default)]
pub(crate) struct ForeignTrades {
    looked: Option<Millis>,
    wanted: Option<Money>,
    asked: Option<Money>,
    /// Wallet surplus for which a search of the complete trade list found no foreign trade. Not searched again.
    searched_surplus: Money,
    has_begun: bool,
    last: Option<(String, Millis)>,
}

impl ForeignTrades {
    pub(super) fn note_trade(&mut self, report: &TradeReport, now: Millis) {
        self.last = Some((describe_trade(report), now));
        self.asked = None;
    }

    pub(super) fn begin_search(&mut self) {
        self.asked = self.wanted.take();
    }

    pub(super) fn end_search(&mut self, is_complete: bool) {
        if let Some(surplus) = self.asked.take().filter(|_| is_complete) {
            self.searched_surplus = surplus;
        }
    }
}

impl Coordinator {
    pub(super) fn search_foreign_trades(&mut self, wallet: Money, patience: Millis, now: Millis) {
        let surplus = wallet - self.session.ledger().free_balance();
        let unseen = surplus - self.foreign_trades.searched_surplus;
        // If regular polls of the list are disabled, this search is disabled too.
        if (surplus, unseen) == (Money::ZERO, Money::ZERO) || self.doubts.next_routine_poll(now).is_none() {
            return;
        }
        let Some(own) = self.own_trade_amounts() else { return };
        let may_be_ours =
            |amount| self.audits.wallet.may_be_from_own_trades(amount, own.clone(), now, patience);
        if may_be_ours(unseen) {
            return;
        }
        if may_be_ours(surplus) {
            self.foreign_trades.searched_surplus = Money::ZERO;
        } else if self.foreign_trades.looked.is_none_or(|at| now - at >= SEARCH_INTERVAL) {
            self.foreign_trades.looked = Some(now);
            self.foreign_trades.wanted = Some(surplus);
            self.agenda.add(now, Job::Trades);
        }
    }

    /// Returns the amounts of our open trades that may reach the wallet before the ledger. `None` if unknown.
    fn own_trade_amounts(&self) -> Option<Vec<Money>> {
        let is_unclear = self.doubts.resolver.next_poll().is_some()
            || self.session.has_unresolved_intent()
            || !self.session.session().second_trades().is_empty();
        if is_unclear {
            return None;
        }
        let mut amounts = Vec::new();
        for row in self.session.book().rows().iter().filter(|row| row.state == IntentState::Open) {
            let stake = row.approved.stake();
            amounts.extend([stake, stake.profit_at(row.payout?)]);
        }
        Some(amounts)
    }

    /// Reports foreign trades that were open before the run. Runs once, when no intent is in flight or in doubt.
    pub(super) fn report_open_foreign_trades(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        if self.foreign_trades.has_begun || self.session.has_unresolved_intent() {
            return;
        }
        self.foreign_trades.has_begun = true;
        let (ours, uncertainty) = (self.session.account, self.clock_uncertainty());
        let refused = self.doubts.refused_attempts(&self.session, step.now);
        let is_other_trade = |report: &&TradeReport| {
            report.progress == TradeProgress::Running
                && report.is_opened_with_token != Some(false)
                && report.other_user.is_none()
                && report.account.is_none_or(|account| account == ours)
                && report.close_time.is_some_and(|close| close > step.now)
                && !self.doubts.is_claimed(&report.id)
                && !self.doubts.resolver.reported.contains(&report.id)
                // The trade may belong to an intent that counted as not opened. Such a trade can be listed late.
                && self.doubts.resolver.find_order_on_other_account(report, (&refused, uncertainty)).is_none()
        };
        let anothers: Vec<&TradeReport> = listing.trades.iter().filter(is_other_trade).collect();
        let Some(first) = anothers.first() else { return };
        let trade = describe_trade(first);
        let text = match anothers.len() {
            1 => format!("unknown {trade} is open on the {ours} wallet"),
            count => format!("{count} unknown trades are open on the {ours} wallet, such as {trade}"),
        };
        self.foreign_trades.note_trade(first, step.now);
        let text = format!("{text}. Is another program using this wallet?");
        self.report_findings(Audit::Trades, 0, vec![Finding::alarm(Audit::Trades, text)], step);
    }

    pub(super) fn foreign_trade_problem(&self, now: Millis) -> Option<String> {
        let (trade, at) = self.foreign_trades.last.as_ref().filter(|(_, at)| now - *at < WARNING_DURATION)?;
        let minutes = (now - *at).get() / Millis::MINUTE.get();
        Some(format!("another program may trade on this wallet: unknown {trade}, found {minutes} min ago"))
    }
}

fn describe_trade(report: &TradeReport) -> String {
    let symbol = reported_symbol(report);
    let stake = report.amount.map(|amount| format!(" with {amount:.2}")).unwrap_or_default();
    format!("trade {} on {symbol}{stake}", report.id)
}

const RECHECK_INTERVAL: Millis = Millis::from_seconds(30);
pub(super) const MAX_NAMED_TRADES: usize = 20;

impl Coordinator {
    pub(super) fn report_unexplained_trades(
        &mut self,
        reports: &[TradeReport],
        wallet: Option<Money>,
        step: &mut Step<'_>,
    ) {
        let (mut seconds, mut foreign) = (0, 0);
        for report in reports {
            let second_of = self.doubts.second_trade_owner(report, &self.session, self.clock_uncertainty());
            let count = if second_of.is_some() { &mut seconds } else { &mut foreign };
            *count += 1;
            let is_named = *count <= MAX_NAMED_TRADES;
            match second_of {
                Some(intent) => {
                    let text = format!(
                        "trade #{intent} was ordered once, but the venue has a second one, {}",
                        report.id
                    );
                    self.on_second_trade(report, (intent, is_named), text, wallet, step);
                }
                None if is_named => {
                    self.note_unexplained_trade(report, None, step);
                    self.foreign_trades.note_trade(report, step.now);
                    let guess = self.describe_simultaneous_intents(report).map_or_else(
                        || "is another program using this wallet?".to_owned(),
                        |intents| format!("the trade was requested in the same second as {intents}"),
                    );
                    let (id, symbol) = (&report.id, reported_symbol(report));
                    let text = format!("unknown trade {id} on {symbol}: {guess}");
                    self.report_findings(Audit::Trades, 0, vec![Finding::alarm(Audit::Trades, text)], step);
                }
                None => {}
            }
        }
        let more = seconds.max(MAX_NAMED_TRADES) + foreign.max(MAX_NAMED_TRADES) - MAX_NAMED_TRADES * 2;
        if more > 0 {
            let text = format!("{more} more unknown trades are in the venue's list");
            self.report_findings(Audit::Trades, 0, vec![Finding::alarm(Audit::Trades, text)], step);
        }
    }

    fn note_unexplained_trade(
        &mut self,
        report: &TradeReport,
        second_of: Option<IntentId>,
        step: &mut Step<'_>,
    ) {
        let (id, symbol) = (&report.id, reported_symbol(report));
        let note = serde_json::json!({ "unexplained": id, "symbol": symbol, "second_of": second_of });
        self.session.journal.note(note.to_string(), step);
    }

    /// Handles a possible second trade of an answered order. Reports the trade only if `is_named` is true.
    /// Does not book a finished trade if wallet and ledger agree, because its money is already booked as unexplained.
    pub(super) fn on_second_trade(
        &mut self,
        report: &TradeReport,
        (intent, is_named): (IntentId, bool),
        text: String,
        wallet: Option<Money>,
        step: &mut Step<'_>,
    ) {
        self.note_unexplained_trade(report, Some(intent), step);
        if is_named {
            self.report_findings(Audit::Trades, 0, vec![Finding::alarm(Audit::Trades, text.clone())], step);
        }
        self.doubts.claim(&report.id);
        let is_booked = wallet == Some(self.session.ledger().free_balance());
        if !(is_booked && report.progress.outcome().is_some()) {
            let venue_id = VenueId::truncated(&report.id);
            let trade = SecondTrade { intent, venue_id, stake: self.second_trade_stake(intent, report) };
            self.handle(step.now, EventKind::SecondTrade(trade), step);
        }
        match self.settings.second_trade {
            SecondTradeRule::Halt => self.halt(text, step),
            SecondTradeRule::Alarm => {}
        }
    }

    /// Halts the run if a trade on another account matches an intent in doubt. That trade may use real money.
    pub(super) fn check_other_accounts(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let ours = self.session.account;
        let refused = self.doubts.refused_attempts(&self.session, step.now);
        let known = (refused.as_slice(), self.clock_uncertainty());
        for report in &listing.trades {
            if self.doubts.is_claimed(&report.id) {
                continue;
            }
            let Some(account) = report.account.filter(|account| *account != ours) else { continue };
            let Some(intent) = self.doubts.resolver.find_order_on_other_account(report, known) else {
                continue;
            };
            let staked = describe_stake(account, report.amount);
            let text = format!(
                "{staked}: trade {} may be trade #{intent}, which was ordered for the {ours} account; the ledger \
                 does not contain the trade",
                report.id
            );
            self.halt_on_implausible_data(text, step);
        }
    }

    /// Halts the run if the venue lists too many trades, or a trade that may belong to a declined or unsent order.
    pub(super) fn halt_at_contested_trade(
        &mut self,
        intent: IntentId,
        why: &EscalationReason,
        step: &mut Step<'_>,
    ) {
        let text = format!("trade #{intent} was ordered once: {why}");
        let is_halted = self.session.halt_reason().is_some();
        let halts = match why {
            EscalationReason::TooManyTrades { .. } => self.settings.second_trade == SecondTradeRule::Halt,
            EscalationReason::MayBeRefused { .. } => true,
            _ => false,
        };
        if halts && self.doubts.is_new_implausible_data(&text, is_halted) {
            self.halt(text, step);
        }
    }

    fn second_trade_stake(&self, intent: IntentId, report: &TradeReport) -> Money {
        let amount = report.amount.and_then(|amount| self.session.money(amount));
        let ordered = || self.session.terms(intent).map(|terms| terms.stake()).unwrap_or_default();
        amount.filter(|amount| amount.is_positive()).unwrap_or_else(ordered)
    }

    pub(super) fn settle_second_trades(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        let listed: BTreeMap<_, _> =
            (listing.trades.iter().rev()).map(|report| (VenueId::truncated(&report.id), report)).collect();
        for trade in self.session.session().second_trades().to_vec() {
            let scale = self.session.scale();
            let report = listed.get(&trade.venue_id);
            let profit = report.and_then(|report| reported_profit(report, trade.stake, scale));
            if let Some(profit) = profit {
                let SecondTrade { intent, venue_id, .. } = trade;
                self.handle(step.now, EventKind::SecondTradeSettled { intent, venue_id, profit }, step);
            }
        }
        self.schedule_second_trade_check(step.now + RECHECK_INTERVAL);
    }

    pub(super) fn schedule_second_trade_check(&mut self, at: Millis) {
        if !self.session.session().second_trades().is_empty() {
            self.agenda.add(at, Job::Trades);
        }
    }
}

fn reported_symbol(report: &TradeReport) -> &str {
    report.symbol.as_deref().unwrap_or("an unknown symbol")
}
