//! Check, before a search, that candles are fine enough for all expiries it may try.

use super::prepared::SearchTerms;
use crate::candles::{Candles, Fineness, too_coarse};
use crate::configuration::Loaded;
use crate::error::AppError;
use candlewick_engine::BotSettings;
use candlewick_sdk::{CloseType, Expiry, StrategyEntry};
use candlewick_search::sweep::{Axis, Setting, Space, Target};
use candlewick_simulator::Market;
use serde_json::Value;

/// Checks the expiries of the bot and those its strategy declares.
///
/// Returns a warning if one is too short and that is allowed.
///
/// # Errors
/// The first expiry that is shorter than its candles.
pub(super) fn check_expiries(
    (entry, space): (&StrategyEntry, &Space),
    candles: &Candles,
    loaded: &Loaded,
    terms: &SearchTerms,
) -> Result<Option<String>, AppError> {
    let markets = &candles.markets;
    let coarse = match space.axes().iter().find(|axis| axis.target() == Target::CloseType) {
        None => terms.candles.check_expiries(loaded, markets, Fineness::Throughout)?,
        Some(axis) => coarse_close_type(axis, markets, loaded, terms)?,
    };
    if coarse.is_some() {
        return Ok(coarse);
    }
    for (bot, market) in traded(loaded, markets) {
        let tried = tried_bots(bot, space);
        let why = tried.iter().find_map(|(how, bot)| {
            let mut own = own_expiries(entry, bot).into_iter();
            let why = own.find_map(|expiry| too_coarse(expiry, market, Fineness::Throughout))?;
            Some(format!("{how}the strategy of bot {} asks for an expiry of its own: {why}", bot.name))
        });
        if let Some(why) = why {
            return terms.coarse(why);
        }
    }
    Ok(None)
}

/// Warns about searched durations without effect.
///
/// The strategy sets the durations of all trades itself.
pub(super) fn idle_close_types(
    (entry, space): (&StrategyEntry, &Space),
    bots: &[BotSettings],
) -> Option<String> {
    let axis = space.axes().iter().find(|axis| axis.target() == Target::CloseType)?;
    let values = axis.listed().filter(|values| values.len() > 1)?;
    let is_idle = |bot: &BotSettings| {
        let lasting = values.iter().map(|value| {
            let close_type = value.to_string().parse().unwrap_or(bot.close_type);
            let bot = BotSettings { close_type, ..bot.clone() };
            let all: Option<Vec<CloseType>> =
                expiries(entry, &bot)?.into_iter().map(|expiry| Some(expiry?.close_type)).collect();
            all.filter(|all| !all.is_empty())
        });
        let lasting: Vec<_> = lasting.collect();
        lasting[0].is_some() && lasting.windows(2).all(|pair| pair[0] == pair[1])
    };
    let mut tried = bots.iter().flat_map(|bot| tried_bots(bot, space));
    tried.all(|(_, bot)| is_idle(&bot)).then(|| {
        "--param close_type decides nothing: each trade lasts as long as the strategy says itself, so rows that differ in it alone are equal"
            .to_owned()
    })
}

fn coarse_close_type(
    axis: &Axis,
    markets: &[Market],
    loaded: &Loaded,
    terms: &SearchTerms,
) -> Result<Option<String>, AppError> {
    for (bot, market) in traded(loaded, markets) {
        for setting in axis.listed().into_iter().flatten() {
            let close_type = setting.to_string().parse().unwrap_or(bot.close_type);
            let expiry = Expiry { close_type, ..bot.expiry() };
            let Some(why) = too_coarse(expiry, market, Fineness::Throughout) else { continue };
            return terms.coarse(format!("--param close_type: {why}"));
        }
    }
    Ok(None)
}

fn traded<'a>(
    loaded: &'a Loaded,
    markets: &'a [Market],
) -> impl Iterator<Item = (&'a BotSettings, &'a Market)> {
    let bots = loaded.config.bots.iter();
    bots.filter_map(|bot| Some((bot, markets.iter().find(|market| market.symbol() == bot.symbol)?)))
}

/// Returns representative bots with the flag that causes each.
///
/// They are the bot with the first value of each axis, and variants of a single axis. Numeric axes
/// contribute only their first and last value.
fn tried_bots(bot: &BotSettings, space: &Space) -> Vec<(String, BotSettings)> {
    let mut first = bot.clone();
    let axes = space.axes().iter().filter(|axis| axis.target() == Target::Parameter);
    let axes: Vec<(&Axis, &[Setting])> = axes.filter_map(|axis| Some((axis, axis.listed()?))).collect();
    for (axis, values) in &axes {
        if let Some(value) = values.first() {
            set(&mut first, axis.name(), value);
        }
    }
    let mut tried = vec![(String::new(), first.clone())];
    for (axis, values) in axes {
        let step = if axis.is_number() { values.len().saturating_sub(1).max(1) } else { 1 };
        for value in values.iter().step_by(step) {
            let mut other = first.clone();
            set(&mut other, axis.name(), value);
            tried.push((format!("--param {}={value}: ", axis.name()), other));
        }
    }
    tried
}

fn set(bot: &mut BotSettings, name: &str, value: &Setting) {
    if !bot.params.is_object() {
        bot.params = Value::Object(serde_json::Map::new());
    }
    bot.params[name] = value.to_json();
}

fn own_expiries(entry: &StrategyEntry, bot: &BotSettings) -> Vec<Expiry> {
    expiries(entry, bot).into_iter().flatten().flatten().collect()
}

/// `None` if the strategy cannot be built; its trial reports the reason.
fn expiries(entry: &StrategyEntry, bot: &BotSettings) -> Option<Vec<Option<Expiry>>> {
    entry.build(&bot.params, &bot.context(None)).ok().map(|strategy| strategy.expiries())
}
