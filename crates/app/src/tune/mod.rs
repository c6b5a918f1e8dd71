//! From a rule to a validated result: its candles, its search and the division of the candles.

mod candles;

pub use candles::{CandleOrigin, CheckedCandles, check_candles};

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

/// Larger grids are sampled with this many sets instead.
pub const MOST_SETS: u64 = 200;
/// Parts before the hold-out if nothing is searched: one for training, the others for tests.
const FIXED_PARTS: i64 = 6;
/// Parts of the default layout: a training as long as three tests, and five tests.
const USUAL_PARTS: i64 = 8;

pub struct TunePlan<'a> {
    pub terms: SearchTerms,
    pub prepared: PreparedSearch<'a>,
    pub layout: LayoutTerms,
    pub is_fixed: bool,
    pub without_range: Vec<String>,
    /// Parameters that select the signals of a combination. They stay unchanged unless named.
    pub of_combination: Vec<String>,
}

impl<'a> TunePlan<'a> {
    /// Searches all parameters that have a range, with at most [`MOST_SETS`] sets: the whole grid, or a
    /// sample of it. A bot without such parameters is tested unchanged.
    pub fn prepare(
        mut terms: SearchTerms,
        hold_out: f64,
        (files, registry): (&[PathBuf], &'a Registry),
        progress: &dyn Progress,
    ) -> Result<Self, AppError> {
        let (_, bot) = tuned_bot(&terms, files, registry)?;
        let Some(entry) = registry.find(&bot.strategy) else {
            return Err(AppError::invalid(suggest_strategy(&bot.strategy, registry)));
        };
        let entry = entry.for_params(&bot.params).map_err(|error| AppError::invalid(error.to_string()))?;
        let is_number = |one: &&Parameter| matches!(one.kind.as_str(), "integer" | "number");
        let numbers = entry.parameters.iter().filter(is_number).cloned();
        // Ranges of the combination itself span thousands of values, and most leave nothing to trade.
        let is_of_combination = |one: &Parameter| one.name == "within" || one.name.starts_with("gate.");
        let (selecting, numbers): (Vec<Parameter>, Vec<Parameter>) =
            numbers.partition(|one| bot.strategy == "combine" && is_of_combination(one));
        let (ranged, bare): (Vec<Parameter>, Vec<Parameter>) =
            numbers.into_iter().partition(|one| one.minimum.is_some() && one.maximum.is_some());
        let names = |all: Vec<Parameter>| all.into_iter().map(|one| one.name).collect::<Vec<String>>();
        let (mut without_range, mut of_combination) = (Vec::new(), Vec::new());
        if terms.parameters.is_empty() {
            terms.parameters = names(ranged);
            (without_range, of_combination) = (names(bare), names(selecting));
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

    pub fn before_hold_out(&self, layout: &Layout) -> SearchTerms {
        let mut terms = self.terms.clone();
        let end = layout.hold_out.as_ref().map(|range| range.start - layout.settings.gap);
        terms.candles.to = end.or(terms.candles.to);
        terms
    }

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

    /// The name differs for another rule, other candles or another program.
    pub fn folder_name(&self) -> Result<String, AppError> {
        let whole = json!([self.terms.identity(&self.prepared)?, self.layout.hold_out]);
        Ok(format!("trials-{}", &blake3::hash(whole.to_string().as_bytes()).to_hex()[..12]))
    }

    pub fn bot_as_it_stands(&self) -> Result<Option<String>, AppError> {
        let bot = self.prepared.settings.session.bots.first();
        bot.map(|bot| best_bot(&self.prepared, bot)).transpose()
    }
}

fn tuned_bot(
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

/// A bot without parameters to choose needs only a short training.
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
