//! `sweep`: many backtests of one bot, to see what its parameters do.

use super::Context;
use crate::configuration::{Base, Loaded, Problems, RealMoney, to_json};
use crate::crew::{Crew, failure_of_backtest, session_settings, suggest_strategy};
use crate::data::{COARSE, CandleArguments, Candles};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::suggestion::suggest;
use crate::sweep::{Identity, ResultFolder, SweepReport, Tried};
use candlewick_api::clock::Stopwatch;
use candlewick_backtest::BacktestSettings;
use candlewick_backtest::metric::DAYS_PER_YEAR;
use candlewick_backtest::sweep::{
    BlackBox, Halving, Objective, Replay, Search, SearchSettings, Shared, Space, Standing, Sweep, SweepEnd,
    SweepSettings, Target, TrialRow, Wish, ranked,
};
use candlewick_backtest::variants::{Note, Tried as TriedVariant, VariantCount};
use candlewick_engine::BotSettings;
use candlewick_sdk::{Expiry, Millis, StrategyEntry};
use candlewick_simulator::check_expiry;
use clap::Args;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What to search.
#[derive(Debug, Args)]
#[command(
    after_help = "VALUES are a range 5..30 (either end may be left out: the strategy's own), with a step 5..30:5, on \
                  the log scale 2..500:log or so many of it 2..500:log/9, or a list 5,9,14. close_type and \
                  expiration_type of the bot are searched by list.\n\nStopped or killed, the same command goes on \
                  where it was: every trial that ran stands in trials.jsonl of the folder.\n\nExamples:\n  candlewick \
                  sweep --bot btc-rsi --param period=5..30:5 --param oversold=20..40:5\n  candlewick sweep --config \
                  my.toml --param fast=2..50 --param slow=5..200:log --where \"slow > 2 * fast\" --search tpe \
                  --trials 500 --objective sharpe"
)]
pub(crate) struct SweepArguments {
    /// Search a parameter: NAME=VALUES, or NAME for the whole range that the strategy declares; repeatable
    #[arg(long = "param", value_name = "NAME[=VALUES]")]
    parameters: Vec<String>,
    /// Try only sets for which this holds, such as "slow >= 2 * fast"; repeatable
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    /// The bot whose parameters are searched; it runs alone. Needed where there are several
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Which sets are tried: grid, random, latin-hypercube, sobol or tpe. Without it a grid, where parameters have an
    /// end and --trials is not given, else sobol
    #[arg(long, value_name = "WAY")]
    search: Option<Search>,
    /// How many sets are tried; a grid tries all [default: 200]
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// What chance is made of
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// What makes a set good: edge (lower end of the win rate's 95 % interval less the break-even), expectancy (profit
    /// per unit staked), sharpe (of daily profits) or drawdown-penalised (profit less the deepest fall)
    #[arg(long, value_name = "FIGURE", default_value_t = Objective::Edge)]
    objective: Objective,
    /// Sets with fewer won and lost trades do not count
    #[arg(long, value_name = "N", default_value_t = 30)]
    min_trades: u64,
    /// Successive halving: run every set on the first part of the candles, the best one in N of them on N times as
    /// many, and so on
    #[arg(long, value_name = "N")]
    halving: Option<u32>,
    /// How many runs the last sets of a halving have
    #[arg(long, value_name = "N", default_value_t = 3, requires = "halving")]
    rungs: u32,
    /// How many trials run side by side; the result does not depend on it [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The folder of the journal and the results
    #[arg(long, value_name = "DIR", default_value = "sweep")]
    out: PathBuf,
    /// How many of the best sets are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    candles: CandleArguments,
}

/// Everything that a sweep needs, checked.
struct Prepared<'a> {
    loaded: Loaded,
    /// The bot as it is configured.
    written: serde_json::Value,
    entry: &'a StrategyEntry,
    settings: BacktestSettings,
    space: Space,
    sweep: SweepSettings,
    candles: Candles,
}

pub(super) fn run(arguments: &SweepArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let prepared = prepare(arguments, context)?;
    let Prepared { loaded, written, entry, settings, space, sweep, candles } = &prepared;
    let told = |error| failure_of_backtest(error, loaded);
    let identity = Identity {
        settings,
        strategy: (entry.name, entry.version),
        data_hash: &candles.hash,
        parameters: &arguments.parameters,
        conditions: &arguments.conditions,
        sweep,
    };
    let folder = ResultFolder::open(&arguments.out)?;
    let (mut journal, known) = folder.journal(&identity).map_err(told)?;
    let resumed = known.len();
    let replay = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let ground = Shared::new(replay, BlackBox::WhatIsNotDeclared);
    let balance = loaded.initial_balance()?;
    let job = Sweep { space, settings: sweep, ground: &ground, balance, threads: threads(arguments) };
    let sign = interrupt::sign()?;
    let mut progress = Progress::new("Sweeping", context.global);
    let watch = Stopwatch::start();
    let mut watcher = |standing: &Standing<'_>| {
        progress.update(standing.done, standing.total);
        if let Some((best, score)) = standing.best.and_then(|best| Some((best, best.score?))) {
            progress.say(&format!("best {} {score:.4} of trial {}", sweep.objective, best.trial));
        }
        if sign.get().is_some() { Wish::Stop } else { Wish::GoOn }
    };
    let end = job.run(&mut journal, known, &mut watcher).map_err(told)?;
    drop(progress);
    let SweepEnd::Done(rows) = end else {
        if !context.global.quiet {
            anstream::eprintln!(
                "stopped; the same command goes on where it was ({})",
                folder.path().display()
            );
        }
        return Ok(sign.get().copied().unwrap_or(Ending::Interrupted));
    };
    // What a strategy declares is believed while it is searched; of what comes out, it is not.
    if let Some(best) = ranked(&rows).first().filter(|best| best.score.is_some()) {
        ground.check(&best.candidate, balance).map_err(told)?;
    }
    let elapsed = watch.elapsed();
    let files = folder.write(&rows, space, sweep.objective, written)?;
    let counted = count_variants(&prepared, &rows, context);
    let tried = Tried { rows: &rows, space, sweep, resumed, elapsed, files, counted };
    let report = SweepReport::of(&tried, candles, arguments.top);
    if context.global.json {
        print_json(&report)?;
    } else {
        print(&report.to_string())?;
    }
    Ok(Ending::Done)
}

/// Notes every trial that ran as a variant of its idea; how many variants of it there are by now.
fn count_variants(
    prepared: &Prepared<'_>,
    rows: &[TrialRow],
    context: &Context<'_>,
) -> Option<io::Result<u64>> {
    let Prepared { loaded, settings, space, candles, .. } = prepared;
    let ledger = loaded.config.variants.ledger()?;
    let mut session = settings.session.clone();
    let notes = rows.iter().filter_map(|row| Some((row, row.figures()?))).flat_map(|(row, figures)| {
        session.bots = vec![space.bot(&row.candidate)];
        let tried = TriedVariant::all_of(&session, context.registry);
        tried.into_iter().map(move |tried| Note {
            tried,
            p_value: figures.p_value,
            sharpe_of_a_day: figures.sharpe.map(|sharpe| sharpe / DAYS_PER_YEAR.sqrt()),
        })
    });
    let notes: Vec<Note> = notes.collect();
    let span = candles.span();
    Some(ledger.note(&notes, &span).map(|known| VariantCount::of(&known, &notes, &span).count))
}

fn prepare<'a>(arguments: &SweepArguments, context: &Context<'a>) -> Result<Prepared<'a>, Failure> {
    let mut loaded = Loaded::read(&context.global.config, Base::Sandbox, arguments.candles.flags())?;
    loaded.check_mode(RealMoney::NotAsked).map_err(Problems::from)?;
    loaded.config.simulation.check()?;
    Crew::build(&loaded, context.registry)?;
    let index = chosen_bot(&loaded.config.bots, arguments.bot.as_deref())?;
    let bot = loaded.config.bots[index].clone();
    let written = to_json(&loaded)["configuration"]["bots"][index].take();
    let Some(entry) = context.registry.find(&bot.strategy) else {
        return Err(Failure::configuration(suggest_strategy(&bot.strategy, context.registry)));
    };
    if arguments.parameters.is_empty() {
        let problem = format!("there is nothing to search: give --param of strategy \"{}\"", entry.name);
        return Err(Failure::configuration(problem).help(searchable(entry)));
    }
    let space = Space::new(entry, &bot, &arguments.parameters, &arguments.conditions);
    let space = space.map_err(|error| failure_of_backtest(error, &loaded))?;
    let sweep = sweep_settings(arguments, &space).map_err(|error| failure_of_backtest(error, &loaded))?;
    loaded.config.bots = vec![bot];
    let mut candles = arguments.candles.gather(&loaded, context.global)?;
    candles.notices.extend(check_expiries(&space, &candles, &loaded, arguments)?);
    let settings = BacktestSettings {
        session: session_settings(&loaded),
        simulation: loaded.config.simulation.clone(),
        price_every_ms: Millis::new(i64::from(loaded.config.runtime.price_every_ms)),
    };
    Ok(Prepared { loaded, written, entry, settings, space, sweep, candles })
}

/// The place of the bot that is searched.
fn chosen_bot(bots: &[BotSettings], named: Option<&str>) -> Result<usize, Failure> {
    let names = || bots.iter().map(|bot| bot.name.as_str());
    let Some(named) = named else {
        if bots.len() == 1 {
            return Ok(0);
        }
        let problem = "there are several bots: say with --bot whose parameters are searched";
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(Failure::configuration(problem).help(format!("known are: {known}")));
    };
    names().position(|name| name == named).ok_or_else(|| {
        let help = suggest(named, names().collect::<Vec<_>>());
        Failure::configuration(format!("--bot {named}: there is no such bot")).help(help)
    })
}

/// What of a strategy can be searched, as its schema says.
fn searchable(entry: &StrategyEntry) -> String {
    let range =
        |parameter: &candlewick_sdk::parameters::Parameter| match (parameter.minimum, parameter.maximum) {
            (Some(low), Some(high)) => format!("{} ({low} to {high})", parameter.name),
            _ => format!("{} ({})", parameter.name, parameter.kind),
        };
    let own = entry.parameters.iter().map(range);
    let all: Vec<String> = own.chain(["close_type", "expiration_type"].map(str::to_owned)).collect();
    format!("there are: {}", all.join(", "))
}

fn sweep_settings(
    arguments: &SweepArguments,
    space: &Space,
) -> Result<SweepSettings, candlewick_backtest::BacktestError> {
    let is_grid = arguments.trials.is_none() && space.count().is_some();
    let search = arguments.search.unwrap_or(if is_grid { Search::Grid } else { Search::Sobol });
    let problem = match (search, arguments.trials, arguments.halving) {
        (Search::Grid, Some(_), _) => "a grid tries every set: leave out --trials, or search another way",
        (search, _, Some(_)) if search.learns() => {
            "a search that learns needs every set on all candles: leave out --halving, or search another way"
        }
        _ => "",
    };
    if !problem.is_empty() {
        return Err(candlewick_backtest::BacktestError::ChangeSearch { problem: problem.to_owned() });
    }
    let halving =
        arguments.halving.map(|keep_one_in| Halving::new(keep_one_in, arguments.rungs)).transpose()?;
    let search = SearchSettings { search, trials: arguments.trials.unwrap_or(200), seed: arguments.seed };
    search.check(space)?;
    Ok(SweepSettings {
        search,
        objective: arguments.objective,
        min_trades: arguments.min_trades,
        halving: halving.unwrap_or(Halving::NONE),
    })
}

/// Holds every expiry that may be tried to the candles.
fn check_expiries(
    space: &Space,
    candles: &Candles,
    loaded: &Loaded,
    arguments: &SweepArguments,
) -> Result<Option<String>, Failure> {
    let Some(axis) = space.axes().iter().find(|axis| axis.target() == Target::CloseType) else {
        return arguments.candles.check_expiries(loaded, &candles.markets);
    };
    for bot in &loaded.config.bots {
        let Some(market) = candles.markets.iter().find(|market| market.symbol() == bot.symbol) else {
            continue;
        };
        for setting in axis.listed().into_iter().flatten() {
            let close_type = setting.to_string().parse().unwrap_or(bot.close_type);
            let Err(error) = check_expiry(Expiry { close_type, ..bot.expiry() }, market) else { continue };
            if arguments.candles.allow_coarse {
                return Ok(Some(COARSE.to_owned()));
            }
            let help = "--allow-coarse runs it all the same; such a result proves nothing";
            return Err(Failure::configuration(format!("--param close_type: {error}")).help(help));
        }
    }
    Ok(None)
}

fn threads(arguments: &SweepArguments) -> NonZeroUsize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    arguments.threads.unwrap_or_else(cores)
}
