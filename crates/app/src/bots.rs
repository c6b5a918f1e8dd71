//! The strategies of the configured bots, built and ready for a Session.

use crate::configuration::{Loaded, Problem, Problems};
use crate::failure::{Failure, FailureKind, kind_of_build};
use crate::suggestion::suggest;
use candlewick_backtest::BacktestError;
use candlewick_engine::{BotSettings, EngineError, SessionSettings};
use candlewick_sdk::{BotContext, Registry, Strategy, StrategyEntry};

/// One strategy for each bot, in the bots' order, and what a driver must know of them.
#[derive(Default)]
pub(crate) struct Crew {
    pub(crate) strategies: Vec<Box<dyn Strategy>>,
    /// Whether each wants prices between candles.
    pub(crate) wants_prices: Vec<bool>,
    /// Name and version of each.
    pub(crate) versions: Vec<(String, String)>,
}

impl Crew {
    /// Builds every bot's strategy.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub(crate) fn build(loaded: &Loaded, registry: &Registry) -> Result<Self, Problems> {
        let mut crew = Self::default();
        let mut problems = Vec::new();
        for (index, bot) in loaded.config.bots.iter().enumerate() {
            match build(index, bot, loaded, registry) {
                Ok((entry, strategy)) => {
                    crew.strategies.push(strategy);
                    crew.wants_prices.push(entry.wants_prices);
                    crew.versions.push((entry.name.clone(), entry.version.clone()));
                }
                Err(problem) => problems.push(problem),
            }
        }
        if loaded.config.bots.is_empty() {
            let problem = "there is no bot: add a section [[bots]], or give a --config that has one";
            problems.push(loaded.problem("bots", problem));
        }
        Problems::check(problems).map(|()| crew)
    }
}

impl Crew {
    /// Each bot with the number of candles that its strategy wants to have seen.
    pub(crate) fn warmups(&self, bots: &[BotSettings]) -> Vec<(BotSettings, usize)> {
        bots.iter().zip(&self.strategies).map(|(bot, strategy)| (bot.clone(), strategy.warmup())).collect()
    }
}

fn build<'a>(
    index: usize,
    bot: &BotSettings,
    loaded: &Loaded,
    registry: &'a Registry,
) -> Result<(&'a StrategyEntry, Box<dyn Strategy>), Problem> {
    let Some(entry) = registry.find(&bot.strategy) else {
        let problem = format!("there is no such strategy; {}", suggest_strategy(&bot.strategy, registry));
        return Err(loaded
            .problem(&format!("bots[{index}].strategy"), problem)
            .value(format!("{:?}", bot.strategy)));
    };
    let context = BotContext {
        bot: bot.name.clone(),
        symbol: bot.symbol,
        interval: bot.interval,
        expiry: bot.expiry(),
    };
    let strategy = entry.build(&bot.params, &context).map_err(|error| {
        let kind = kind_of_build(&error);
        loaded.problem(&format!("bots[{index}].params"), error.to_string()).kind(kind)
    })?;
    Ok((entry, strategy))
}

/// The bots' strategies once more, as [`Crew::build`] has built them before.
pub(crate) fn strategies_of(
    bots: &[BotSettings],
    registry: &Registry,
) -> Result<Vec<Box<dyn Strategy>>, BacktestError> {
    let build = |bot: &BotSettings| {
        let (name, expiry) = (bot.name.clone(), bot.expiry());
        let context = BotContext { bot: name.clone(), symbol: bot.symbol, interval: bot.interval, expiry };
        let entry =
            registry.find(&bot.strategy).expect("the bots were built once, so their strategies are known");
        let built = entry.build(&bot.params, &context);
        built.map_err(|source| EngineError::Strategy { bot: name, source }.into())
    };
    bots.iter().map(build).collect()
}

/// What was meant by the name of a strategy.
pub(crate) fn suggest_strategy(name: &str, registry: &Registry) -> String {
    suggest(name, registry.entries().iter().map(|entry| entry.name.as_str()))
}

/// What a Session is made from, as configured.
pub(crate) fn session_settings(loaded: &Loaded) -> SessionSettings {
    let config = &loaded.config;
    SessionSettings {
        money_scale: config.account.money_scale,
        balance: config.account.initial_balance,
        risk: config.risk.clone(),
        bots: config.bots.clone(),
    }
}

/// What keeps a Session from being made, with the key's origin.
pub(crate) fn problem_of_session(error: &EngineError, loaded: &Loaded) -> Problem {
    match error {
        EngineError::Setting { key, problem } => loaded.problem(key, problem.clone()),
        EngineError::Amount { key, source } => loaded.problem(key, source.to_string()),
        EngineError::Strategy { source, .. } => {
            loaded.problem("bots", error.to_string()).kind(kind_of_build(source))
        }
    }
}

/// Why a backtest or a sweep cannot be made or run.
pub(crate) fn failure_of_backtest(error: BacktestError, loaded: &Loaded) -> Failure {
    match error {
        BacktestError::Engine(error) => Problems::from(problem_of_session(&error, loaded)).into(),
        BacktestError::Simulator(error) => error.into(),
        BacktestError::NoCandles { .. } | BacktestError::NoFinerCandles { .. } => {
            Failure::new(FailureKind::Data, error)
        }
        BacktestError::NameParameter { ref name, ref known, .. } => {
            let help = suggest(name, known.iter().map(String::as_str));
            Failure::new(FailureKind::Configuration, error).help(help)
        }
        BacktestError::ChangeParameter { .. }
        | BacktestError::ChangeCondition { .. }
        | BacktestError::ChangeSearch { .. }
        | BacktestError::DeclarationMismatch { .. }
        | BacktestError::ChangeWindows { .. }
        | BacktestError::CheckPath { .. } => Failure::new(FailureKind::Configuration, error),
        BacktestError::ChooseFolder { .. } => {
            let help = "give --out another folder; what another program (or the same with other libraries of the system), \
                        other arguments or other candles made is not mixed with this";
            Failure::new(FailureKind::Configuration, error).help(help)
        }
        BacktestError::SweepLocked { .. } => Failure::new(FailureKind::JournalHeld, error),
        BacktestError::Journal(_) => Failure::new(FailureKind::Unexpected, error),
    }
}
