//! What every command is given.

use crate::arguments::GlobalArguments;
use crate::own_broker::OwnBrokers;
use candlewick_sdk::Registry;

/// What every command is given.
pub(crate) struct Context<'a> {
    /// The strategies that the program knows.
    pub(crate) registry: &'a Registry,
    /// The brokers that it knows besides the configured one.
    pub(crate) brokers: &'a OwnBrokers,
    /// The arguments that every command takes.
    pub(crate) global: &'a GlobalArguments,
}
