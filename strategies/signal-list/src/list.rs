//! Parser for the signal list. Each line is one signal: `time,symbol,direction[,close_type]`.

use candlewick_sdk::{BotContext, BuildError, CloseType, Direction, Expiry, Millis, Symbol};
use std::path::Path;

const HEADERS: [&str; 2] = ["time,symbol,direction", "time,symbol,direction,close_type"];

/// A signal for the bot's symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// Close time of the candle with the signal.
    pub(crate) time: Millis,
    pub(crate) direction: Direction,
    /// Expiry with the row's `close_type` and the bot's expiration type; `None` if the row has no `close_type`.
    pub(crate) expiry: Option<Expiry>,
    line: u64,
}

#[derive(Debug, PartialEq)]
struct LineError {
    line: u64,
    problem: String,
}

/// Reads the rows for the bot's symbol, sorted by time. There is at most one row per time.
pub(crate) fn read_rows(path: &Path, bot: &BotContext) -> Result<Vec<Row>, BuildError> {
    let file_error = |line, problem| BuildError::File { path: path.display().to_string(), line, problem };
    let text = std::fs::read_to_string(path).map_err(|error| {
        file_error(None, format!("cannot read the list: {error}; check the parameter `file`"))
    })?;
    parse(&text, bot).map_err(|fault| file_error(Some(fault.line), fault.problem))
}

fn parse(text: &str, bot: &BotContext) -> Result<Vec<Row>, LineError> {
    let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let header = lines.next().map_or("", |(_, header)| header.trim());
    if !HEADERS.contains(&header) {
        let problem = format!("invalid header \"{header}\": use {} or {}", HEADERS[0], HEADERS[1]);
        return Err(LineError { line: 1, problem });
    }
    let columns = header.split(',').count();
    let mut rows = Vec::new();
    for (line, row) in lines.filter(|(_, row)| !row.trim().is_empty()) {
        rows.extend(parse_row(line, row, columns, bot).map_err(|problem| LineError { line, problem })?);
    }
    rows.sort_by_key(|row| (row.time, row.line));
    match rows.windows(2).find(|pair| pair[0].time == pair[1].time) {
        None => Ok(rows),
        Some(pair) => {
            let (symbol, Row { time, line, .. }) = (bot.symbol, pair[0]);
            let problem = format!("line {line} also has a {symbol} signal at {time}: remove one of them");
            Err(LineError { line: pair[1].line, problem })
        }
    }
}

/// Parses a row. `None` if the row is for another symbol. Such rows must be valid too.
fn parse_row(line: u64, row: &str, columns: usize, bot: &BotContext) -> Result<Option<Row>, String> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    let (time, symbol, direction, close_type) = match fields.as_slice() {
        [time, symbol, direction] => (time, symbol, direction, ""),
        [time, symbol, direction, close_type] if columns == 4 => (time, symbol, direction, *close_type),
        _ => return Err(format!("the row has {} fields, but the header has {columns}", fields.len())),
    };
    let time: i64 = time
        .parse()
        .map_err(|_| format!("\"{time}\" is not a time: use milliseconds since 1970-01-01 UTC"))?;
    let symbol: Symbol = symbol.parse().map_err(|error| format!("{error}"))?;
    let direction: Direction = direction.parse().map_err(|error| format!("{error}"))?;
    let close_type: Option<CloseType> = match close_type {
        "" => None,
        code => Some(code.parse().map_err(|error| format!("{error}"))?),
    };
    if symbol != bot.symbol {
        return Ok(None);
    }
    let (time, interval) = (Millis::new(time), bot.interval);
    if !time.is_aligned_to(interval.length()) {
        let step = interval.length();
        return Err(format!("no {interval} candle closes at {time}: use a multiple of {step} ms"));
    }
    let expiry = close_type.map(|close_type| Expiry { close_type, ..bot.expiry });
    Ok(Some(Row { time, direction, expiry, line }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::bot;

    /// Time, direction, and duration in seconds.
    type ParsedRow<'a> = (i64, &'a str, Option<i64>);

    fn check(text: &str, expected: Result<&[ParsedRow], (u64, &str)>) {
        let rows = parse(text, &bot("BTCUSDT")).map(|rows| {
            let seconds = |row: &Row| row.expiry.map(|expiry| expiry.close_type.duration().get() / 1_000);
            rows.iter().map(|row| (row.time.get(), row.direction.as_str(), seconds(row))).collect()
        });
        let expected = expected
            .map(<[_]>::to_vec)
            .map_err(|(line, problem)| LineError { line, problem: problem.to_owned() });
        assert_eq!(rows, expected, "{text}");
    }

    #[test]
    fn sorts_rows_of_the_symbol_and_skips_others() {
        check("time,symbol,direction\n", Ok(&[]));
        check(
            "time,symbol,direction\n120000,BTCUSDT,SELL\n60000,BTCUSDT,BUY\n60000,ETHUSDT,SELL\n",
            Ok(&[(60_000, "BUY", None), (120_000, "SELL", None)]),
        );
        check("time,symbol,direction\n1,ETHUSDT,BUY", Ok(&[]));
    }

    #[test]
    fn close_type_is_optional() {
        check(
            "\u{feff}time,symbol,direction,close_type\r\n0,BTCUSDT,BUY,05:00\r\n60000,BTCUSDT,BUY,\r\n\r\n120000,BTCUSDT,SELL\r\n",
            Ok(&[(0, "BUY", Some(300)), (60_000, "BUY", None), (120_000, "SELL", None)]),
        );
    }

    #[test]
    fn reports_unusable_lines_with_a_fix() {
        let header = "time,symbol,direction,close_type\n60000,BTCUSDT,BUY,\n";
        for (row, line, problem) in [
            ("60000,BTCUSDT", 3, "the row has 2 fields, but the header has 4"),
            ("60000,BTCUSDT,BUY,01:00,1", 3, "the row has 5 fields, but the header has 4"),
            (
                "2025-01-01,BTCUSDT,BUY",
                3,
                "\"2025-01-01\" is not a time: use milliseconds since 1970-01-01 UTC",
            ),
            ("60001,BTCUSDT,BUY", 3, "no 1m candle closes at 60001: use a multiple of 60000 ms"),
            ("120000,BTCUSDT,UP", 3, "\"UP\" is not a direction: use BUY or SELL"),
            ("\n60000,BTCUSDT,SELL", 4, "line 2 also has a BTCUSDT signal at 60000: remove one of them"),
        ] {
            check(&format!("{header}{row}\n"), Err((line, problem)));
        }
        let wrong = "use time,symbol,direction or time,symbol,direction,close_type";
        check("", Err((1, &format!("invalid header \"\": {wrong}"))));
        check("60000,BTCUSDT,BUY\n", Err((1, &format!("invalid header \"60000,BTCUSDT,BUY\": {wrong}"))));
        check(
            "time,symbol,direction\n60000,BTCUSDT,BUY,01:00",
            Err((2, "the row has 4 fields, but the header has 3")),
        );
    }
}
