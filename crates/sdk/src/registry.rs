//! The strategies that a binary knows, by name.

use crate::parameters::{self, Parameter};
use crate::{BotContext, BuildError, Strategy, StrategyFactory};
use serde_json::Value;

/// A registered strategy: its description and how to make one.
#[derive(Clone)]
pub struct StrategyEntry {
    /// The name in configurations.
    pub name: &'static str,
    /// The version of its rules.
    pub version: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Whether it wants prices between candles.
    pub wants_prices: bool,
    /// Its parameters, in their order.
    pub parameters: Vec<Parameter>,
    build: Build,
}

type Build = fn(&Value, &[Parameter], &BotContext) -> Result<Box<dyn Strategy>, BuildError>;

impl StrategyEntry {
    /// Makes the strategy of one bot from a JSON object of parameters.
    ///
    /// # Errors
    /// [`BuildError`] when a parameter is unknown, of the wrong type or out of range, or the strategy refuses.
    pub fn build(&self, params: &Value, bot: &BotContext) -> Result<Box<dyn Strategy>, BuildError> {
        (self.build)(params, &self.parameters, bot)
    }
}

/// The strategies of a binary. Nothing registers itself: each is named once, in the binary's own code.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<StrategyEntry>,
}

impl Registry {
    /// Adds a strategy; one of the same name is replaced.
    #[must_use]
    pub fn with<S: StrategyFactory>(mut self) -> Self {
        self.entries.retain(|entry| entry.name != S::NAME);
        self.entries.push(StrategyEntry {
            name: S::NAME,
            version: S::VERSION,
            about: S::ABOUT,
            wants_prices: S::WANTS_PRICES,
            parameters: parameters::describe::<S::Params>(),
            build: |params, described, bot| {
                let params = parameters::read_described(params, described)
                    .map_err(|problem| BuildError::Parameters { strategy: S::NAME, problem })?;
                Ok(Box::new(S::build(params, bot)?))
            },
        });
        self
    }

    /// The strategy of that name.
    pub fn find(&self, name: &str) -> Option<&StrategyEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// All strategies, in the order they were registered.
    pub fn entries(&self) -> &[StrategyEntry] {
        &self.entries
    }
}
