//! Wallet readings, compared with the ledger at the start, periodically and at the end.

mod difference;

pub(super) use difference::is_later;

use super::Coordinator;
use super::agenda::Job;
use super::command::{Ask, Step};
use super::ending::WalletDifference;
use super::event_queue::Place;
use super::input::RequestId;
use crate::audit::{
    APART, Audit, BonusWallets, Finding, NameCheck, Reading, UnderWayMoney, WalletReading, WalletState,
};
use candlewick_broker::{Account, Balances, BrokerError, Reply};
use candlewick_engine::{EventKind, IntentState};
use candlewick_sdk::{Millis, Money};

const LAST_PAUSE: Millis = Millis::from_seconds(2);
const LAST_PATIENCE: Millis = Millis::from_seconds(30);

#[derive(Debug, Default)]
pub(crate) struct WalletWatch {
    first: Option<Reply<Balances>>,
    last: Option<Money>,
    read_at: Option<Millis>,
    ending: LastReading,
    named: Option<(String, Money)>,
    changed: Option<Millis>,
    is_halting: bool,
    /// Part of the difference that came from outside: our trades cannot explain it, or it halted
    /// the run.
    from_outside: Money,
    other: Option<String>,
    /// Deposit or withdrawal seen only by the last reading; the next run books it.
    unbooked: Money,
}

#[derive(Clone, Copy, Debug, Default)]
enum LastReading {
    #[default]
    NotBegun,
    Until(Millis),
    Done,
}

impl WalletWatch {
    pub(super) fn new(first: Option<Reply<Balances>>) -> Self {
        Self { first, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug)]
struct WalletRead {
    wallet: Money,
    bonus: Option<Money>,
    sent: Millis,
}

impl Coordinator {
    pub(super) fn first_wallet(&self) -> Option<Money> {
        let balance = self.wallet.first.as_ref()?.value.of(self.session.account())?;
        self.session.money(balance)
    }

    pub(super) fn read_first_wallet(&mut self, step: &mut Step<'_>) {
        let difference = self.session.ledger().difference();
        self.audits.wallet.begin(difference);
        self.wallet.changed = (difference != Money::ZERO).then_some(step.now - self.wallet_patience());
        let Some(reply) = self.wallet.first.take() else { return };
        if let Some(read) = self.wallet_read(&reply, step) {
            self.audit_wallet(read, 0, step);
        }
        // An earlier run may have ended before it reported the difference.
        self.name_difference(false, step);
    }

    pub(super) fn on_balances(&mut self, answer: Result<Reply<Balances>, BrokerError>, step: &mut Step<'_>) {
        if let Some(at) = self.next_balances(step.now) {
            self.agenda.add(at, Job::Balances);
        }
        let is_last = matches!(self.wallet.ending, LastReading::Until(_));
        match answer {
            Ok(reply) => {
                let balance = reply.value.of(self.session.account());
                self.check_wallet(balance.and_then(|balance| self.session.money(balance)), step);
                if let Some(read) = self.wallet_read(&reply, step) {
                    // A last reading that agrees is no news for the journal.
                    if !is_last {
                        self.events.add(step.now, Place::Balance, EventKind::Balance { amount: read.wallet });
                    }
                    self.audit_wallet(read, 1, step);
                } else if self.missing_wallet().is_some() && is_last {
                    self.agenda.add(step.now + LAST_PAUSE, Job::Balances);
                } else if is_last {
                    self.wallet.ending = LastReading::Done;
                }
            }
            Err(error) => {
                if is_last && self.has_unread_trades() {
                    self.agenda.add(step.now + LAST_PAUSE, Job::Balances);
                } else if is_last {
                    self.wallet.ending = LastReading::Done;
                }
                self.warn_of("no wallets", &error, step);
            }
        }
    }

    /// Returns the balance, `None` if the venue omits it or shows other wallets than before.
    pub(super) fn wallet_amount(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) -> Option<Money> {
        self.wallet_read(reply, step).map(|read| read.wallet)
    }

    fn wallet_read(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) -> Option<WalletRead> {
        let (account, balances) = (self.session.account(), &reply.value);
        let wallet = balances.of(account).and_then(|balance| self.session.money(balance))?;
        match self.audits.wallet.check_names(&balances.wallets_of(account)) {
            NameCheck::Known => {}
            NameCheck::New(wallets) => {
                self.session.journal.note(serde_json::json!({ "wallets": wallets }).to_string(), step);
            }
            NameCheck::Other { known, found } => {
                let text = format!(
                    "the venue shows other {account} wallets: {found} where there was {known}; the ledger is not \
                     compared with them until `candlewick resume` accepts them"
                );
                if self.wallet.other.as_ref() != Some(&text) {
                    self.wallet.other = Some(text.clone());
                    self.halt_or_alarm(text, step);
                }
                return None;
            }
        }
        let bonus = balances.bonus.and_then(|bonus| self.session.money(bonus));
        Some(WalletRead { wallet, bonus, sent: reply.sent.min(step.now) })
    }

    fn check_wallet(&mut self, amount: Option<Money>, step: &mut Step<'_>) {
        let state = match amount {
            None => WalletState::Missing,
            Some(amount) if amount < Money::ZERO => WalletState::BelowZero,
            Some(_) => WalletState::Sound,
        };
        if self.audits.wallet.has_new_trouble(state) {
            let account = self.session.account();
            let text = match amount {
                None => describe_missing(account),
                Some(amount) => {
                    format!("the {account} wallet holds {}", self.session.scale().to_decimal(amount))
                }
            };
            self.session.alarm(text, step);
        }
    }

    pub(super) fn missing_wallet(&self) -> Option<String> {
        let is_missing =
            self.audits.wallet.state() == WalletState::Missing && self.settings.wallet_every_s > 0;
        is_missing.then(|| describe_missing(self.session.account()))
    }

    pub(super) fn unread_wallet(&self) -> Option<String> {
        let is_compared = self.settings.wallet_every_s > 0 && self.token_refused.is_none();
        let is_over = matches!(self.wallet.ending, LastReading::Done);
        let account = self.session.account();
        (is_compared && is_over && self.has_unread_trades()).then(|| {
            format!(
                "the {account} wallet could not be read after the last trades: what it holds is not known"
            )
        })
    }

    fn has_unread_trades(&self) -> bool {
        let is_unread = |at: Millis| self.wallet.read_at.is_none_or(|read| at > read);
        self.session.book().rows().iter().filter_map(|row| row.settled_at).any(is_unread)
    }

    pub(super) fn audit_wallet_after_trades(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) {
        if self.settings.wallet_every_s > 0
            && let Some(read) = self.wallet_read(reply, step)
        {
            self.audit_wallet(read, 0, step);
        }
    }

    fn audit_wallet(&mut self, read: WalletRead, looks: usize, step: &mut Step<'_>) {
        let now = step.now;
        (self.wallet.last, self.wallet.read_at) = (Some(read.wallet), Some(read.sent));
        let patience = self.wallet_patience();
        self.look_for_strangers(read.wallet, patience, now);
        let under_way = self.under_way_money(now);
        let lag = Millis::new(i64::from(self.settings.wallet_lag_ms));
        let is_last = match self.wallet.ending {
            LastReading::Until(end) => now + LAST_PAUSE >= end,
            LastReading::NotBegun | LastReading::Done => false,
        };
        let reading = Reading {
            wallet: read.wallet,
            bonus: read.bonus,
            free: self.session.ledger().free(),
            under_way: &under_way,
            sent: read.sent,
            lag,
            patience,
            is_last,
        };
        let is_new = !self.audits.wallet.has_suspect();
        let bonus = self.audits.wallet.bonus();
        let result = self.audits.wallet.read(&reading);
        self.note_bonus(bonus, step);
        let is_settled = match result {
            WalletReading::Agrees => {
                self.record_difference(self.audits.wallet.confirmed(), step);
                let is_exact = reading.wallet == reading.free + self.audits.wallet.confirmed();
                is_exact && !self.audits.wallet.may_hide_changes(&reading) || is_last
            }
            WalletReading::Differs { difference } => {
                self.record_difference(difference, step);
                self.agenda.add(now + APART + Millis::SECOND, Job::Balances);
                // The list shows a changed result before the difference is taken for a movement.
                if is_new && !self.is_simulated && self.doubts.next_routine_look(now).is_some() {
                    self.agenda.add(now, Job::Trades);
                }
                false
            }
            WalletReading::Settled { surplus } => {
                self.book_surplus(surplus, step);
                true
            }
            WalletReading::Confirmed { step: change, may_be_of_trades } => {
                let is_ending = matches!(self.wallet.ending, LastReading::Until(_));
                if is_ending {
                    self.handle(now, EventKind::Balance { amount: read.wallet }, step);
                }
                if is_ending && !may_be_of_trades {
                    self.wallet.unbooked = change;
                    self.record_difference(self.audits.wallet.confirmed(), step);
                } else {
                    self.confirm_difference(change, may_be_of_trades, step);
                }
                true
            }
        };
        if looks > 0 {
            self.found(Audit::Wallet, looks, Vec::new(), step);
        }
        if let LastReading::Until(_) = self.wallet.ending {
            if is_settled {
                self.wallet.ending = LastReading::Done;
            } else {
                self.agenda.add(now + LAST_PAUSE, Job::Balances);
            }
        }
    }

    fn note_bonus(&mut self, before: BonusWallets, step: &mut Step<'_>) {
        let bonus = self.audits.wallet.bonus();
        if bonus != before {
            self.session.journal.note(serde_json::json!({ "bonus_wallets": bonus }).to_string(), step);
        }
    }

    /// Returns the maximum delay of the wallet. It may follow a lagging list and lag itself.
    fn wallet_patience(&self) -> Millis {
        Millis::from_seconds(60) + self.doubts.list_lag() * 2
    }

    fn under_way_money(&self, now: Millis) -> UnderWayMoney {
        let mut money = UnderWayMoney::default();
        let mut unknown = Money::ZERO;
        let mut largest = Money::ZERO;
        let is_reserved = |intent| self.session.session().reserved().any(|reserved| reserved == intent);
        for row in self.session.book().rows() {
            let stake = row.approved.stake();
            largest = largest.max(stake);
            match row.state {
                IntentState::Open => {
                    money.is_settling |= row.close_time.is_none_or(|close| close <= now);
                    let won = row.payout.map(|payout| stake + stake.profit_at(payout));
                    if won.is_none() {
                        unknown += stake;
                    }
                    money.amounts.push([stake].into_iter().chain(won).collect());
                }
                IntentState::InFlight | IntentState::InDoubt => {
                    money.amounts.push(vec![stake]);
                    unknown += stake;
                }
                // Once its stake is released, money that moves is nobody's.
                IntentState::NotOpened if is_reserved(row.approved.intent()) => unknown += stake,
                IntentState::NotOpened
                | IntentState::Settled
                | IntentState::Rejected
                | IntentState::NotSent => {}
            }
        }
        unknown += self.session.session().second_trades().iter().map(|trade| trade.stake).sum();
        // An order may have become another trade, or the wallet may follow either of two contradicting results.
        if self.session.session().reserved().next().is_some() || self.contradictions.is_pending() {
            unknown += largest + largest;
        }
        money.unknown = self.largest_return(unknown);
        money
    }

    fn largest_return(&self, stakes: Money) -> Money {
        let percent = 100 + i64::from(self.settings.max_payout_percent);
        Money::from_minor(stakes.minor().saturating_mul(percent) / 100)
    }

    pub(super) fn awaits_last_wallet(&mut self, step: &mut Step<'_>) -> bool {
        match self.wallet.ending {
            LastReading::Done => false,
            LastReading::Until(end) if step.now >= end && !self.requests.has(RequestId::Balances) => {
                self.wallet.ending = LastReading::Done;
                false
            }
            LastReading::Until(_) => true,
            LastReading::NotBegun if self.settings.wallet_every_s == 0 || self.token_refused.is_some() => {
                self.wallet.ending = LastReading::Done;
                false
            }
            LastReading::NotBegun => {
                let setting = Millis::new(i64::from(self.settings.wallet_lag_ms));
                let patience = (self.audits.wallet.lag(setting) + LAST_PAUSE * 2).min(LAST_PATIENCE);
                self.wallet.ending = LastReading::Until(step.now + patience);
                if !self.requests.has(RequestId::Balances) {
                    self.requests.begin(RequestId::Balances);
                    step.ask(Ask::Balances);
                }
                true
            }
        }
    }

    pub(super) fn last_difference(&self) -> Option<WalletDifference> {
        let amount = self.session.ledger().difference() + self.wallet.unbooked;
        WalletDifference::of(amount, |amount| self.describe_difference(amount))
    }

    pub(super) fn last_wallet(&self) -> Option<Money> {
        self.wallet.last.or(self.session.ledger().wallet())
    }

    fn found_of_wallet(&mut self, text: String, step: &mut Step<'_>) {
        self.found(Audit::Wallet, 0, vec![Finding::alarm(Audit::Wallet, text)], step);
    }
}

fn describe_missing(account: Account) -> String {
    format!("the venue shows no {account} wallet: what it holds is not known")
}
