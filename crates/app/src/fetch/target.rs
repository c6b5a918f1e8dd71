//! Selection of the series to fetch, by name or from the bots.

use crate::candles::DataName;
use crate::configuration::{Loaded, asset_type_of_bot};
use crate::error::{AppError, Result};
use candlewick_engine::BotSettings;
use candlewick_history::asset_type_of;
use candlewick_sdk::{Interval, Series, Symbol};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub series: Series,
    /// Asset type of the venue: `crypto`, `forex` or `otc`.
    pub asset_type: String,
}

/// Returns the series named as `SYMBOL@INTERVAL`, or by default the bots' series.
///
/// `every` sets the interval of all; names may then be plain symbols.
pub fn targets(
    names: &[String],
    every: Option<Interval>,
    asset_type: Option<&str>,
    loaded: &Loaded,
) -> Result<Vec<Target>> {
    let bots = &loaded.config.bots;
    let mut series: Vec<Series> = Vec::new();
    let named = names.iter().map(|name| series_of(name, every)).collect::<Result<Vec<_>, _>>()?;
    let of_bots = bots.iter().filter(|_| names.is_empty()).map(BotSettings::series);
    for one in named.into_iter().chain(of_bots) {
        let one = Series { interval: every.unwrap_or(one.interval), ..one };
        if !series.contains(&one) {
            series.push(one);
        }
    }
    if series.is_empty() {
        let help = "name some, such as BTCUSDT@1m, or give a --config that has [[bots]]";
        return Err(AppError::invalid("there is no series to fetch").help(help));
    }
    let kind = |symbol: Symbol| {
        let of_bot =
            bots.iter().find(|bot| bot.symbol == symbol).map(|bot| asset_type_of_bot(bot).to_owned());
        let given = asset_type.map(str::to_owned).or(of_bot);
        given.unwrap_or_else(|| asset_type_of(symbol).to_string())
    };
    Ok(series.into_iter().map(|series| Target { series, asset_type: kind(series.symbol) }).collect())
}

fn series_of(name: &str, every: Option<Interval>) -> Result<Series> {
    if let Ok(DataName::Stored(series)) = name.parse() {
        return Ok(series);
    }
    let problem = match (name.split_once('@'), every) {
        (None, Some(interval)) => match Symbol::new(name) {
            Ok(symbol) => return Ok(Series { symbol, interval }),
            Err(error) => error.to_string(),
        },
        (None, None) => format!("\"{name}\" has no interval"),
        (Some(_), _) => format!("\"{name}\" is not the name of a series"),
    };
    Err(AppError::invalid(problem).help("write SYMBOL@INTERVAL, such as BTCUSDT@1m or EURUSD.OTC@5s"))
}
