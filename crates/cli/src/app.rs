//! The builder of a binary: which strategies it knows, then run.

use crate::arguments::Arguments;
use crate::command::{self, Context};
use crate::logging;
use candlewick_sdk::{Registry, StrategyFactory};
use clap::Parser;
use std::process::ExitCode;

/// A command line program and the strategies that it knows.
#[derive(Clone, Default)]
pub struct App {
    registry: Registry,
}

impl App {
    /// A program that knows no strategy yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A program that knows the strategies of this repository: `rsi-reversal`, `ema-cross`, `signal-list`, `trend-filter`.
    pub fn with_builtin_strategies() -> Self {
        Self::new()
            .with_strategy::<rsi_reversal::RsiReversal>()
            .with_strategy::<ema_cross::EmaCross>()
            .with_strategy::<signal_list::SignalList>()
            .with_strategy::<trend_filter::TrendFilter>()
    }

    /// Adds a strategy; one of the same name is replaced.
    #[must_use]
    pub fn with_strategy<S: StrategyFactory>(mut self) -> Self {
        self.registry = self.registry.with::<S>();
        self
    }

    /// Does what the arguments of the process say. The exit code is what `main` returns.
    pub fn run(self) -> ExitCode {
        let arguments = match Arguments::try_parse() {
            Ok(arguments) => arguments,
            Err(error) => {
                // A closed pipe is all that can go wrong, and nobody is left to be told.
                let _ = error.print();
                return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            }
        };
        logging::start(&arguments.global);
        let context = Context { registry: &self.registry, global: &arguments.global };
        match command::run(&arguments.command, &context) {
            Ok(ending) => ending.to_exit_code(),
            Err(failure) => {
                failure.print();
                failure.to_exit_code()
            }
        }
    }
}
