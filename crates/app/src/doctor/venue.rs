//! Venue client of the checks, with its own timeouts and hints for errors.

use super::bound::QUESTION;
use super::clock_skew::ClockSamples;
use crate::configuration::{Loaded, asset_types, credentials};
use candlewick_api::{HttpBroker, Secret};
use candlewick_broker::clock::SystemClock;
use candlewick_broker::{BrokerError, Reply};
use std::sync::Arc;

const PATIENCE_MS: u64 = 10_000;

pub(super) struct Asked {
    pub(super) venue: HttpBroker,
    pub(super) base_url: String,
    pub(super) price_url: String,
    pub(super) token: Given,
    pub(super) key: Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Trading,
    Price,
}

impl Asked {
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
