//! What of a bot is searched, by how many sets and on which part of the candles, where nobody says.

use crate::bots::{BotSet, suggest_strategy};
use crate::configuration::{Base, Loaded};
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::{Layout, LayoutTerms, PreparedSearch, SearchTerms, best_bot, chosen_bot};
use candlewick_backtest::BacktestSettings;
use candlewick_engine::BotSettings;
use candlewick_sdk::parameters::Parameter;
use candlewick_sdk::testkit::{Market, Subject};
use candlewick_sdk::{Millis, Registry};
use candlewick_search::sweep::{Replay, Search};
use candlewick_search::walk_forward::Course;
use serde_json::json;
use std::path::PathBuf;

/// A grid of more sets than this is not walked whole: as many are spread over it.
pub const MOST_SETS: u64 = 200;
/// The strategy whose own numbers are searched only where they are named.
const COMBINATION: &str = "combine";
/// Parts of the candles before the hold-out where nothing is searched: the first is the training, each other a test.
const FIXED_PARTS: i64 = 6;
/// Parts that a layout has where nobody says: a training of three tests, and five of them.
const USUAL_PARTS: i64 = 8;

/// What is searched, prepared.
pub struct TunePlan<'a> {
    /// The terms, with what was left open filled in.
    pub terms: SearchTerms,
    /// Everything that they need.
    pub prepared: PreparedSearch<'a>,
    /// How the candles are divided: windows that train on everything before their test, and the hold-out at the end.
    pub layout: LayoutTerms,
    /// Whether the bot has nothing to search: it is tested as it stands.
    pub is_fixed: bool,
    /// Parameters that stay as they are, since they have no range.
    pub without_range: Vec<String>,
    /// Those that decide which signals of a combination are traded, not what it signals: they stay as they are, unless they are named.
    pub of_combination: Vec<String>,
}

impl<'a> TunePlan<'a> {
    /// Fills in what the terms leave open, and reads and checks all of it. All parameters with a range are searched; up to
    /// [`MOST_SETS`] of a grid, else so many that are spread over it. A bot without any is tested as it stands.
    ///
    /// # Errors
    /// As [`SearchTerms::prepare`].
    pub fn prepare(
        mut terms: SearchTerms,
        hold_out: f64,
        (files, registry): (&[PathBuf], &'a Registry),
        progress: &dyn Progress,
    ) -> Result<Self, AppError> {
        let (_, bot) = tuned_bot(&terms, files, registry)?;
        let parameters = parameters_of(&bot, registry)?;
        let numbers = parameters.into_iter().filter(|one| matches!(one.kind.as_str(), "integer" | "number"));
        let (of_combination, numbers): (Vec<Parameter>, Vec<Parameter>) =
            numbers.partition(|one| bot.strategy == COMBINATION && is_of_combination(&one.name));
        let (ranged, bare): (Vec<Parameter>, Vec<Parameter>) = numbers.into_iter().partition(has_range);
        let names = |all: Vec<Parameter>| all.into_iter().map(|one| one.name).collect::<Vec<String>>();
        let (ranged, mut without_range, mut of_combination) =
            (names(ranged), names(bare), names(of_combination));
        let is_open = terms.parameters.is_empty();
        without_range.retain(|_| is_open);
        of_combination.retain(|_| is_open);
        if is_open {
            terms.parameters = ranged;
        }
        let is_fixed = terms.parameters.is_empty();
        if is_fixed {
            // One set: the bot as it stands.
            terms.parameters = vec![format!("close_type={}", bot.close_type)];
            (terms.min_trades, terms.search, terms.trials, terms.halving) = (1, None, None, None);
        }
        let mut prepared = terms.prepare(files, registry, progress)?;
        let is_wide = prepared.space.count().is_some_and(|sets| sets > MOST_SETS);
        if terms.search.is_none() && terms.trials.is_none() && is_wide {
            (terms.search, terms.trials) = (Some(Search::Sobol), Some(MOST_SETS));
            prepared.spread(&terms)?;
        }
        let layout = layout_of(&prepared, hold_out, is_fixed)?;
        Ok(Self { terms, prepared, layout, is_fixed, without_range, of_combination })
    }

    /// The same search of the candles that come before the hold-out, as its own training has them.
    pub fn before_hold_out(&self, layout: &Layout) -> SearchTerms {
        let mut terms = self.terms.clone();
        let end = layout.hold_out.as_ref().map(|range| range.start - layout.settings.gap);
        terms.candles.to = end.or(terms.candles.to);
        terms
    }

    /// The bot's strategy, and the newest of the candles before the hold-out that it is checked on.
    ///
    /// # Errors
    /// The bot has no candle there.
    pub fn subject(&self, layout: &Layout) -> Result<(Subject, Market), AppError> {
        let PreparedSearch { entry, candles, settings: BacktestSettings { session, .. }, .. } =
            &self.prepared;
        let none = || AppError::data("the bot has no candles before the hold-out");
        let bot = session.bots.first().ok_or_else(none)?;
        let own = candles.series.iter().find(|own| own.series() == bot.series()).ok_or_else(none)?;
        let shown = own.within(layout.walked.clone()).map_err(|_| none())?;
        let context = bot.context(session.longer_share_percent);
        let entry = entry.clone().into_owned();
        let market = Market { name: bot.series().to_string(), candles: shown.candles().to_vec() };
        Ok((Subject { entry, params: bot.params.clone(), bot: context }, market))
    }

    /// A name for the folder of its trials: another rule, other candles or another program have another one.
    ///
    /// # Errors
    /// The program itself cannot be read.
    pub fn folder_name(&self) -> Result<String, AppError> {
        let whole = json!([self.terms.identity(&self.prepared)?.to_json(), self.layout.hold_out]);
        Ok(format!("trials-{}", &blake3::hash(whole.to_string().as_bytes()).to_hex()[..12]))
    }

    /// The bot as a configuration that is laid over no other.
    ///
    /// # Errors
    /// Parameters that TOML cannot hold.
    pub fn bot_as_it_stands(&self) -> Result<Option<String>, AppError> {
        let bot = self.prepared.settings.session.bots.first();
        bot.map(|bot| best_bot(&self.prepared, bot)).transpose()
    }
}

/// The configuration, and the bot of it that is tuned, whose strategy can be built.
///
/// # Errors
/// There is no bot but the built-in examples; a rule or a parameter that is wrong, with its place.
pub(super) fn tuned_bot(
    terms: &SearchTerms,
    files: &[PathBuf],
    registry: &Registry,
) -> Result<(Loaded, BotSettings), AppError> {
    let loaded = Loaded::read(files, Base::Sandbox, terms.candles.flags())?;
    if loaded.has_built_in_bots() {
        let help = "name the file of a rule, `candlewick tune rule.toml --data BTCUSDT_1m.csv`, or a configuration with a bot, \
                    `--config bot.toml`";
        return Err(AppError::invalid("there is no bot to tune").help(help));
    }
    BotSet::build(&loaded, registry)?;
    let place = chosen_bot(&loaded.config.bots, terms.bot.as_deref())?;
    let bot = loaded.config.bots[place].clone();
    Ok((loaded, bot))
}

/// The parameters of the bot's strategy, as its own parameters make it.
fn parameters_of(bot: &BotSettings, registry: &Registry) -> Result<Vec<Parameter>, AppError> {
    let Some(entry) = registry.find(&bot.strategy) else {
        return Err(AppError::invalid(suggest_strategy(&bot.strategy, registry)));
    };
    let entry = entry.for_params(&bot.params).map_err(|error| AppError::invalid(error.to_string()))?;
    Ok(entry.parameters.clone())
}

/// Whether a parameter of a combination is its own, and none of a part: ranges of thousands, of which most leave nothing to trade.
fn is_of_combination(name: &str) -> bool {
    name == "within" || name.starts_with("gate.")
}

fn has_range(parameter: &Parameter) -> bool {
    parameter.minimum.is_some() && parameter.maximum.is_some()
}

/// Windows that train on everything before their test. Where nothing is chosen, a training need not be long.
fn layout_of(prepared: &PreparedSearch<'_>, hold_out: f64, is_fixed: bool) -> Result<LayoutTerms, AppError> {
    let usual = LayoutTerms { anchored: true, train: None, test: None, embargo: Millis::ZERO, hold_out };
    if !is_fixed {
        return Ok(usual);
    }
    let PreparedSearch { loaded, entry, settings, space, candles, .. } = prepared;
    let whole = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let course = Course { whole, balance: loaded.initial_balance()? };
    let step = course.step();
    let divided = usual.divide(&course.span(), step, course.purge())?;
    let part = Millis::new(divided.settings.test.get() * USUAL_PARTS / FIXED_PARTS).floor_to(step).max(step);
    Ok(LayoutTerms { train: Some(part), test: Some(part), ..usual })
}
