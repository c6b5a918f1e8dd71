//! Check of the configured candles for coverage and gaps.

use super::bound::{READING, blocking};
use super::finding::{Check, Finding};
use crate::candles::{self, CandleStore, DataName};
use crate::configuration::Loaded;
use candlewick_engine::BotSettings;
use candlewick_history::{Gap, gaps};
use candlewick_records::time_text;
use candlewick_sdk::{CandleSeries, Millis, Series};

/// Time from the epoch, a Thursday, to the first Saturday noon.
const SATURDAY_NOON: Millis = Millis::from_seconds((2 * 24 + 12) * 3_600);
const WEEK: Millis = Millis::from_seconds(7 * 86_400);

pub(super) async fn check(loaded: &Loaded, report: &mut dyn FnMut(Finding)) {
    let config = &loaded.config;
    let store = candles::candle_store(loaded);
    // What does not say its series has failed as configuration.
    let mut names: Vec<DataName> = config.sandbox.data.iter().filter_map(|text| text.parse().ok()).collect();
    if config.sandbox.data.is_empty() {
        match candles::stored_for(&store.catalog, &config.bots) {
            Ok(stored) => names = stored,
            Err(error) => {
                report(Check::Data.fail(error.text(), "mend the catalog, or delete what is broken of it"));
                return;
            }
        }
        if names.is_empty() {
            let text = "no files are configured and the catalog has nothing for the bots: live asks the venue for candles, \
                        `live --sandbox` makes synthetic ones, and a backtest needs files";
            report(Check::Data.ok(text));
            return;
        }
    }
    let covered: Vec<Series> = names.iter().map(DataName::series).collect();
    for name in names {
        let late = format!("{name} was not read within {} s", READING.as_secs());
        let late = Check::Data.warn(late, "look at the disk");
        let store = store.clone();
        report(blocking(READING, late, move || read(&name, &store)).await);
    }
    for bot in config.bots.iter().filter(|bot| !covered.contains(&bot.series())) {
        report(not_covered(bot));
    }
}

fn read(name: &DataName, store: &CandleStore) -> Finding {
    match name.read(store, &mut |_| {}) {
        Ok(series) => judge(series.candles()),
        Err(error) => Check::Data.fail(error.to_string(), "mend the file, or leave it out of sandbox.data"),
    }
}

fn judge(series: &CandleSeries) -> Finding {
    let day = |moment: Millis| time_text(moment, "%Y-%m-%d %H:%M");
    let all = gaps(series);
    let holes: Vec<&Gap> = all.iter().filter(|gap| !holds_weekend(gap)).collect();
    let closed = all.len() - holes.len();
    let text = format!(
        "{}: {} candles, {} to {}, weekends left out: {closed}",
        series.series(),
        series.candles().len(),
        day(series.start()),
        day(series.end())
    );
    match holes.iter().max_by_key(|gap| gap.missing) {
        None => Check::Data.ok(text),
        Some(longest) => Check::Data.warn(
            format!(
                "{text}, other gaps: {}, the longest of {} candles from {}",
                holes.len(),
                longest.missing,
                day(longest.start)
            ),
            "fill them: a trade that would open in one is refused (NoPrice), one that would close in one is CANCELLED",
        ),
    }
}

/// Returns whether a gap contains a Saturday noon (UTC).
///
/// Only crypto markets are open then.
fn holds_weekend(gap: &Gap) -> bool {
    let week = (gap.start - SATURDAY_NOON).floor_to(WEEK) + SATURDAY_NOON;
    let next = if week < gap.start { week + WEEK } else { week };
    next < gap.end
}

fn not_covered(bot: &BotSettings) -> Finding {
    let series = bot.series();
    let text = format!("no file holds {series} for bot \"{}\"", bot.name);
    let remedy =
        format!("add {}_{}.csv to sandbox.data, if you mean to backtest it", series.symbol, series.interval);
    Check::Data.warn(text, remedy)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_sdk::{Candle, Interval, Ohlcv};

    fn check(hours: &[i64], mark: Mark, part: &str) {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let interval: Interval = "1h".parse().unwrap();
        let candle = |hour: &i64| Candle::new(Millis::HOUR * *hour, interval, numbers).unwrap();
        let series = Series { symbol: "EURUSD".parse().unwrap(), interval };
        let finding =
            judge(&CandleSeries::new(series, hours.iter().map(candle).collect::<Vec<_>>()).unwrap());
        assert!(finding.mark == mark && finding.text.contains(part), "{finding}");
    }

    #[test]
    fn gaps_are_reported_and_weekends_are_none() {
        // Hour 0 is Thursday 1970-01-01 00:00; Saturday noon is hour 60.
        check(
            &[0, 1, 2],
            Mark::Ok,
            "EURUSD 1h: 3 candles, 1970-01-01 00:00 to 1970-01-01 03:00, weekends left out: 0",
        );
        check(&[46, 47, 94, 95], Mark::Ok, "weekends left out: 1");
        check(&[59, 61], Mark::Ok, "weekends left out: 1");
        check(
            &[58, 60],
            Mark::Warn,
            "weekends left out: 0, other gaps: 1, the longest of 1 candles from 1970-01-03 11:00",
        );
        check(&[0, 2, 8, 9], Mark::Warn, "other gaps: 2, the longest of 5 candles from 1970-01-01 03:00");
        check(&[47, 94, 96, 47 + 168, 94 + 168], Mark::Warn, "weekends left out: 2");
    }
}
