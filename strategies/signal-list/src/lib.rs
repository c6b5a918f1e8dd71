//! Trades the signals in a CSV file.
//!
//! Example of a strategy with external data. `build` reads and checks the whole file, and reports the line of every
//! mistake. `on_candle` reads no files.

mod list;

use candlewick_sdk::{
    BotContext, BuildError, Candle, Expiry, Interval, Signal, Strategy, StrategyFactory, parameters,
};
use list::Row;
use std::path::Path;

parameters! {
    /// Location of the signal list.
    pub struct Params {
        /// CSV file with the header time,symbol,direction or time,symbol,direction,close_type.
        file: String = String::new();
    }
}

/// Strategy that trades a list of signals. Each row has a direction and the close time (ms) of the signal's candle.
/// Rows for other symbols are skipped. A row can override the bot's `close_type`, but not its expiration type.
#[derive(Debug)]
pub struct SignalList {
    interval: Interval,
    rows: Vec<Row>,
    /// Index of the first row at or after the last close.
    next_row: usize,
}

impl Strategy for SignalList {
    fn warmup(&self) -> usize {
        0
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        let mut expiries = Vec::new();
        for row in &self.rows {
            if !expiries.contains(&row.expiry) {
                expiries.push(row.expiry);
            }
        }
        expiries
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let time = candle.close_time(self.interval);
        while self.rows.get(self.next_row).is_some_and(|row| row.time < time) {
            self.next_row += 1;
        }
        let row = self.rows.get(self.next_row).filter(|row| row.time == time)?;
        Some(Signal { expiry: row.expiry, ..Signal::new(row.direction, "listed") })
    }
}

impl StrategyFactory for SignalList {
    const NAME: &'static str = "signal-list";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Trades a list of signals from a CSV file.";
    type Params = Params;

    fn build(params: Params, bot: &BotContext) -> Result<Self, BuildError> {
        if params.file.is_empty() {
            let problem = "missing `file`: use the path of a CSV file of signals".to_owned();
            return Err(BuildError::invalid_parameters(Self::NAME, problem));
        }
        let rows = list::read_rows(Path::new(&params.file), bot)?;
        Ok(Self { interval: bot.interval, rows, next_row: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk};
    use candlewick_sdk::{Direction, ExpirationType, Expiry};
    use std::fmt::Write as _;

    const FIRST_CLOSE: i64 = 1_735_689_660_000;

    fn params(file: &str) -> Params {
        Params { file: file.to_owned() }
    }

    fn list(name: &str, rows: &str) -> (tempfile::TempDir, Params) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, format!("time,symbol,direction,close_type\n{rows}")).unwrap();
        let params = params(path.to_str().unwrap());
        (directory, params)
    }

    #[test]
    fn signals_only_at_candles_of_the_list() {
        let mut bot = bot("BTCUSDT");
        bot.expiry.expiration_type = ExpirationType::CandleClose;
        // The rows are at candle 0, at a missing candle, at candle 4, and before all candles.
        let rows = [(0, "BUY", ""), (2, "BUY", ""), (4, "SELL", "05:00"), (-9, "SELL", "")];
        let rows = rows.map(|(index, direction, close_type)| {
            format!("{},BTCUSDT,{direction},{close_type}\n", FIRST_CLOSE + index * 60_000)
        });
        let (_directory, params) = list("signals.csv", &rows.concat());
        let mut strategy = SignalList::build(params, &bot).unwrap();
        let mut candles = from_closes(&[1.0; 6]);
        candles.remove(2);
        let signals = candles.iter().map(|candle| strategy.on_candle(candle));
        let directions: Vec<_> =
            signals.map(|signal| signal.map(|signal| (signal.direction, signal.expiry))).collect();
        let five_minutes = Expiry { close_type: "05:00".parse().unwrap(), ..bot.expiry };
        let (buy, sell) = (Some((Direction::Buy, None)), Some((Direction::Sell, Some(five_minutes))));
        assert_eq!(directions, [buy, None, None, sell, None]);
    }

    #[test]
    fn reports_unusable_list_with_path_and_line() {
        let refusal = |params| SignalList::build(params, &bot("BTCUSDT")).unwrap_err().to_string();
        let expected =
            "parameters of strategy \"signal-list\": missing `file`: use the path of a CSV file of signals";
        assert_eq!(refusal(Params::default()), expected);
        assert!(
            refusal(params("no/such.csv")).starts_with("no/such.csv: cannot read the list: No such file")
        );
        let (_directory, broken) = list("broken.csv", "1,BTCUSDT,BUY\n");
        let path = broken.file.clone();
        let problem = "no 1m candle closes at 1: use a multiple of 60000 ms";
        assert_eq!(refusal(broken), format!("{path}, line 2: {problem}"));
    }

    #[test]
    fn conforms() {
        let mut rows = String::new();
        for index in (0..500).step_by(7) {
            writeln!(rows, "{},BTCUSDT,BUY,", FIRST_CLOSE + index * 60_000).unwrap();
        }
        let (_directory, params) = list("signals.csv", &rows);
        let signals = check_conformance::<SignalList>(&params, &bot("BTCUSDT"), &random_walk(2, 500));
        assert_eq!(signals.unwrap(), 72);
    }
}
