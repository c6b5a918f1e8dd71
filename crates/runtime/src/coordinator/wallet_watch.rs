//! Reads the wallet and compares its balance with the ledger.

use super::Coordinator;
use super::agenda::{EventRank, Job};
use super::command::{ReadRequest, RequestId, Step};
use super::ending::WalletDifference;
use crate::audit::{
    Audit, BonusWallets, CONFIRMATION_INTERVAL, Finding, InFlightMoney, NameCheck, ReadingOutcome,
    WalletReading, WalletState, magnitude,
};
use candlewick_broker::{Account, Balances, BrokerError, Reply};
use candlewick_engine::{Control, EventKind, IntentRow, IntentState};
use candlewick_sdk::{Millis, Money, Outcome};

const LAST_READING_DELAY: Millis = Millis::from_seconds(2);
const LAST_READING_TIMEOUT: Millis = Millis::from_seconds(30);

#[derive(Debug, Default)]
pub(crate) struct WalletWatch {
    first: Option<Reply<Balances>>,
    last: Option<Money>,
    read_at: Option<Millis>,
    ending: LastReading,
    named: Option<(String, Money)>,
    changed: Option<Millis>,
    is_halting: bool,
    /// Large wallet changes that count as deposits or withdrawals and are booked when the run resumes.
    from_outside: Money,
    other: Option<String>,
    /// Deposit or withdrawal found by the run's last wallet reading. The next run books this amount.
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
struct WalletSample {
    wallet: Money,
    bonus: Option<Money>,
    sent: Millis,
}

impl Coordinator {
    pub(super) fn first_wallet_balance(&self) -> Option<Money> {
        let balance = self.wallet.first.as_ref()?.value.balance(self.session.account)?;
        self.session.money(balance)
    }

    pub(super) fn read_first_wallet(&mut self, step: &mut Step<'_>) {
        let difference = self.session.ledger().wallet_difference();
        self.audits.wallet.confirmed = difference;
        self.wallet.changed = (difference != Money::ZERO).then_some(step.now - self.wallet_grace_period());
        let Some(reply) = self.wallet.first.take() else { return };
        if let Some(read) = self.read_wallet(&reply, step) {
            self.audit_wallet(read, 0, step);
        }
        // An earlier run may have ended before it reported this difference, so it is reported here.
        self.report_difference(false, step);
    }

    pub(super) fn on_balances(&mut self, answer: Result<Reply<Balances>, BrokerError>, step: &mut Step<'_>) {
        if let Some(at) = self.next_balance_poll(step.now) {
            self.agenda.add(at, Job::Balances);
        }
        let is_last = matches!(self.wallet.ending, LastReading::Until(_));
        match answer {
            Ok(reply) => {
                let balance = reply.value.balance(self.session.account);
                self.check_wallet(balance.and_then(|balance| self.session.money(balance)), step);
                if let Some(read) = self.read_wallet(&reply, step) {
                    // The last reading is not journaled if the wallet agrees with the ledger.
                    if !is_last {
                        let kind = EventKind::Balance { amount: read.wallet };
                        self.events.add(step.now, EventRank::Balance, kind);
                    }
                    self.audit_wallet(read, 1, step);
                } else if self.describe_missing_wallet().is_some() && is_last {
                    self.agenda.add(step.now + LAST_READING_DELAY, Job::Balances);
                } else if is_last {
                    self.wallet.ending = LastReading::Done;
                }
            }
            Err(error) => {
                if is_last && self.is_reading_outdated() {
                    self.agenda.add(step.now + LAST_READING_DELAY, Job::Balances);
                } else if is_last {
                    self.wallet.ending = LastReading::Done;
                }
                self.warn_request_failed("the wallets could not be read", &error, step);
            }
        }
    }

    /// Returns the wallet balance. `None` if the venue omits the balance, or lists different wallets than before.
    pub(super) fn wallet_amount(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) -> Option<Money> {
        self.read_wallet(reply, step).map(|read| read.wallet)
    }

    fn read_wallet(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) -> Option<WalletSample> {
        let (account, balances) = (self.session.account, &reply.value);
        let wallet = balances.balance(account).and_then(|balance| self.session.money(balance))?;
        match self.audits.wallet.check_names(&balances.account_wallets(account)) {
            NameCheck::Known => {}
            NameCheck::New(wallets) => {
                self.session.journal.note(serde_json::json!({ "wallets": wallets }).to_string(), step);
            }
            NameCheck::Other { known, found } => {
                let text = format!(
                    "the venue lists different {account} wallets: {found} instead of {known}. The wallet is not \
                     compared with the ledger until you run `candlewick resume`"
                );
                if self.wallet.other.as_ref() != Some(&text) {
                    self.wallet.other = Some(text.clone());
                    self.halt_or_alarm(text, step);
                }
                return None;
            }
        }
        let bonus = balances.bonus.and_then(|bonus| self.session.money(bonus));
        Some(WalletSample { wallet, bonus, sent: reply.sent.min(step.now) })
    }

    fn check_wallet(&mut self, amount: Option<Money>, step: &mut Step<'_>) {
        let state = match amount {
            None => WalletState::Missing,
            Some(amount) if amount < Money::ZERO => WalletState::BelowZero,
            Some(_) => WalletState::Sound,
        };
        if self.audits.wallet.set_state(state) {
            let account = self.session.account;
            let text = match amount {
                None => missing_wallet_message(account),
                Some(amount) => {
                    format!("the {account} wallet holds {}", self.session.scale().to_decimal(amount))
                }
            };
            self.session.alarm(text, step);
        }
    }

    pub(super) fn describe_missing_wallet(&self) -> Option<String> {
        let is_missing = self.audits.wallet.state == WalletState::Missing && self.settings.wallet_every_s > 0;
        is_missing.then(|| missing_wallet_message(self.session.account))
    }

    pub(super) fn describe_unread_wallet(&self) -> Option<String> {
        let is_compared = self.settings.wallet_every_s > 0 && self.token_refused.is_none();
        let is_over = matches!(self.wallet.ending, LastReading::Done);
        let account = self.session.account;
        (is_compared && is_over && self.is_reading_outdated()).then(|| {
            format!("the {account} wallet could not be read after the last trades: its balance is unknown")
        })
    }

    fn is_reading_outdated(&self) -> bool {
        let is_unread = |at: Millis| self.wallet.read_at.is_none_or(|read| at > read);
        self.session.book().rows().iter().filter_map(|row| row.settled_at).any(is_unread)
    }

    pub(super) fn audit_wallet_after_trades(&mut self, reply: &Reply<Balances>, step: &mut Step<'_>) {
        if self.settings.wallet_every_s > 0
            && let Some(read) = self.read_wallet(reply, step)
        {
            self.audit_wallet(read, 0, step);
        }
    }

    fn audit_wallet(&mut self, read: WalletSample, readings: usize, step: &mut Step<'_>) {
        let now = step.now;
        (self.wallet.last, self.wallet.read_at) = (Some(read.wallet), Some(read.sent));
        let patience = self.wallet_grace_period();
        self.search_foreign_trades(read.wallet, patience, now);
        let under_way = self.in_flight_money(now);
        let lag = Millis::new(i64::from(self.settings.wallet_lag_ms));
        let is_last = match self.wallet.ending {
            LastReading::Until(end) => now + LAST_READING_DELAY >= end,
            LastReading::NotBegun | LastReading::Done => false,
        };
        let reading = WalletReading {
            wallet: read.wallet,
            bonus: read.bonus,
            free: self.session.ledger().free_balance(),
            in_flight: &under_way,
            sent: read.sent,
            lag,
            grace_period: patience,
            is_last,
        };
        let is_new = !self.audits.wallet.has_suspected_difference();
        let bonus = self.audits.wallet.bonus;
        let result = self.audits.wallet.check(&reading);
        self.journal_bonus_wallets(bonus, step);
        let is_settled = match result {
            ReadingOutcome::Agrees => {
                self.record_difference(self.audits.wallet.confirmed, step);
                let is_exact = reading.wallet == reading.free + self.audits.wallet.confirmed;
                is_exact && !self.audits.wallet.may_hide_changes(&reading) || is_last
            }
            ReadingOutcome::Differs { difference } => {
                self.record_difference(difference, step);
                self.agenda.add(now + CONFIRMATION_INTERVAL + Millis::SECOND, Job::Balances);
                // A changed result in the trade list may explain the difference, so the list is requested.
                if is_new && !self.is_simulated && self.doubts.next_routine_poll(now).is_some() {
                    self.agenda.add(now, Job::Trades);
                }
                false
            }
            ReadingOutcome::Settled { surplus } => {
                self.book_surplus(surplus, step);
                true
            }
            ReadingOutcome::Confirmed { step: change, may_be_of_trades } => {
                let is_ending = matches!(self.wallet.ending, LastReading::Until(_));
                if is_ending {
                    self.handle(now, EventKind::Balance { amount: read.wallet }, step);
                }
                if is_ending && !may_be_of_trades {
                    self.wallet.unbooked = change;
                    self.record_difference(self.audits.wallet.confirmed, step);
                } else {
                    self.confirm_difference(change, may_be_of_trades, step);
                }
                true
            }
        };
        if readings > 0 {
            self.report_findings(Audit::Wallet, readings, Vec::new(), step);
        }
        if let LastReading::Until(_) = self.wallet.ending {
            if is_settled {
                self.wallet.ending = LastReading::Done;
            } else {
                self.agenda.add(now + LAST_READING_DELAY, Job::Balances);
            }
        }
    }

    fn journal_bonus_wallets(&mut self, before: BonusWallets, step: &mut Step<'_>) {
        let bonus = self.audits.wallet.bonus;
        if bonus != before {
            self.session.journal.note(serde_json::json!({ "bonus_wallets": bonus }).to_string(), step);
        }
    }

    fn wallet_grace_period(&self) -> Millis {
        Millis::from_seconds(60) + self.doubts.resolver.lag.allowance() * 2
    }

    fn in_flight_money(&self, now: Millis) -> InFlightMoney {
        let mut money = InFlightMoney::default();
        let mut unknown = Money::ZERO;
        let mut largest = Money::ZERO;
        let is_reserved =
            |intent| self.session.session().reserved_intents().any(|reserved| reserved == intent);
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
                // A stake that was released explains no difference. A stake that is still reserved may explain one.
                IntentState::NotOpened if is_reserved(row.approved.intent()) => unknown += stake,
                IntentState::NotOpened
                | IntentState::Settled
                | IntentState::Rejected
                | IntentState::NotSent => {}
            }
        }
        unknown += self.session.session().second_trades().iter().map(|trade| trade.stake).sum();
        // A reserved order may have opened with other terms. The wallet may also reflect a contradicting result.
        if self.session.session().reserved_intents().next().is_some() || self.contradictions.is_pending() {
            unknown += largest + largest;
        }
        let percent = 100 + i64::from(self.settings.max_payout_percent);
        money.max_unknown_returns = Money::from_minor(unknown.minor().saturating_mul(percent) / 100);
        money
    }

    pub(super) fn awaits_last_wallet_reading(&mut self, step: &mut Step<'_>) -> bool {
        match self.wallet.ending {
            LastReading::Done => false,
            LastReading::Until(end) if step.now >= end && !self.requests.contains(RequestId::Balances) => {
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
                let patience =
                    (self.audits.wallet.lag(setting) + LAST_READING_DELAY * 2).min(LAST_READING_TIMEOUT);
                self.wallet.ending = LastReading::Until(step.now + patience);
                if !self.requests.contains(RequestId::Balances) {
                    self.request(ReadRequest::Balances, step);
                }
                true
            }
        }
    }

    pub(super) fn last_difference(&self) -> Option<WalletDifference> {
        let amount = self.session.ledger().wallet_difference() + self.wallet.unbooked;
        WalletDifference::new(amount, |amount| self.describe_difference(amount))
    }

    pub(super) fn last_wallet_balance(&self) -> Option<Money> {
        self.wallet.last.or(self.session.ledger().wallet_balance())
    }

    fn report_wallet_finding(&mut self, text: String, step: &mut Step<'_>) {
        self.report_findings(Audit::Wallet, 0, vec![Finding::alarm(Audit::Wallet, text)], step);
    }
}

fn missing_wallet_message(account: Account) -> String {
    format!("the venue shows no {account} wallet: its balance is unknown")
}

impl Coordinator {
    fn record_difference(&mut self, amount: Money, step: &mut Step<'_>) {
        if self.session.ledger().wallet_difference() != amount {
            self.handle(step.now, EventKind::WalletDifference { amount }, step);
        }
    }

    fn confirm_difference(&mut self, change: Money, may_be_of_trades: bool, step: &mut Step<'_>) {
        let is_too_large = self.is_too_large(change);
        if may_be_of_trades || is_too_large {
            self.audits.wallet.confirm(change);
            self.wallet.changed = Some(step.now);
            if !may_be_of_trades {
                self.wallet.from_outside += change;
            } else if !self.is_too_large(self.audits.wallet.confirmed) {
                self.wallet.from_outside = Money::ZERO;
            } else if is_too_large && change.is_positive() {
                self.wallet.from_outside += change;
            }
            self.record_difference(self.audits.wallet.confirmed, step);
            self.report_difference(is_too_large, step);
            return;
        }
        self.audits.wallet.book(change);
        self.book_movement(change, step);
    }

    /// Books a lasting surplus as a deposit, without offsetting it against an earlier shortage.
    fn book_surplus(&mut self, surplus: Money, step: &mut Step<'_>) {
        let from_outside = self.wallet.from_outside;
        let amount = if from_outside == Money::ZERO { surplus } else { from_outside };
        if self.is_too_large(amount) {
            return;
        }
        if from_outside == Money::ZERO {
            self.audits.wallet.accept_difference();
        } else {
            self.wallet.from_outside = Money::ZERO;
            self.audits.wallet.confirm(-amount);
            self.audits.wallet.book(amount);
        }
        self.wallet.named = None;
        self.book_movement(amount, step);
        self.report_difference(false, step);
    }

    fn book_movement(&mut self, change: Money, step: &mut Step<'_>) {
        self.handle(step.now, EventKind::Deposit { amount: change }, step);
        self.record_difference(self.audits.wallet.confirmed, step);
        let (verb, size) = if change.is_positive() { ("entered", change) } else { ("left", -change) };
        let amount = self.session.scale().format(size);
        let text = format!("{amount} {verb} the wallet without a trade that explains it");
        self.report_wallet_finding(text, step);
    }

    fn report_difference(&mut self, is_too_large: bool, step: &mut Step<'_>) {
        let difference = self.audits.wallet.confirmed;
        if difference == Money::ZERO {
            if let Some((alarm, _)) = self.wallet.named.take() {
                let account = self.session.account;
                step.note(format!("the {account} wallet matches the trades again"), vec![alarm]);
            }
            return;
        }
        let text = self.describe_difference(difference);
        if is_too_large {
            let percent = self.settings.max_unexplained_percent;
            let text = format!(
                "{text}; the difference exceeds {percent} % of the equity (runtime.max_unexplained_percent). `candlewick \
                 resume` books the difference as a deposit or withdrawal"
            );
            self.wallet.named = Some((text.clone(), difference));
            self.wallet.is_halting = true;
            return self.halt_or_alarm(text, step);
        }
        let is_news = self.wallet.named.as_ref().is_none_or(|(_, named)| {
            named.is_positive() != difference.is_positive()
                || magnitude(difference) >= magnitude(*named).times(2)
        });
        if is_news {
            self.wallet.named = Some((text.clone(), difference));
            self.report_wallet_finding(text, step);
        }
    }

    pub(super) fn describe_difference(&self, difference: Money) -> String {
        let (account, scale) = (self.session.account, self.session.scale());
        let word = if difference.is_positive() { "more" } else { "less" };
        let amount = scale.format(magnitude(difference));
        let text = format!("the {account} wallet holds {amount} {word} than the trades explain");
        match self.guess_cause(difference) {
            Some(cause) => format!("{text}: {cause}"),
            None => text,
        }
    }

    fn guess_cause(&self, difference: Money) -> Option<String> {
        let since = self.audits.wallet.shown_until?;
        let rows = || self.session.book().rows().iter();
        let settled = |outcomes: &'static [Outcome]| {
            let is_one = move |row: &&IntentRow| {
                row.outcome.is_some_and(|outcome| outcomes.contains(&outcome))
                    && row.settled_at.is_some_and(|at| at > since)
            };
            let mut rows: Vec<&IntentRow> = rows().filter(is_one).collect();
            rows.sort_by_key(|row| row.settled_at);
            rows
        };
        let won = settled(&[Outcome::Won]);
        let returned = settled(&[Outcome::Draw, Outcome::Cancelled]);
        let stake = |row: &IntentRow| row.approved.stake();
        [
            (&won, UnpaidPart::Whole, ["win was not paid", "wins were not paid"]),
            (&won, UnpaidPart::Profit, ["win was paid without profit", "wins were paid without profit"]),
            (&won, UnpaidPart::Stake, ["win was paid without stake", "wins were paid without stake"]),
            (&returned, UnpaidPart::Stake, ["stake was not returned", "stakes were not returned"]),
        ]
        .into_iter()
        .find_map(|(rows, part, [one, many])| {
            let mut missing = Money::ZERO;
            let count = 1 + rows.iter().position(|row| {
                missing += match part {
                    UnpaidPart::Whole => stake(row) + row.profit,
                    UnpaidPart::Profit => row.profit,
                    UnpaidPart::Stake => stake(row),
                };
                missing == -difference
            })?;
            let first = rows.iter().take(count).map(|row| row.approved.intent()).min()?;
            let words = if count == 1 { one } else { many };
            Some(format!("{count} {words}, the first is trade #{first}"))
        })
        .or_else(|| {
            let first = rows().find(|row| has_changed_since(row, since))?.approved.intent();
            Some(format!("wallet and trades last agreed before trade #{first}"))
        })
    }

    pub(super) fn halt_or_alarm(&mut self, text: String, step: &mut Step<'_>) {
        if self.session.halt_reason().is_some() {
            self.session.alarm(text, step);
        } else {
            self.halt(text, step);
        }
    }

    fn is_too_large(&self, change: Money) -> bool {
        let percent = f64::from(self.settings.max_unexplained_percent);
        let equity = self.session.ledger().equity().max(Money::ZERO);
        percent > 0.0 && magnitude(change) > equity.mul_rounded_down(percent / 100.0)
    }

    /// Resumes the run, accepts the venue's current list of wallets, and books a wallet difference that halted the run.
    /// Also books any other difference that has outlasted the grace period, if no money is in flight.
    pub(super) fn resume(&mut self, step: &mut Step<'_>) {
        let difference = self.audits.wallet.confirmed;
        let is_compared = self.wallet.other.is_none();
        let has_lasted =
            is_compared && self.wallet.changed.is_some_and(|at| step.now - at >= self.wallet_grace_period());
        let is_quiet = self.in_flight_money(step.now) == InFlightMoney::default();
        let is_accepted = std::mem::take(&mut self.wallet.is_halting) || has_lasted && is_quiet;
        let from_outside = std::mem::take(&mut self.wallet.from_outside);
        if is_accepted && from_outside != Money::ZERO {
            // The deposit must not cancel out an earlier shortage.
            self.audits.wallet.confirm(-from_outside);
            self.audits.wallet.book(from_outside);
            self.handle(step.now, EventKind::Deposit { amount: from_outside }, step);
        }
        // The confirmed difference is recorded first, because the session books the recorded difference.
        let accepted = if is_accepted { self.audits.wallet.confirmed } else { Money::ZERO };
        self.record_difference(accepted, step);
        if is_accepted {
            self.audits.wallet.accept_difference();
            self.wallet.named = None;
            if difference != Money::ZERO {
                let amount = self.session.scale().format(difference);
                step.log_warning(format!("resumed and booked the wallet difference of {amount}"));
            }
        }
        if self.wallet.other.take().is_some() {
            self.audits.wallet.names = None;
        }
        self.apply_control(Control::Resume, step);
        self.record_difference(self.audits.wallet.confirmed, step);
    }

    pub(super) fn wallet_problems(&self) -> impl Iterator<Item = String> {
        let difference = self.audits.wallet.confirmed;
        let difference = (difference != Money::ZERO).then(|| self.describe_difference(difference));
        difference.into_iter().chain(self.wallet.other.clone())
    }
}

pub(super) fn has_changed_since(row: &IntentRow, moment: Millis) -> bool {
    row.settled_at.or(row.answered_at).is_some_and(|at| at > moment)
}

#[derive(Clone, Copy)]
enum UnpaidPart {
    Whole,
    Profit,
    Stake,
}
