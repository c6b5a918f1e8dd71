//! Detects other programs on the same wallet.
//!
//! Once the wallet shows unexplained money, the venue's list is searched for foreign trades. The
//! list is the proof; a deposit is not one.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use crate::audit::{Audit, Finding};
use candlewick_broker::{Progress, TradeListing, TradeReport};
use candlewick_engine::IntentState;
use candlewick_sdk::{Millis, Money};

const LOOK_EVERY: Millis = Millis::from_seconds(30);
const REMEMBERED: Millis = Millis::from_seconds(3_600);

#[derive(Debug, Default)]
pub(crate) struct Strangers {
    looked: Option<Millis>,
    wanted: Option<Money>,
    asked: Option<Money>,
    /// Surplus for which a complete list showed no foreign trade. Not searched again.
    seen: Money,
    has_begun: bool,
    last: Option<(String, Millis)>,
}

impl Strangers {
    pub(super) fn note(&mut self, report: &TradeReport, now: Millis) {
        self.last = Some((words(report), now));
        // More of them may be listed soon.
        self.asked = None;
    }

    pub(super) fn begin_look(&mut self) {
        self.asked = self.wanted.take();
    }

    pub(super) fn end_look(&mut self, is_whole: bool) {
        if let Some(surplus) = self.asked.take().filter(|_| is_whole) {
            self.seen = surplus;
        }
    }
}

impl Coordinator {
    pub(super) fn look_for_strangers(&mut self, wallet: Money, patience: Millis, now: Millis) {
        let surplus = wallet - self.session.ledger().free();
        let unseen = surplus - self.strangers.seen;
        // Without routine looks the list is left alone.
        if (surplus, unseen) == (Money::ZERO, Money::ZERO) || self.doubts.next_routine_look(now).is_none() {
            return;
        }
        let Some(own) = self.own_amounts() else { return };
        let may_be_ours = |amount: Money| self.audits.wallet.may_be_ours(amount, own.clone(), now, patience);
        // Our own trades move the wallet on beside what was looked at.
        if may_be_ours(unseen) {
            return;
        }
        if may_be_ours(surplus) {
            self.strangers.seen = Money::ZERO;
        } else if self.strangers.looked.is_none_or(|at| now - at >= LOOK_EVERY) {
            self.strangers.looked = Some(now);
            self.strangers.wanted = Some(surplus);
            self.agenda.add(now, Job::Trades);
        }
    }

    /// Returns amounts of our trades that the wallet may show before the ledger, `None` if unknown.
    fn own_amounts(&self) -> Option<Vec<Money>> {
        let is_unclear = self.doubts.next_look().is_some()
            || self.session.has_unclear_intent()
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

    /// Reports foreign trades that were open before the run, once.
    ///
    /// Uses the first complete list that arrives while no intent is pending or in doubt.
    pub(super) fn look_at_open_trades(&mut self, listing: &TradeListing, step: &mut Step<'_>) {
        if self.strangers.has_begun || self.session.has_unclear_intent() {
            return;
        }
        self.strangers.has_begun = true;
        let (ours, uncertainty) = (self.session.account(), self.skew.uncertainty());
        let refused = self.doubts.refused(&self.session, step.now);
        let is_anothers = |report: &&TradeReport| {
            report.progress == Progress::Running
                && report.from_token != Some(false)
                && report.other_user.is_none()
                && report.account.is_none_or(|account| account == ours)
                && report.close_time.is_some_and(|close| close > step.now)
                && !self.doubts.is_claimed(&report.id)
                && !self.doubts.is_reported(&report.id)
                // What was taken as not opened may appear late.
                && self.doubts.asked_for_elsewhere(report, (&refused, uncertainty)).is_none()
        };
        let anothers: Vec<&TradeReport> = listing.trades.iter().filter(is_anothers).collect();
        let Some(first) = anothers.first() else { return };
        let text = match anothers.len() {
            1 => format!("{} is open on the {ours} wallet, and this journal does not know it", words(first)),
            count => format!(
                "{count} trades are open on the {ours} wallet that this journal does not know, such as {}",
                words(first)
            ),
        };
        self.strangers.note(first, step.now);
        let text = format!("{text}: does another program trade this wallet?");
        self.found(Audit::Trades, 0, vec![Finding::alarm(Audit::Trades, text)], step);
    }

    pub(super) fn stranger_trouble(&self, now: Millis) -> Option<String> {
        let (words, at) = self.strangers.last.as_ref().filter(|(_, at)| now - *at < REMEMBERED)?;
        let minutes = (now - *at).get() / Millis::MINUTE.get();
        Some(format!(
            "another program may trade the wallet: {words}, found {minutes} min ago, is none of ours"
        ))
    }
}

fn words(report: &TradeReport) -> String {
    let symbol = report.symbol.as_deref().unwrap_or("an unknown symbol");
    let stake = report.amount.map(|amount| format!(" with {amount:.2}")).unwrap_or_default();
    format!("trade {} on {symbol}{stake}", report.id)
}
