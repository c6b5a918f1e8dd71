//! Assignment of candle series to bots and to the pricing of trades.

use super::name::is_part;
use crate::error::AppError;
use candlewick_engine::BotSettings;
use candlewick_history::{HashedSeries, resample_by};
use candlewick_sdk::{CandleSeries, Series, Symbol, nearest};
use candlewick_simulator::Market;

/// Selects the series of each bot and the finer candles of traded symbols.
///
/// A missing series is resampled from the longest candles that divide it. `place` names the source.
///
/// # Errors
/// A bot whose series is missing, with the available ones.
pub fn select_series(
    bots: &[BotSettings],
    mut all: Vec<HashedSeries>,
    (place, longer_share_percent): (&str, f64),
) -> Result<Vec<HashedSeries>, AppError> {
    for bot in bots {
        if all.iter().any(|one| one.candles().series() == bot.series()) {
            continue;
        }
        let parts = all.iter().map(HashedSeries::candles).filter(|one| is_part(one.series(), bot.series()));
        let Some(longest) = parts.max_by_key(|one| one.interval()) else {
            let there: Vec<Series> = all.iter().map(|one| one.candles().series()).collect();
            return Err(missing(bot, &there, place));
        };
        let joined = resample_by(longest, bot.interval, longer_share_percent)?;
        all.push(HashedSeries::new(joined.candles));
    }
    let is_traded = |symbol: Symbol| bots.iter().any(|bot| bot.symbol == symbol);
    Ok(all.into_iter().filter(|one| is_traded(one.candles().symbol())).collect())
}

/// Builds one market per traded symbol.
///
/// The finest series with a bot provides the prices, and all finer ones the detail.
pub fn markets_for(bots: &[BotSettings], series: &[CandleSeries]) -> Vec<Market> {
    let mut markets: Vec<Market> = Vec::new();
    for bot in bots {
        if markets.iter().any(|market| market.symbol() == bot.symbol) {
            continue;
        }
        let is_heard = |one: &&CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
        let of_symbol = || series.iter().filter(|one| one.symbol() == bot.symbol);
        let Some(prices) = of_symbol().filter(is_heard).min_by_key(|one| one.interval()) else { continue };
        let mut detail: Vec<CandleSeries> =
            of_symbol().filter(|one| one.interval() < prices.interval()).cloned().collect();
        detail.sort_by_key(CandleSeries::interval);
        markets.push(Market { prices: prices.clone(), detail });
    }
    markets
}

fn missing(bot: &BotSettings, there: &[Series], place: &str) -> AppError {
    let Series { symbol, interval } = bot.series();
    let help = meant(bot.series(), there).unwrap_or_else(|| {
        format!(
            "give a file of them: --data {symbol}_{interval}.csv; `candlewick data fetch {symbol}@{interval}` brings them \
             into the catalog, `candlewick data generate` makes synthetic ones; --catalog takes another catalog"
        )
    });
    AppError::data(absence(bot, there, place)).help(help)
}

/// Reports a bot without candles in a catalog that has others.
///
/// No synthetic candles are used in this case, because the symbol may be misspelled.
pub(super) fn not_in_catalog(bot: &BotSettings, there: &[Series], place: &str) -> AppError {
    let Series { symbol, interval } = bot.series();
    let meant = meant(bot.series(), there).map_or_else(String::new, |meant| format!("{meant} Else "));
    AppError::data(absence(bot, there, place)).help(format!(
        "{meant}`candlewick data fetch {symbol}@{interval}` brings them into the catalog, `candlewick data import` takes a file, and \
         `candlewick data generate --symbol {symbol} --interval {interval} --catalog` makes synthetic ones"
    ))
}

pub(super) fn absence(bot: &BotSettings, there: &[Series], place: &str) -> String {
    let names: Vec<String> = there.iter().map(Series::to_string).collect();
    format!(
        "there are no candles of {} for bot \"{}\" in {place}; there are: {}",
        bot.series(),
        bot.name,
        names.join(", ")
    )
}

pub(super) fn meant(wanted: Series, there: &[Series]) -> Option<String> {
    if let Some(other) = there.iter().find(|one| one.symbol == wanted.symbol) {
        return Some(format!("did you mean interval = \"{}\"?", other.interval));
    }
    let near = nearest(wanted.symbol.as_str(), there.iter().map(|one| one.symbol.as_str()))?;
    Some(format!("did you mean symbol = \"{near}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candles::candles_of;
    use candlewick_engine::StakeSettings;
    use candlewick_sdk::{Candle, ExpirationType, Millis, Ohlcv};

    fn bot(symbol: &str, interval: &str) -> BotSettings {
        BotSettings {
            name: "a".to_owned(),
            symbol: symbol.parse().unwrap(),
            entry_delay_s: 0,
            venue: std::collections::BTreeMap::new(),
            interval: interval.parse().unwrap(),
            strategy: "x".to_owned(),
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::TimeFixed,
            params: serde_json::json!({}),
            stake: StakeSettings::default(),
        }
    }

    fn series(text: &str) -> HashedSeries {
        let (symbol, interval) = text.split_once(' ').unwrap();
        let series = Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() };
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let step = series.interval.length();
        let count = (Millis::HOUR.get() / step.get()).max(1);
        let candle = |index| Candle::new(step * index, series.interval, numbers).unwrap();
        HashedSeries::new(CandleSeries::new(series, (0..count).map(candle).collect::<Vec<_>>()).unwrap())
    }

    fn check(bots: &[(&str, &str)], there: &[&str], expected: &[(&str, &[&str])]) {
        let bots: Vec<BotSettings> = bots.iter().map(|(symbol, interval)| bot(symbol, interval)).collect();
        let all: Vec<HashedSeries> = there.iter().map(|text| series(text)).collect();
        let markets = markets_for(&bots, &candles_of(&select_series(&bots, all, ("x", 50.0)).unwrap()));
        let found: Vec<(String, Vec<String>)> = markets
            .iter()
            .map(|market| {
                let detail = market.detail.iter().map(|detail| detail.series().to_string());
                (market.prices.series().to_string(), detail.collect())
            })
            .collect();
        let expected: Vec<(String, Vec<String>)> = expected
            .iter()
            .map(|(prices, detail)| {
                ((*prices).to_owned(), detail.iter().map(|one| (*one).to_owned()).collect())
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn trades_are_priced_by_the_finest_candles_in_use_and_all_below_them() {
        let all = ["A 5m", "A 30s", "A 1m", "A 5s", "B 1m"];
        check(&[("A", "1m")], &all, &[("A 1m", &["A 5s", "A 30s"])]);
        check(&[("A", "5m")], &all, &[("A 5m", &["A 5s", "A 30s", "A 1m"])]);
        check(&[("A", "5m"), ("A", "1m")], &all, &[("A 1m", &["A 5s", "A 30s"])]);
        check(&[("B", "1m"), ("A", "5s")], &all, &[("B 1m", &[]), ("A 5s", &[])]);
    }

    #[test]
    fn a_series_that_is_missing_is_joined_from_the_longest_candles_that_make_it_up() {
        check(&[("A", "15m")], &["A 5s", "A 5m", "A 10m"], &[("A 15m", &["A 5s", "A 5m", "A 10m"])]);
        let joined =
            select_series(&[bot("A", "15m")], vec![series("A 5s"), series("A 5m")], ("x", 50.0)).unwrap();
        let own = joined.iter().find(|one| one.candles().series() == bot("A", "15m").series()).unwrap();
        assert_eq!((own.candles().candles().len(), own.candles().candles()[0].volume()), (4, 0.0));
    }

    #[test]
    fn a_missing_series_is_named_with_what_there_is() {
        for (symbol, interval, help) in [
            ("A", "90s", "did you mean interval = \"1m\"?"),
            ("BTCUSD", "1m", "did you mean symbol = \"BTCUSDT\"?"),
            ("Gold", "1m", "give a file of them: --data Gold_1m.csv"),
        ] {
            let all = vec![series("A 1m"), series("BTCUSDT 1m")];
            let failure =
                select_series(&[bot(symbol, interval)], all, ("the catalog data", 50.0)).unwrap_err().text();
            let there = format!(
                "no candles of {symbol} {interval} for bot \"a\" in the catalog data; there are: A 1m, BTCUSDT 1m"
            );
            assert!(failure.contains(&there) && failure.contains(help), "{failure}");
        }
    }
}
