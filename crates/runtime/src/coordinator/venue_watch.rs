//! What stands between a run and its venue: when it was last heard, and whether the account may trade.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Ask, Step};
use super::input::{Answer, RequestId};
use crate::audit::WalletState;
use crate::control::RunState;
use candlewick_broker::{BrokerError, Identity, OpenOutcome, Reply};
use candlewick_sdk::Millis;

/// How often the venue is asked whether the account may still trade.
const USER_PACE: Millis = Millis::from_seconds(600);

/// What is known of the venue besides its trades.
#[derive(Debug, Default)]
pub(crate) struct VenueWatch {
    /// When it last answered what it was asked; a refusal is no answer, but to an open.
    heard: Option<Millis>,
    /// Whether a question has failed since then: a run may have nothing to ask for a while.
    has_failed: bool,
    /// Why the account may not trade, in the venue's words.
    restrictions: Vec<String>,
}

impl Coordinator {
    /// An answer came: it is the venue's, or says that there is none.
    pub(super) fn note_heard(&mut self, answer: &Answer, now: Millis) {
        if let Answer::Settings(_) = answer {
            // This process's own files were asked, not the venue.
            return;
        }
        self.venue.has_failed = !is_heard(answer);
        if !self.venue.has_failed {
            self.venue.heard = Some(now);
        }
    }

    /// The user is asked for where the wallets are read, and the venue is not made here.
    pub(super) fn begin_user(&mut self, at: Millis) {
        if !self.is_simulated && self.settings.wallet_every_s > 0 {
            self.agenda.add(at, Job::User);
        }
    }

    pub(super) fn ask_user(&mut self, step: &mut Step<'_>) {
        self.requests.begin(RequestId::User);
        step.ask(Ask::User);
    }

    /// A user that may not trade is said at once, at the start and later.
    pub(super) fn on_user(&mut self, answer: Result<Reply<Identity>, BrokerError>, step: &mut Step<'_>) {
        self.agenda.add(step.now + USER_PACE, Job::User);
        let restrictions = match answer {
            Ok(reply) => reply.value.restrictions,
            Err(error) => return self.warn_of("nobody knows whether the account may trade", &error, step),
        };
        if restrictions == self.venue.restrictions {
            return;
        }
        let text = match restrictions.as_slice() {
            [] => "the venue says no more that the account may not trade".to_owned(),
            words => format!("the venue says that the account is {}: it may take no trade", words.join(", ")),
        };
        self.session.alarm(text, step);
        self.venue.restrictions = restrictions;
    }

    /// When the venue last answered anything.
    pub(super) const fn heard(&self) -> Option<Millis> {
        self.venue.heard
    }

    /// Whether what is asked of the venue fails, and it has not been heard for a while.
    pub(super) fn is_silent(&self, now: Millis) -> bool {
        self.venue.heard.is_some_and(|at| now - at > RunState::SILENT_AFTER) && self.venue.has_failed
    }

    /// What stands in the way at present, in words.
    pub(super) fn troubles(&self, now: Millis) -> Vec<String> {
        let user = &self.venue.restrictions;
        let user = (!user.is_empty()).then(|| format!("the account is {}", user.join(", ")));
        let account = self.session.account();
        let wallet = match self.audits.wallet.state() {
            WalletState::Sound => None,
            WalletState::Missing => Some(format!("the venue shows no {account} wallet")),
            WalletState::BelowZero => Some(format!("the {account} wallet is below zero")),
        };
        let silent = self.is_silent(now).then(|| RunState::SILENT.to_owned());
        let missing = self.missing_trades();
        silent
            .into_iter()
            .chain(user)
            .chain(wallet)
            .chain(missing)
            .chain(self.stranger_trouble(now))
            .chain(self.stream_trouble())
            .chain(self.settings.shortage.clone())
            .collect()
    }
}

/// Whether the venue has said something.
const fn is_heard(answer: &Answer) -> bool {
    match answer {
        Answer::Candles(_, answer) => answer.is_ok(),
        Answer::Price(_, _, answer) | Answer::SettlementPrice(answer) => answer.is_ok(),
        Answer::Subscription(_, answer) => answer.is_ok(),
        Answer::Trade(_, answer) | Answer::NamedTrade(_, answer) => answer.is_ok(),
        Answer::Trades(listing) => listing.ended_early.is_none(),
        Answer::BalancesAfterTrades(answer) | Answer::Balances(answer) => answer.is_ok(),
        Answer::User(answer) => answer.is_ok(),
        Answer::Settings(_) => false,
        Answer::Open(_, outcome) => matches!(outcome, OpenOutcome::Opened(_) | OpenOutcome::Rejected(_)),
    }
}
