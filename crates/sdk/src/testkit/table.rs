//! Text tables of candles with the expected signals.

use super::candles::{START, bot};
use super::validation::Subject;
use crate::{Candle, CandleError, Interval, LongerCandles, Millis, Ohlcv, Strategy, StrategyFactory};
use std::fmt::Write as _;

const NUMBER_COLUMNS: [&str; 5] = ["open", "high", "low", "close", "volume"];
const MAX_REPETITIONS: usize = 10_000;

struct Row {
    line: String,
    candle: Candle,
    signal: String,
}

/// Asserts that a strategy's signals match a table of candles and expected signals.
///
/// The first line names the columns: `close`, any of `open`, `high`, `low` and `volume`, and `signal` at the end. Each
/// further line is a one-minute candle of BTCUSDT, without gaps, from 2025-01-01 00:00 UTC on. By default, a candle
/// opens at the previous close, high and low are the extremes of open and close, and the volume is 0. `30x 100` means
/// thirty candles at 100.
///
/// A signal is `BUY` or `SELL`, optionally with the start of its reason: `BUY`, `BUY rose` and `BUY rose change=0.02`
/// accept `Signal::buy("rose").with("change", 0.02)`. An empty column means no signal. Signals during warm-up are
/// ignored, so a table without signals must cover it. The strategy receives neither settlements nor prices.
///
/// ```
/// # use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
/// # parameters! {
/// #     pub struct Params {}
/// # }
/// # struct Follows;
/// # impl Strategy for Follows {
/// #     fn warmup(&self) -> usize { 0 }
/// #     fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
/// #         (candle.close() > candle.open()).then(|| Signal::buy("rose"))
/// #     }
/// # }
/// # impl StrategyFactory for Follows {
/// #     const NAME: &'static str = "follows";
/// #     const VERSION: &'static str = "1.0.0";
/// #     const ABOUT: &'static str = "Follows.";
/// #     type Params = Params;
/// #     fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> { Ok(Self) }
/// # }
/// candlewick_sdk::testkit::assert_signals::<Follows>(
///     &Params::default(),
///     "close  signal
///      100
///      101    BUY rose
///      100",
/// );
/// ```
///
/// # Panics
/// Panics if a signal differs. The message lists each such line, [`Strategy::indicators`] and [`Strategy::conditions`].
/// Also panics if the table is invalid or the strategy cannot be built.
#[track_caller]
pub fn assert_signals<S: StrategyFactory>(params: &S::Params, table: &str) {
    let differences = parse_table(table).and_then(|rows| find_differences::<S>(params, &rows));
    assert!(
        differences.as_ref().is_ok_and(String::is_empty),
        "{}",
        differences.unwrap_or_else(|error| error)
    );
}

fn find_differences<S: StrategyFactory>(params: &S::Params, rows: &[Row]) -> Result<String, String> {
    let subject = Subject::new::<S>(params, &bot("BTCUSDT")).map_err(|error| error.to_string())?;
    let mut strategy = subject.build().map_err(|error| error.to_string())?;
    let longer = LongerCandles::for_bot(&subject.bot, strategy.longer_intervals());
    let mut longer = longer.map_err(|error| error.to_string())?;
    let warmup = strategy.warmup();
    if rows.len() < warmup && rows.iter().all(|row| row.signal.is_empty()) {
        return Err(format!(
            "the table has {} candles, but signals of the first {} candles (the warm-up) are ignored, so any strategy would pass; \
             start the table with a line such as `{warmup}x 100`",
            rows.len(),
            warmup - 1
        ));
    }
    let mut text = String::new();
    for (index, Row { line, candle, signal: expected }) in rows.iter().enumerate() {
        longer.feed_longer_candles_before(candle, &mut *strategy);
        let signal = strategy.on_candle(candle);
        let counts = index + 1 >= warmup;
        let given = signal.filter(|_| counts).map(|signal| format!("{} {}", signal.direction, signal.reason));
        let given = given.unwrap_or_default();
        let is_beginning = given.strip_prefix(expected.as_str()).is_some_and(|rest| rest.starts_with(' '));
        if given != *expected && (!is_beginning || expected.is_empty()) {
            let [expected, given] = [expected.as_str(), &given]
                .map(|signal| if signal.is_empty() { "no signal" } else { signal });
            let cold = if counts { String::new() } else { format!(" (warm-up: {warmup} candles)") };
            let _ =
                writeln!(text, "candle {}, \"{line}\": expected {expected}, got {given}{cold}", index + 1);
            text.push_str(&describe_state(&*strategy));
        }
        longer.feed_longer_candles_after(candle, &mut *strategy);
    }
    Ok(text)
}

fn describe_state(strategy: &dyn Strategy) -> String {
    let mut text = String::new();
    let numbers = |pairs: &mut dyn Iterator<Item = (&str, f64)>| {
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let values = numbers(&mut strategy.indicators().into_iter());
    if !values.is_empty() {
        let _ = writeln!(text, "  values: {values}");
    }
    for condition in strategy.conditions() {
        let holds = match condition.is_met {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "is not known yet",
        };
        let values = numbers(&mut condition.numbers.iter().map(|(name, value)| (name.as_str(), *value)));
        let values = if values.is_empty() { values } else { format!(" ({values})") };
        let _ = writeln!(text, "  {} {holds}: {}{values}", condition.role.key(), condition.text);
    }
    text
}

fn parse_table(table: &str) -> Result<Vec<Row>, String> {
    let mut lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut columns: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let has_signals = columns.pop_if(|last| *last == "signal").is_some();
    let unknown = columns.iter().find(|column| !NUMBER_COLUMNS.contains(column));
    if let Some(unknown) = unknown {
        return Err(format!(
            "column {unknown} is not allowed here: use any of {}; the last column may be signal",
            NUMBER_COLUMNS.join(", ")
        ));
    }
    if !columns.contains(&"close") {
        return Err("the first line of the table must name its columns, including close".to_owned());
    }
    let mut rows: Vec<Row> = Vec::new();
    for (index, line) in lines.enumerate() {
        let about = |problem: &str| format!("candle {}, \"{line}\": {problem}", index + 1);
        let mut words = line.split_whitespace().peekable();
        let count = words.next_if(|word| word.ends_with('x'));
        let count = count.map_or(Ok(1), |word| parse_repetitions(word).ok_or_else(|| about(REPEATS_HINT)))?;
        let mut numbers = Vec::new();
        for column in &columns {
            let number = words.next().and_then(|word| word.parse::<f64>().ok());
            numbers.push(number.ok_or_else(|| about(&format!("column {column} needs a number")))?);
        }
        let signal = words.collect::<Vec<_>>().join(" ");
        let is_signal = matches!(signal.split(' ').next(), Some("" | "BUY" | "SELL"));
        if !is_signal || !(has_signals || signal.is_empty()) {
            return Err(about("use BUY, SELL or nothing after the numbers, in a last column \"signal\""));
        }
        let value =
            |name: &str| columns.iter().position(|column| *column == name).map(|place| numbers[place]);
        for _ in 0..count {
            let candle = build_candle(value, rows.last().map(|row| &row.candle));
            let candle = candle.map_err(|error| about(&error.to_string()))?;
            rows.push(Row { line: line.to_owned(), candle, signal: signal.clone() });
        }
    }
    if rows.is_empty() {
        return Err("the table has no candles: add one line per candle".to_owned());
    }
    Ok(rows)
}

const REPEATS_HINT: &str = "before the x, write the number of candles, 1 to 10000";

fn parse_repetitions(word: &str) -> Option<usize> {
    word.strip_suffix('x')?.parse().ok().filter(|count| (1..=MAX_REPETITIONS).contains(count))
}

fn build_candle(value: impl Fn(&str) -> Option<f64>, last: Option<&Candle>) -> Result<Candle, CandleError> {
    let close = value("close").unwrap_or_default();
    let open = value("open").or(last.map(Candle::close)).unwrap_or(close);
    let high = value("high").unwrap_or(open.max(close));
    let low = value("low").unwrap_or(open.min(close));
    let numbers = Ohlcv { open, high, low, close, volume: value("volume").unwrap_or(0.0) };
    let time = last.map_or(START, |last| last.time() + Millis::MINUTE);
    Candle::new(time, Interval::MINUTE, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BotContext, BuildError, Condition, ConditionRole, Signal};

    crate::parameters! {
        struct Params {
            warmup: usize = 0;
        }
    }

    struct Strong(usize);

    impl Strategy for Strong {
        fn warmup(&self) -> usize {
            self.0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            let range = candle.high() - candle.low();
            (range > 0.0 && candle.close() >= candle.high())
                .then(|| Signal::buy("at its high").with("range", range))
        }
    }

    impl StrategyFactory for Strong {
        const NAME: &'static str = "strong";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "Planted.";
        type Params = Params;

        fn build(params: Params, _: &BotContext) -> Result<Self, BuildError> {
            Ok(Self(params.warmup))
        }
    }

    fn outcome(warmup: usize, table: &str) -> String {
        parse_table(table)
            .and_then(|rows| find_differences::<Strong>(&Params { warmup }, &rows))
            .unwrap_or_else(|error| error)
    }

    #[test]
    fn reads_candles() {
        let rows = parse_table("low close volume signal\n 9.5 10 3\n\n 9 12 4 SELL").unwrap();
        let of = |row: &Row| {
            let candle = &row.candle;
            [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()]
        };
        let expected = [[10.0, 10.0, 9.5, 10.0, 3.0], [10.0, 12.0, 9.0, 12.0, 4.0]];
        assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(rows[1].candle.time() - rows[0].candle.time(), Millis::MINUTE);
    }

    #[test]
    fn repeats_lines() {
        let rows = parse_table("close signal\n3x 10\n12 BUY\n2x 11").unwrap();
        let of = |row: &Row| (row.candle.open(), row.candle.close(), row.signal.clone());
        let flat = (10.0, 10.0, String::new());
        let [buy, fell, rests] = [(10.0, 12.0, "BUY"), (12.0, 11.0, ""), (11.0, 11.0, "")]
            .map(|(open, close, signal)| (open, close, signal.to_owned()));
        let expected = [flat.clone(), flat.clone(), flat, buy, fell, rests];
        assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected);
        assert!(rows.windows(2).all(|two| two[1].candle.time() - two[0].candle.time() == Millis::MINUTE));
    }

    #[test]
    fn matches_direction_and_start_of_reason() {
        let silent = "the table has 29 candles, but signals of the first 29 candles (the warm-up) are ignored, so any strategy would \
                      pass; start the table with a line such as `30x 100`";
        let others = "candle 1, \"10 BUY\": expected BUY, got no signal\n\
                      candle 2, \"12\": expected no signal, got BUY at its high range=2\n\
                      candle 3, \"14 SELL\": expected SELL, got BUY at its high range=2\n\
                      candle 4, \"16 BUY at its hi\": expected BUY at its hi, got BUY at its high range=2\n";
        for (warmup, table, expected) in [
            (0, "close high signal\n10 11\n12 12 BUY\n11 12", ""),
            (0, "close high signal\n10 11\n12 12 BUY at its\n11 12", ""),
            (0, "close high signal\n10 11\n12 12 BUY at its high range=2\n11 12", ""),
            (0, "close signal\n10 BUY\n12\n14 SELL\n16 BUY at its hi\n15", others),
            (30, "close signal\n29x 10\n12 BUY\n40x 12", ""),
            (
                0,
                "close signal\n3x 10\n12",
                "candle 4, \"12\": expected no signal, got BUY at its high range=2\n",
            ),
            // Signals during warm-up are ignored, so a shorter table without a signal could not fail.
            (3, "close signal\n10\n11\n12 BUY", ""),
            (
                3,
                "close signal\n10\n11 BUY\n12 BUY",
                "candle 2, \"11 BUY\": expected BUY, got no signal (warm-up: 3 candles)\n",
            ),
            (30, "close signal\n28x 10\n12", silent),
            (30, "close signal\n28x 10\n12\n11", ""),
        ] {
            assert_eq!(outcome(warmup, table), expected, "{table:?}");
        }
    }

    struct Explains(f64);

    impl Strategy for Explains {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            self.0 = candle.close() - candle.open();
            None
        }

        fn indicators(&self) -> Vec<(&str, f64)> {
            vec![("change", self.0)]
        }

        fn conditions(&self) -> Vec<Condition<'_>> {
            let (part, side) = ("".into(), ConditionRole::Buy);
            let (text, holds, note) = ("change > 5", Some(self.0 > 5.0), String::new());
            vec![Condition { part_path: part, role: side, depth: 0, text, is_met: holds, numbers: &[], note }]
        }
    }

    impl StrategyFactory for Explains {
        const NAME: &'static str = "explains";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "Planted.";
        type Params = Params;

        fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
            Ok(Self(0.0))
        }
    }

    #[test]
    fn reports_values_and_conditions_of_differing_candle() {
        let rows = parse_table("close signal\n10\n12.5 BUY\n14").unwrap();
        assert_eq!(
            find_differences::<Explains>(&Params { warmup: 0 }, &rows).unwrap(),
            "candle 2, \"12.5 BUY\": expected BUY, got no signal\n  values: change=2.5\n  buy does not hold: change > 5\n"
        );
    }

    #[test]
    fn rejects_invalid_tables() {
        for (table, expected) in [
            ("", "the first line of the table must name its columns, including close"),
            ("close", "the table has no candles"),
            (
                "closed signal\n1",
                "column closed is not allowed here: use any of open, high, low, close, volume",
            ),
            (
                "signal close\n1",
                "column signal is not allowed here: use any of open, high, low, close, volume",
            ),
            ("close\n1\ny", "candle 2, \"y\": column close needs a number"),
            ("close signal\n1 HOLD", "candle 1, \"1 HOLD\": use BUY, SELL or nothing after the numbers"),
            ("close\n1 BUY", "candle 1, \"1 BUY\": use BUY, SELL or nothing"),
            ("close\n-1", "candle 1, \"-1\": "),
            ("close\n0x 1", "candle 1, \"0x 1\": before the x, write the number of candles"),
            ("close\n10001x 1", "candle 1, \"10001x 1\": before the x, write the number of candles"),
            ("close\nx 1", "candle 1, \"x 1\": before the x, write the number of candles"),
        ] {
            let found = outcome(0, table);
            assert!(found.starts_with(expected), "{table:?}: {found}");
        }
    }
}
