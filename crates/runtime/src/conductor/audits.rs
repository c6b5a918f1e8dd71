//! Where the run's audits are fed, and what they find is kept and told.

use super::Conductor;
use crate::agenda::Job;
use crate::audit::{
    Audit, Finding, Quiet, Recomputed, Settlement, Terms, WalletReading, Weight, check_terms,
};
use crate::control::HALTED_BY_AUDIT;
use crate::request::{self, Asked};
use candlewick_api::model::{LastPrice, TradeRecord};
use candlewick_engine::{Control, EventKind, IntentId, IntentRow, IntentState, Settled};
use candlewick_sdk::{Candle, Millis, Money, Series, Symbol};
use serde_json::json;
use std::sync::Arc;

/// Settlements of an earlier run that are younger than this have their prices asked for, perhaps once more.
const RECALLED: Millis = Millis::from_seconds(600);

impl Conductor {
    /// Counts looks and findings, keeps the findings, and tells those that a person must see.
    fn found(&mut self, audit: Audit, looks: usize, findings: Vec<Finding>) {
        self.audits.count(audit, looks, findings.len());
        let now = self.clock.now();
        for finding in findings {
            if finding.weight == Weight::Alarm {
                self.warn(&finding.text);
            } else {
                tracing::info!("{}", finding.text);
            }
            self.journal.note(now, json!({ "audit": finding.audit, "finding": finding.text }).to_string());
        }
    }

    /// A trade's record against its intent. A trade on another account than asked for halts at once.
    pub(super) fn audit_terms(&mut self, intent: IntentId, record: &TradeRecord) {
        let Some(approved) = self.book.row(intent).map(|row| row.approved) else { return };
        let (terms, findings) = check_terms(intent, &self.order_of(&approved), record);
        self.found(Audit::Terms, 1, findings);
        if terms == Terms::OtherAccount && self.halted.is_none() {
            self.tell(self.clock.now(), EventKind::Control { control: Control::Halt });
            self.alarm(&format!("halted: {HALTED_BY_AUDIT}"));
            self.halted = Some(HALTED_BY_AUDIT.to_owned());
        }
    }

    /// What a trade pays, as its record tells.
    pub(super) fn audit_payout(&mut self, intent: IntentId, payout: Option<candlewick_sdk::Payout>) {
        let symbol = self.book.row(intent).map(|row| self.session.symbols()[row.approved.symbol().index()]);
        if let (Some(symbol), Some(payout)) = (symbol, payout) {
            let finding = self.audits.payouts.take(symbol, payout);
            self.found(Audit::Payout, 1, finding.into_iter().collect());
        }
    }

    /// Candles of an answer against those of earlier ones, and, where they are new, the polled prices against them.
    pub(super) fn audit_candles(&mut self, series: Series, candles: &[Candle]) {
        let (seen, findings) = self.audits.revisions.take(series, candles);
        self.found(Audit::Revision, seen, findings);
    }

    /// A new candle against the prices that were polled while it formed.
    pub(super) fn audit_prices(&mut self, series: Series, candle: &Candle) {
        let (checked, findings) = self.audits.prices.check(series, candle);
        self.found(Audit::Price, checked, findings);
    }

    pub(super) fn note_price(&mut self, symbol: Symbol, price: &LastPrice) {
        if let LastPrice::Record(record) = price {
            self.audits.prices.polled(symbol, record.time, record.close_price);
        }
    }

    /// The wallet against the ledger; a movement that nothing explains is booked.
    pub(super) fn audit_wallet(&mut self, wallet: Money) {
        let now = self.clock.now();
        let free = self.session.ledger().free();
        let is_under_way = self.session.ledger().open_stakes().is_positive() || !self.outbox.is_empty();
        let quiet = if is_under_way || self.has_doubt() { Quiet::No } else { Quiet::Yes };
        // A wallet may follow a list that lags, and lag itself.
        let patience = Millis::from_seconds(60) + self.resolver.list_lag() * 2;
        let findings = match self.audits.wallet.read((wallet, free), quiet, now, patience) {
            WalletReading::Unquiet => return,
            WalletReading::Agrees => Vec::new(),
            WalletReading::Differs => {
                // Soon again, to be sure.
                self.agenda.add(now + Millis::from_seconds(11), Job::Wallets);
                Vec::new()
            }
            WalletReading::Moved(amount) => {
                self.tell(now, EventKind::Deposit { amount });
                let scale = self.session.money_scale();
                let (verb, size) =
                    if amount.is_positive() { ("came into", amount) } else { ("left", -amount) };
                let text = format!("{} {verb} the wallet, and no trade explains it", scale.to_decimal(size));
                vec![Finding::alarm(Audit::Wallet, text)]
            }
        };
        self.found(Audit::Wallet, 1, findings);
    }

    /// What the client has met that it does not know.
    pub(super) fn audit_schema(&mut self) {
        let findings = self.audits.take_drift(self.drift.snapshot());
        for finding in findings {
            self.found(Audit::Schema, 0, vec![finding]);
        }
    }

    /// A settlement against its payout and its own prices; those against the price records as soon as they are asked for.
    pub(super) fn audit_settlement(&mut self, settled: &Settled) {
        let Some(row) = self.book.row(settled.intent) else { return };
        let approved = row.approved;
        let settlement = Settlement {
            intent: settled.intent,
            symbol: self.session.symbols()[approved.symbol().index()],
            direction: approved.direction(),
            stake: approved.stake(),
            payout: settled.payout.or(row.payout),
            outcome: settled.outcome,
            profit: settled.profit,
            open: settled.open_time.or(row.open_time).zip(settled.open_price.or(row.open_price)),
            close: settled.close_time.or(row.close_time).zip(settled.close_price),
        };
        let findings = self.audits.settlements.take(settlement);
        self.found(Audit::Settlement, 1, findings);
        if self.settings.audit_settlement_prices {
            self.agenda.add(self.clock.now(), Job::Audit);
        }
    }

    /// What an earlier run knew of an intent: its payout, and its settlement if that is so young that its prices may not
    /// have been asked for before the run ended.
    pub(super) fn recall_audits(&mut self, row: &IntentRow, now: Millis) {
        let approved = row.approved;
        let symbol = self.session.symbols()[approved.symbol().index()];
        if let Some(payout) = row.payout {
            self.audits.payouts.recall(symbol, payout);
        }
        let is_young = row.settled_at.is_some_and(|at| now - at < RECALLED);
        if let Some(outcome) = row.outcome.filter(|_| is_young && self.settings.audit_settlement_prices) {
            self.audits.settlements.recall(Settlement {
                intent: approved.intent(),
                symbol,
                direction: approved.direction(),
                stake: approved.stake(),
                payout: row.payout,
                outcome,
                profit: row.profit,
                open: row.open_time.zip(row.open_price),
                close: row.close_time.zip(row.close_price),
            });
            self.agenda.add(now, Job::Audit);
        }
    }

    /// Asks for the price records of one settlement at a time, so that audits never crowd out what trades.
    pub(super) fn ask_audit(&mut self) {
        if self.asked.values().any(|asked| *asked == Asked::Job(Job::Audit)) {
            return;
        }
        if let Some(settlement) = self.audits.settlements.next() {
            let venue = Arc::clone(&self.venue);
            self.ask(Asked::Job(Job::Audit), request::recompute(venue, settlement));
        }
    }

    pub(super) fn hear_audit(&mut self, recomputed: Option<Recomputed>) {
        if let Some(recomputed) = recomputed {
            let (checked, findings) = recomputed.check();
            self.found(Audit::Settlement, checked, findings);
        }
        self.ask_audit();
    }

    /// Whether an intent is unanswered, or its trade may yet be found: its money may have moved unseen.
    fn has_doubt(&self) -> bool {
        let in_doubt = |state| matches!(state, IntentState::InDoubt | IntentState::InFlight);
        self.resolver.next_look().is_some() || self.book.rows().iter().any(|row| in_doubt(row.state))
    }
}
