//! A CSV of trades: one that `backtest --trades` wrote, or anybody's with the columns that a verdict needs.

use super::NamedTrade;
use crate::error::ReportError;
use candlewick_engine::{JudgedTrade, SymbolId};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Outcome, Payout};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::path::Path;

/// Where the columns stand.
struct Columns {
    result: usize,
    payout: Option<usize>,
    times: Option<(usize, usize)>,
    symbol: Option<usize>,
    bot: Option<usize>,
}

/// Reads the trades of a file, whose payout is `payout` where it has no such column.
///
/// # Errors
/// A file that cannot be read, columns that are missing, a line that is no trade.
pub fn read_trades(path: &Path, payout: Option<Payout>) -> Result<Vec<NamedTrade>, ReportError> {
    let unreadable = |error: csv::Error| ReportError::UnreadableTrades {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let reader = ReaderBuilder::new().trim(Trim::All).from_path(path);
    read(reader.map_err(unreadable)?, payout).map_err(|(line, problem)| ReportError::InvalidTrades {
        path: path.to_owned(),
        line,
        problem,
    })
}

type Problem = (Option<u64>, String);

fn read(
    mut reader: csv::Reader<impl std::io::Read>,
    payout: Option<Payout>,
) -> Result<Vec<NamedTrade>, Problem> {
    let header = reader.headers().map_err(|error| (Some(1), error.to_string()))?.clone();
    let columns = Columns::of(&header, payout).map_err(|problem| (Some(1), problem))?;
    let (mut trades, mut symbols) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|error| {
            (
                error.position().map(csv::Position::line),
                "the line has not the columns of the header".to_owned(),
            )
        })?;
        let line = record.position().map(csv::Position::line);
        let place = i64::try_from(trades.len()).unwrap_or(i64::MAX / 4);
        let trade = columns.read(&record, place, payout, &mut symbols);
        trades.push(trade.map_err(|problem| (line, problem))?);
    }
    Ok(trades)
}

impl Columns {
    fn of(header: &StringRecord, payout: Option<Payout>) -> Result<Self, String> {
        let find = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        let result = find("result").ok_or("there is no column \"result\"")?;
        let payout_column = find("payout");
        if payout_column.is_none() && payout.is_none() {
            return Err("there is no column \"payout\"; --payout names one for all trades".to_owned());
        }
        let times = match (find("decision_time").or_else(|| find("open_time")), find("close_time")) {
            (Some(decided), Some(closed)) => Some((decided, closed)),
            (None, None) => None,
            _ => return Err("of decision_time and close_time only one is there".to_owned()),
        };
        Ok(Self { result, payout: payout_column, times, symbol: find("symbol"), bot: find("bot") })
    }

    fn read(
        &self,
        record: &StringRecord,
        place: i64,
        usual: Option<Payout>,
        symbols: &mut Vec<String>,
    ) -> Result<NamedTrade, String> {
        let field = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default();
        let outcome = read_outcome(field(Some(self.result)))?;
        let payout = match field(self.payout) {
            "" => usual,
            text => Some(read_payout(text)?),
        };
        if payout.is_none() && matches!(outcome, Some(Outcome::Won | Outcome::Lost)) {
            return Err("a trade that was won or lost has no payout".to_owned());
        }
        let (decided, closed) = match self.times {
            None => (Millis::new(2 * place), Some(Millis::new(2 * place + 1))),
            Some((decided, closed)) => {
                let closed = Some(field(Some(closed))).filter(|text| !text.is_empty());
                (read_time(field(Some(decided)))?, closed.map(read_time).transpose()?)
            }
        };
        let ended = match (outcome, closed) {
            (Some(outcome), Some(closed)) if closed >= decided => Some((closed, outcome)),
            (Some(_), Some(_)) => return Err("it closes before it was decided".to_owned()),
            (Some(_), None) => return Err("it has a result and no close_time".to_owned()),
            (None, _) => None,
        };
        let name = field(self.symbol);
        let symbol = symbols.iter().position(|known| known == name).unwrap_or_else(|| {
            symbols.push(name.to_owned());
            symbols.len() - 1
        });
        let symbol = SymbolId::new(symbol).ok_or("there are more than 65,535 symbols")?;
        // A file says what a trade pays, and not when that was answered: it is known at the open.
        let trade = JudgedTrade { symbol, decided, answered: Some(decided), payout, ended, sequence: None };
        Ok(NamedTrade { bot: field(self.bot).to_owned(), trade })
    }
}

fn read_outcome(text: &str) -> Result<Option<Outcome>, String> {
    let outcomes = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
    if text.is_empty() {
        return Ok(None);
    }
    let found = outcomes.into_iter().find(|outcome| outcome.as_str().eq_ignore_ascii_case(text));
    found.map(Some).ok_or_else(|| format!("\"{text}\" is no result"))
}

fn read_payout(text: &str) -> Result<Payout, String> {
    let percent = text.parse::<Decimal>().map_err(|_| format!("\"{text}\" is no payout"))?;
    Payout::from_percent(percent).map_err(|error| error.to_string())
}

fn read_time(text: &str) -> Result<Millis, String> {
    text.parse().map(Millis::new).map_err(|_| format!("\"{text}\" is no time in milliseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str, payout: Option<u32>) -> Result<Vec<NamedTrade>, Problem> {
        let reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        read(reader, payout.and_then(|percent| Payout::from_parts(percent * 10_000)))
    }

    #[test]
    fn trades_of_a_backtest_are_read_with_their_times() {
        let text =
            "bot,symbol,decision_time,close_time,payout,result\na,X,1000,61000,85,WON\nb,Y,2000,,80.5,\n";
        let trades = read_text(text, None).unwrap();
        assert_eq!((trades[0].bot.as_str(), trades[1].bot.as_str()), ("a", "b"));
        assert_eq!(trades[0].trade.ended, Some((Millis::new(61_000), Outcome::Won)));
        assert_eq!((trades[0].trade.decided, trades[1].trade.ended), (Millis::new(1_000), None));
        assert_ne!(trades[0].trade.symbol, trades[1].trade.symbol);
        assert_eq!(trades[1].trade.payout, Payout::from_parts(805_000));
    }

    #[test]
    fn lines_without_times_are_trades_one_after_another() {
        let trades = read_text("result\nwon\nLost\n", Some(85)).unwrap();
        let first_ended = trades[0].trade.ended.unwrap().0;
        assert!(first_ended < trades[1].trade.decided);
        assert_eq!(trades[1].trade.ended.unwrap().1, Outcome::Lost);
    }

    #[test]
    fn what_is_no_trade_is_named_with_its_line() {
        for (text, payout, expected) in [
            ("payout\n85\n", None, (Some(1), "no column \"result\"")),
            ("result\nWON\n", None, (Some(1), "no column \"payout\"")),
            ("result,payout,close_time\n", None, (Some(1), "only one is there")),
            ("result,payout\nWON,85\nWIN,85\n", None, (Some(3), "\"WIN\" is no result")),
            ("result,payout\nWON,-1\n", None, (Some(2), "not a payout")),
            ("result,payout\nWON,x\n", None, (Some(2), "\"x\" is no payout")),
            ("result,payout\nLOST,\n", None, (Some(2), "no payout")),
            ("result,payout\nWON\n", None, (Some(2), "columns of the header")),
            ("result,decision_time,close_time\nWON,5,\n", Some(85), (Some(2), "no close_time")),
            ("result,decision_time,close_time\nWON,5,4\n", Some(85), (Some(2), "closes before")),
            ("result,decision_time,close_time\nWON,soon,4\n", Some(85), (Some(2), "\"soon\" is no time")),
        ] {
            let (line, problem) = read_text(text, payout).unwrap_err();
            assert!(line == expected.0 && problem.contains(expected.1), "{text}: {line:?} {problem}");
        }
    }
}
