//! Rejected tokens: opens are suspended until the venue accepts one, everything else continues.

use super::Coordinator;
use super::agenda::Job;
use super::command::Step;
use candlewick_broker::BrokerError;
use candlewick_engine::Control;
use candlewick_sdk::Millis;

/// Maximum time between requests while the token is rejected, so that a new token is noticed.
const MAX_PROBE_PAUSE: Millis = Millis::from_seconds(10);

pub(super) const WHERE_FROM: &str = "in the file of broker.api_token_file, which is read again by itself, or in the environment after a restart";

impl Coordinator {
    pub(super) fn on_token(&mut self, refused: Option<String>, step: &mut Step<'_>) {
        if self.phase.is_over() {
            return;
        }
        match refused {
            Some(text) => {
                if self.token_refused.replace(text.clone()).is_some() {
                    return;
                }
                if !self.ending.is_stopping() {
                    self.control(Control::Suspend, step);
                }
                self.agenda.add(step.now + MAX_PROBE_PAUSE, Job::Balances);
                let text = format!(
                    "{}; nothing is opened until it does: a new one is waited for, {WHERE_FROM}; where the token is \
                     in order, `candlewick resume` has it tried again",
                    describe_refusal(&text)
                );
                self.session.alarm(text, step);
            }
            None if self.token_refused.take().is_some() => {
                self.continue_opens(step);
                step.warn("the venue accepts the token again");
            }
            None => {}
        }
    }

    pub(super) fn next_balances(&self, now: Millis) -> Option<Millis> {
        let every = Millis::from_seconds(i64::from(self.settings.wallet_every_s));
        let pace = (every > Millis::ZERO).then_some(every);
        let probe = self.token_refused.is_some().then_some(MAX_PROBE_PAUSE);
        pace.into_iter().chain(probe).min().map(|pause| now + pause)
    }

    /// Warns about a failed request. A rejected token was already reported.
    pub(super) fn warn_of(&self, what: &str, error: &BrokerError, step: &mut Step<'_>) {
        if self.token_refused.is_none() || !matches!(error, BrokerError::Credentials { .. }) {
            step.warn(format!("{what}: {error}"));
        }
    }
}

pub(super) fn describe_refusal(text: &str) -> String {
    // The adapter says which endpoint it is, if it is one only.
    let is_whole = text.starts_with("the venue ");
    if is_whole { text.to_owned() } else { format!("the venue does not accept the token: {text}") }
}
