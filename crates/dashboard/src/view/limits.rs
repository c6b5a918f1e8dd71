//! Limits and their utilisation.

use candlewick_engine::Session;
use candlewick_records::LimitLine;
use candlewick_sdk::Millis;
use serde::Serialize;
use utoipa::ToSchema;

/// A limit and how far it is used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Limit {
    /// Whose limit it is; null of the whole run.
    pub(crate) bot: Option<String>,
    /// The setting's name in `[risk]`, or of a bot's own in `[risk.bots.NAME]`.
    pub(crate) name: &'static str,
    /// What is limited, in words.
    pub(crate) title: &'static str,
    /// How much of it there is.
    pub(crate) value: f64,
    /// How much there may be.
    pub(crate) most: f64,
    /// `count` or `money`.
    pub(crate) unit: &'static str,
}

pub(crate) fn limits_of(session: &Session, now: Millis) -> Vec<Limit> {
    let limit = |line| {
        let LimitLine { bot, name, title, value, most, unit } = line;
        Limit { bot, name, title, value, most, unit }
    };
    LimitLine::of_session(session, now).into_iter().map(limit).collect()
}
