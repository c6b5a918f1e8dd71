//! Handling of a difference between wallet and ledger: record, report, book or halt.

use super::Coordinator;
use crate::audit::UnderWayMoney;
use crate::coordinator::command::Step;
use candlewick_engine::{Control, EventKind, IntentRow};
use candlewick_sdk::{Millis, Money, Outcome};

impl Coordinator {
    pub(super) fn record_difference(&mut self, amount: Money, step: &mut Step<'_>) {
        if self.session.ledger().difference() != amount {
            self.handle(step.now, EventKind::WalletDifference { amount }, step);
        }
    }

    pub(super) fn confirm_difference(&mut self, change: Money, may_be_of_trades: bool, step: &mut Step<'_>) {
        let is_too_large = self.is_too_large(change);
        if may_be_of_trades || is_too_large {
            self.audits.wallet.keep(change);
            self.wallet.changed = Some(step.now);
            if !self.is_too_large(self.audits.wallet.confirmed()) {
                self.wallet.from_outside = Money::ZERO;
            } else if is_too_large && (!may_be_of_trades || change.is_positive()) {
                self.wallet.from_outside += change;
            }
            self.record_difference(self.audits.wallet.confirmed(), step);
            self.name_difference(is_too_large, step);
            return;
        }
        self.audits.wallet.book(change);
        self.book_movement(change, step);
    }

    pub(super) fn book_surplus(&mut self, surplus: Money, step: &mut Step<'_>) {
        if !self.is_too_large(surplus) {
            self.audits.wallet.accept();
            self.wallet.named = None;
            self.book_movement(surplus, step);
        }
    }

    fn book_movement(&mut self, change: Money, step: &mut Step<'_>) {
        self.handle(step.now, EventKind::Deposit { amount: change }, step);
        self.record_difference(self.audits.wallet.confirmed(), step);
        let (verb, size) = if change.is_positive() { ("came into", change) } else { ("left", -change) };
        let text =
            format!("{} {verb} the wallet, and no trade explains it", self.session.scale().format(size));
        self.found_of_wallet(text, step);
    }

    pub(super) fn name_difference(&mut self, is_too_large: bool, step: &mut Step<'_>) {
        let difference = self.audits.wallet.confirmed();
        if difference == Money::ZERO {
            if let Some((alarm, _)) = self.wallet.named.take() {
                let account = self.session.account();
                step.note(format!("the {account} wallet holds what the trades explain again"), vec![alarm]);
            }
            return;
        }
        let text = self.describe_difference(difference);
        if is_too_large {
            let percent = self.settings.max_unexplained_percent;
            let text = format!(
                "{text}; that is more than {percent} % of the equity (runtime.max_unexplained_percent): `candlewick \
                 resume` books it as a deposit or withdrawal"
            );
            self.wallet.named = Some((text.clone(), difference));
            self.wallet.is_halting = true;
            return self.halt_or_alarm(text, step);
        }
        let is_news = self.wallet.named.as_ref().is_none_or(|(_, named)| {
            named.is_positive() != difference.is_positive() || size(difference) >= size(*named).times(2)
        });
        if is_news {
            self.wallet.named = Some((text.clone(), difference));
            self.found_of_wallet(text, step);
        }
    }

    pub(in crate::coordinator) fn describe_difference(&self, difference: Money) -> String {
        let (account, scale) = (self.session.account(), self.session.scale());
        let word = if difference.is_positive() { "more" } else { "less" };
        let text = format!(
            "the {account} wallet holds {} {word} than the trades explain",
            scale.format(size(difference))
        );
        match self.cause_of(difference) {
            Some(cause) => format!("{text}: {cause}"),
            None => text,
        }
    }

    fn cause_of(&self, difference: Money) -> Option<String> {
        let since = self.audits.wallet.explained_until()?;
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
            (&won, Part::Whole, ["win was not paid", "wins were not paid"]),
            (&won, Part::Profit, ["win was paid without its profit", "wins were paid without their profit"]),
            (&won, Part::Stake, ["win was paid without its stake", "wins were paid without their stakes"]),
            (&returned, Part::Stake, ["stake was not returned", "stakes were not returned"]),
        ]
        .into_iter()
        .find_map(|(rows, part, [one, many])| {
            let mut missing = Money::ZERO;
            let count = 1 + rows.iter().position(|row| {
                missing += match part {
                    Part::Whole => stake(row) + row.profit,
                    Part::Profit => row.profit,
                    Part::Stake => stake(row),
                };
                missing == -difference
            })?;
            let first = rows.iter().take(count).map(|row| row.approved.intent()).min()?;
            let words = if count == 1 { one } else { many };
            Some(format!("{count} {words}, the first is trade #{first}"))
        })
        .or_else(|| {
            let first = rows().find(|row| is_later(row, since))?.approved.intent();
            Some(format!("they agreed before trade #{first}"))
        })
    }

    pub(super) fn halt_or_alarm(&mut self, text: String, step: &mut Step<'_>) {
        if self.session.halted().is_some() {
            self.session.alarm(text, step);
        } else {
            self.halt(text, step);
        }
    }

    fn is_too_large(&self, change: Money) -> bool {
        let percent = f64::from(self.settings.max_unexplained_percent);
        let equity = self.session.ledger().equity().max(Money::ZERO);
        percent > 0.0 && size(change) > equity.scaled_down(percent / 100.0)
    }

    /// Resumes the run and accepts the current wallets.
    ///
    /// A difference that halted the run, or that has lasted longer than lag can, is booked. Others
    /// remain. So does one last estimated before other wallets were shown: trades may have been in flight.
    pub(in crate::coordinator) fn resume(&mut self, step: &mut Step<'_>) {
        let difference = self.audits.wallet.confirmed();
        let is_compared = self.wallet.other.is_none();
        let has_lasted =
            is_compared && self.wallet.changed.is_some_and(|at| step.now - at >= self.wallet_patience());
        let is_quiet = self.under_way_money(step.now) == UnderWayMoney::default();
        let is_accepted = std::mem::take(&mut self.wallet.is_halting) || has_lasted && is_quiet;
        let from_outside = std::mem::take(&mut self.wallet.from_outside);
        if is_accepted && from_outside != Money::ZERO {
            // What came from outside does not make up for what went missing before it.
            self.audits.wallet.keep(-from_outside);
            self.audits.wallet.book(from_outside);
            self.handle(step.now, EventKind::Deposit { amount: from_outside }, step);
        }
        // The Session books what it knows of, which one reading may have changed.
        let accepted = if is_accepted { self.audits.wallet.confirmed() } else { Money::ZERO };
        self.record_difference(accepted, step);
        if is_accepted {
            self.audits.wallet.accept();
            self.wallet.named = None;
            if difference != Money::ZERO {
                let amount = self.session.scale().format(difference);
                step.log_warning(format!("resumed: the wallet's difference of {amount} is booked"));
            }
        }
        if self.wallet.other.take().is_some() {
            self.audits.wallet.forget_names();
        }
        self.control(Control::Resume, step);
        self.record_difference(self.audits.wallet.confirmed(), step);
    }

    pub(in crate::coordinator) fn wallet_troubles(&self) -> impl Iterator<Item = String> {
        let difference = self.audits.wallet.confirmed();
        let difference = (difference != Money::ZERO).then(|| self.describe_difference(difference));
        difference.into_iter().chain(self.wallet.other.clone())
    }
}

pub(in crate::coordinator) fn is_later(row: &IntentRow, moment: Millis) -> bool {
    row.settled_at.or(row.answered_at).is_some_and(|at| at > moment)
}

#[derive(Clone, Copy)]
enum Part {
    Whole,
    Profit,
    Stake,
}

fn size(amount: Money) -> Money {
    amount.max(-amount)
}
