//! Monitors the venue: API availability, account restrictions, and rejected tokens.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Answer, Step};
use crate::audit::WalletState;
use crate::control::{ApiState, RunState, VenueApi, VenueHealth, describe_late_series, describe_silence};
use crate::notice::RequestKind;
use candlewick_broker::{BrokerError, Identity, OpenOutcome, Reply};
use candlewick_engine::Control;
use candlewick_sdk::Millis;

const ACCOUNT_POLL_INTERVAL: Millis = Millis::from_seconds(600);
const RESTRICTED_POLL_INTERVAL: Millis = Millis::from_seconds(60);

#[derive(Debug, Default)]
pub(crate) struct VenueWatch {
    trading: ApiHealth,
    prices: ApiHealth,
    restrictions: Vec<String>,
    is_overridden: bool,
}

#[derive(Debug, Default)]
struct ApiHealth {
    /// Time of the last successful answer. An answer that rejects an order counts as successful.
    last_success: Option<Millis>,
    failing_since: Option<Millis>,
}

impl ApiHealth {
    fn is_silent(&self, now: Millis) -> bool {
        self.failing_since.is_some_and(|at| now - self.last_success.unwrap_or(at) > RunState::SILENT_AFTER)
    }
}

impl VenueWatch {
    const fn health(&self, api: VenueApi) -> &ApiHealth {
        match api {
            VenueApi::Trading => &self.trading,
            VenueApi::Prices => &self.prices,
        }
    }

    pub(super) const fn is_account_restricted(&self) -> bool {
        !self.restrictions.is_empty() && !self.is_overridden
    }
}

impl Coordinator {
    pub(super) fn record_response(&mut self, answer: &Answer, now: Millis) {
        let health = match answering_api(answer) {
            // The answer came from local files and not from the venue.
            None => return,
            Some(VenueApi::Trading) => &mut self.venue.trading,
            Some(VenueApi::Prices) => &mut self.venue.prices,
        };
        if is_successful(answer) {
            *health = ApiHealth { last_success: Some(now), failing_since: None };
        } else if health.failing_since.is_none() {
            health.failing_since = Some(now);
        }
    }

    pub(super) fn schedule_user_poll(&mut self, at: Millis) {
        if !self.is_simulated && self.settings.wallet_every_s > 0 {
            self.agenda.add(at, Job::User);
        }
    }

    pub(super) fn on_user(&mut self, answer: Result<Reply<Identity>, BrokerError>, step: &mut Step<'_>) {
        let pace =
            if self.venue.restrictions.is_empty() { ACCOUNT_POLL_INTERVAL } else { RESTRICTED_POLL_INTERVAL };
        let restrictions = match answer {
            Ok(reply) => reply.value.restrictions,
            Err(error) => {
                self.agenda.add(step.now + pace, Job::User);
                return self.warn_request_failed("the account restrictions could not be read", &error, step);
            }
        };
        let pace = if restrictions.is_empty() { ACCOUNT_POLL_INTERVAL } else { RESTRICTED_POLL_INTERVAL };
        self.agenda.add(step.now + pace, Job::User);
        if restrictions == self.venue.restrictions {
            return;
        }
        let was_barred = self.venue.is_account_restricted();
        (self.venue.restrictions, self.venue.is_overridden) = (restrictions, false);
        let text = match self.account_restriction() {
            Some(text) => text,
            None => "the venue allows the account to trade again".to_owned(),
        };
        self.session.alarm(text, step);
        match (was_barred, self.venue.is_account_restricted()) {
            (false, true) if !self.ending.is_stopping() => self.apply_control(Control::Suspend, step),
            (true, false) => self.resume_trading_if_allowed(step),
            _ => {}
        }
    }

    /// Allows new trades despite the account restrictions, until the restrictions change.
    pub(super) fn override_restrictions(&mut self, step: &mut Step<'_>) {
        if self.venue.is_account_restricted() {
            self.venue.is_overridden = true;
            self.resume_trading_if_allowed(step);
        }
    }

    pub(super) fn resume_trading_if_allowed(&mut self, step: &mut Step<'_>) {
        let is_journalled = self.session.journal.suspension_reason.is_none();
        let may_open = is_journalled && self.token_refused.is_none() && !self.venue.is_account_restricted();
        if may_open && !self.ending.is_stopping() {
            self.apply_control(Control::Continue, step);
        }
    }

    pub(super) fn account_restriction(&self) -> Option<String> {
        self.venue.is_account_restricted().then(|| {
            format!(
                "the venue reports the account as {}; trading is suspended until the restriction ends or you run `candlewick resume`",
                self.venue.restrictions.join(", ")
            )
        })
    }

    pub(super) const fn last_api_response(&self, api: VenueApi) -> Option<Millis> {
        self.venue.health(api).last_success
    }

    pub(super) fn last_venue_response(&self) -> Option<Millis> {
        self.venue.trading.last_success.max(self.venue.prices.last_success)
    }

    pub(super) fn venue_health(&self, now: Millis) -> Option<Box<VenueHealth>> {
        let state = |api| {
            let health = self.venue.health(api);
            let is_asked = health.last_success.is_some() || health.failing_since.is_some();
            is_asked.then(|| ApiState { api, heard: health.last_success, is_silent: health.is_silent(now) })
        };
        let states: Vec<ApiState> = VenueApi::ALL.into_iter().filter_map(state).collect();
        (!states.is_empty()).then(|| Box::new(VenueHealth(states)))
    }

    pub(super) fn is_silent(&self, api: VenueApi, now: Millis) -> bool {
        self.venue.health(api).is_silent(now)
    }

    pub(super) fn problems(&self, now: Millis) -> Vec<String> {
        let user = &self.venue.restrictions;
        let user = (!user.is_empty()).then(|| format!("the account is {}", user.join(", ")));
        let is_below_zero = self.audits.wallet.state == WalletState::BelowZero;
        let wallet = is_below_zero
            .then(|| format!("the balance of the {} wallet is below zero", self.session.account));
        let late: Vec<_> = self.market.late_series().map(|(_, late)| late).collect();
        let missing = self.describe_missing_trades();
        describe_silence(|api| self.is_silent(api, now))
            .into_iter()
            .chain(describe_late_series(&late))
            .chain(user)
            .chain(self.describe_missing_wallet())
            .chain(wallet)
            .chain(self.wallet_problems())
            .chain(missing)
            .chain(self.foreign_trade_problem(now))
            .chain(self.stream_problem())
            .chain(self.stake_problems(now))
            .chain(self.settings.rate_limit_warning.clone())
            .collect()
    }
}

fn answering_api(answer: &Answer) -> Option<VenueApi> {
    Some(match RequestKind::from_request(answer.id())? {
        RequestKind::Candles | RequestKind::Price => VenueApi::Prices,
        RequestKind::Trades | RequestKind::Account | RequestKind::Open => VenueApi::Trading,
    })
}

const fn is_successful(answer: &Answer) -> bool {
    match answer {
        Answer::Candles(_, answer) => answer.is_ok(),
        Answer::Price(_, _, answer) | Answer::SettlementPrice(answer) => answer.is_ok(),
        Answer::Subscription(_, answer) => answer.is_ok(),
        Answer::Trade(_, answer) | Answer::TradeToAdopt(_, answer) => answer.is_ok(),
        Answer::Trades(listing) => listing.end_error.is_none(),
        Answer::BalancesAfterTrades(answer) | Answer::Balances(answer) => answer.is_ok(),
        Answer::User(answer) => answer.is_ok(),
        Answer::Settings(_) => false,
        Answer::Open(_, outcome) => matches!(outcome, OpenOutcome::Opened(_) | OpenOutcome::Rejected(_)),
    }
}

/// Maximum time between wallet requests while the venue rejects the token. Each request tries the token again.
const MAX_PROBE_INTERVAL: Millis = Millis::from_seconds(10);

pub(super) const TOKEN_SOURCE: &str = "in the file named by broker.api_token_file (reloaded automatically), or in the environment (requires a restart)";

impl Coordinator {
    pub(super) fn on_token_status(&mut self, refused: Option<String>, step: &mut Step<'_>) {
        if self.phase.is_over() {
            return;
        }
        match refused {
            Some(text) => {
                if self.token_refused.replace(text.clone()).is_some() {
                    return;
                }
                if !self.ending.is_stopping() {
                    self.apply_control(Control::Suspend, step);
                }
                self.agenda.add(step.now + MAX_PROBE_INTERVAL, Job::Balances);
                let text = format!(
                    "{}; trading is suspended. Provide a valid token {TOKEN_SOURCE}. If the token is valid, run \
                     `candlewick resume` to retry it",
                    describe_token_refusal(&text)
                );
                self.session.alarm(text, step);
            }
            None if self.token_refused.take().is_some() => {
                self.resume_trading_if_allowed(step);
                step.warn("the venue accepts the token again");
            }
            None => {}
        }
    }

    pub(super) fn next_balance_poll(&self, now: Millis) -> Option<Millis> {
        let every = Millis::from_seconds(i64::from(self.settings.wallet_every_s));
        let pace = (every > Millis::ZERO).then_some(every);
        let probe = self.token_refused.is_some().then_some(MAX_PROBE_INTERVAL);
        pace.into_iter().chain(probe).min().map(|pause| now + pause)
    }

    /// Warns about a failed request, but not about a rejected token that an alarm has already reported.
    pub(super) fn warn_request_failed(&self, what: &str, error: &BrokerError, step: &mut Step<'_>) {
        if self.token_refused.is_none() || !matches!(error, BrokerError::Credentials { .. }) {
            step.warn(format!("{what}: {error}"));
        }
    }
}

pub(super) fn describe_token_refusal(text: &str) -> String {
    // If only one endpoint rejects the token, the message of the adapter names that endpoint.
    let is_whole = text.starts_with("the venue ");
    if is_whole { text.to_owned() } else { format!("the venue rejects the token: {text}") }
}
