//! The venue as it is asked here: with bounds of its own, and with what its errors mean to a person.

use super::bound::QUESTION;
use super::clock_skew::ClockSamples;
use crate::configuration::{Loaded, asset_types, credentials};
use candlewick_api::{HttpBroker, Secret};
use candlewick_broker::clock::SystemClock;
use candlewick_broker::{BrokerError, Reply};
use std::sync::Arc;

/// A reading request here takes no longer, with all its repeats.
const PATIENCE_MS: u64 = 10_000;

/// The venue, and where it is asked.
pub(super) struct Asked {
    pub(super) venue: HttpBroker,
    pub(super) base_url: String,
    pub(super) price_url: String,
    /// Whether there is a credential to ask with.
    pub(super) token: Given,
    pub(super) key: Given,
}

/// Whether a credential was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Yes,
    No,
}

/// Whether an API answers at all, so that more may be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    Yes,
    No,
}

/// Which of the two APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The trading token API.
    Trading,
    /// The symbol price API.
    Price,
}

impl Asked {
    /// The configured venue; none when the client cannot be made, which the configuration has reported.
    pub(super) fn of(loaded: &Loaded) -> Option<Self> {
        let mut settings = loaded.config.broker.client.clone();
        settings.read_deadline_ms = settings.read_deadline_ms.min(PATIENCE_MS);
        settings.timeout_ms = settings.timeout_ms.min(PATIENCE_MS);
        let (base_url, price_url) = (settings.base_url.clone(), settings.price_url.clone());
        // Credentials that cannot be read have been reported: the venue is asked without them.
        let credentials = credentials(loaded).unwrap_or_default();
        let given = |secret: &Option<Secret>| if secret.is_some() { Given::Yes } else { Given::No };
        let (token, key) = (given(&credentials.api_token), given(&credentials.api_key));
        let asset_types = asset_types(&loaded.config.bots);
        let venue = HttpBroker::new(settings, credentials, Arc::new(SystemClock::new())).ok()?;
        let venue = venue.with_asset_types(asset_types);
        Some(Self { venue, base_url, price_url, token, key })
    }
}

/// Asks within the bound, and takes the answer's date as a sample of the venue's clock.
pub(super) async fn ask<T>(
    question: impl Future<Output = Result<Reply<T>, BrokerError>>,
    samples: &mut ClockSamples,
) -> Result<T, BrokerError> {
    match tokio::time::timeout(QUESTION, question).await {
        Ok(Ok(reply)) => {
            samples.record(&reply);
            Ok(reply.value)
        }
        Ok(Err(error)) => Err(error),
        Err(_) => {
            Err(BrokerError::Unavailable { text: format!("no answer within {} s", QUESTION.as_secs()) })
        }
    }
}

/// What to do about an error.
pub fn remedy(error: &BrokerError, api: Api) -> String {
    let (url, variable) = match api {
        Api::Trading => ("broker.base_url", "CANDLEWICK_BROKER__API_TOKEN or broker.api_token_file"),
        Api::Price => ("broker.price_url", "CANDLEWICK_BROKER__API_KEY or broker.api_key_file"),
    };
    match error {
        BrokerError::Credentials { .. } => format!("check {variable}: make a new credential at the venue"),
        BrokerError::Unavailable { .. } => {
            format!("check {url} and the network; `candlewick sandbox` serves a venue of your own")
        }
        BrokerError::RateLimited { .. } => "wait, and lower broker.requests_per_second".to_owned(),
        BrokerError::NotFound { .. } | BrokerError::Malformed { .. } | BrokerError::Rejected { .. } => {
            format!("check {url}, with the path prefix that the venue may have")
        }
        BrokerError::LimitReached { .. } => "raise the limit that it names, if that is meant".to_owned(),
        BrokerError::Settings { .. } => "run `candlewick config check`".to_owned(),
    }
}
