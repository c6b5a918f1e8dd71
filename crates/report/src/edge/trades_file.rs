//! A CSV of trades: one that `backtest --trades` wrote, or anybody's with the columns that a verdict needs.

use super::NamedTrade;
use crate::error::ReportError;
use crate::run::Caveats;
use candlewick_engine::{EventSequence, JudgedTrade, SymbolId};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Outcome, Payout};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::BTreeSet;
use std::path::Path;

/// What a file of trades says.
#[derive(Clone, Debug, Default)]
pub struct TradesFile {
    /// Its trades, in an order that does not depend on that of its lines where these have times.
    pub trades: Vec<NamedTrade>,
    /// How many bots the run had; 0 where the file does not say.
    pub bots: usize,
    /// What keeps an edge from being believed.
    pub caveats: Caveats,
}

/// Where the columns stand.
struct Columns {
    result: usize,
    payout: Option<usize>,
    times: Option<(usize, usize)>,
    symbol: Option<usize>,
    bot: Option<usize>,
    /// When payout and result became known.
    known: [Option<usize>; 2],
    /// The numbers of decision, payout, having been left out and result.
    numbers: Option<[usize; 4]>,
    not_opened: Option<usize>,
    /// Bots, variants, caveats.
    run: [Option<usize>; 3],
}

/// Reads the trades of a file, whose payout is `payout` where it has no such column.
///
/// # Errors
/// A file that cannot be read, columns that are missing, a line that is no trade.
pub fn read_trades(path: &Path, payout: Option<Payout>) -> Result<TradesFile, ReportError> {
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

fn read(mut reader: csv::Reader<impl std::io::Read>, payout: Option<Payout>) -> Result<TradesFile, Problem> {
    let header = reader.headers().map_err(|error| (Some(1), error.to_string()))?.clone();
    let columns = Columns::of(&header, payout).map_err(|problem| (Some(1), problem))?;
    let (mut file, mut symbols) = (TradesFile::default(), Vec::new());
    let mut decided = BTreeSet::new();
    for (place, record) in reader.records().enumerate() {
        let record = record.map_err(|error| {
            (
                error.position().map(csv::Position::line),
                "the line has not the columns of the header".to_owned(),
            )
        })?;
        let line = record.position().map(csv::Position::line);
        let place = i64::try_from(place).unwrap_or(i64::MAX / 4);
        let read = columns.read(&record, place, payout, &mut symbols);
        let trade = read.map_err(|problem| (line, problem))?;
        let left_out = columns.read_not_opened(&record, trade.trade.decided, &mut symbols);
        for named in left_out.map_err(|problem| (line, problem))?.into_iter().chain([trade]) {
            let number = named.trade.sequence.map_or(0, |sequence| sequence.numbers()[0]);
            if number > 0 && !decided.insert(number) {
                let problem =
                    format!("a second line has the decision_no {number}: give one run's trades at a time");
                return Err((line, problem));
            }
            file.trades.push(named);
        }
        columns.read_run(&record, &mut file).map_err(|problem| (line, problem))?;
    }
    if columns.times.is_some() {
        file.trades.sort_by(|a, b| canonical(a, &symbols).cmp(&canonical(b, &symbols)));
    }
    Ok(file)
}

/// What trades are put in order by before they are judged: at one moment by their bots and what they were, and not by
/// their place in the file.
fn canonical<'a>(named: &'a NamedTrade, symbols: &'a [String]) -> impl Ord + use<'a> {
    let NamedTrade { bot, trade } = named;
    let ended = trade.ended.map(|(at, outcome)| (at, outcome.as_str()));
    let numbers = trade.sequence.map(EventSequence::numbers);
    let symbol = symbols.get(trade.symbol.index());
    (numbers, trade.decided, bot, symbol, ended, trade.payout, trade.answered)
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
        let numbers = ["decision_no", "payout_no", "left_out_no", "result_no"].map(find);
        let numbers =
            match numbers {
                [Some(decision), Some(payout), Some(left_out), Some(result)] => {
                    Some([decision, payout, left_out, result])
                }
                [None, None, None, None] => None,
                _ => return Err(
                    "of the columns decision_no, payout_no, left_out_no and result_no only some are there"
                        .to_owned(),
                ),
            };
        Ok(Self {
            result,
            payout: payout_column,
            times,
            symbol: find("symbol"),
            bot: find("bot"),
            known: ["payout_known", "result_known"].map(find),
            numbers,
            not_opened: find("not_opened"),
            run: ["bots", "variants", "caveats"].map(find),
        })
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
                let known = Some(field(self.known[1])).filter(|text| !text.is_empty());
                let closed = known.or(Some(field(Some(closed)))).filter(|text| !text.is_empty());
                (read_time(field(Some(decided)))?, closed.map(read_time).transpose()?)
            }
        };
        let ended = match (outcome, closed) {
            (Some(outcome), Some(closed)) if closed >= decided => Some((closed, outcome)),
            (Some(_), Some(_)) => return Err("it closes before it was decided".to_owned()),
            (Some(_), None) => return Err("it has a result and no close_time".to_owned()),
            (None, _) => None,
        };
        let symbol = symbol_of(field(self.symbol), symbols)?;
        // A file that does not say when a payout was answered has it at the decision.
        let answered = match self.known[0] {
            Some(column) => {
                Some(field(Some(column))).filter(|text| !text.is_empty()).map(read_time).transpose()?
            }
            None => Some(decided),
        };
        let numbers = self.numbers.map(|columns| columns.map(|column| read_number(field(Some(column)))));
        let sequence = match numbers {
            None => None,
            Some([decided, answered, left_out, settled]) => {
                let numbers = [decided?, answered?, left_out?, settled?];
                if numbers[0] == 0 {
                    return Err("it has no decision_no".to_owned());
                }
                Some(EventSequence::recorded(numbers, payout))
            }
        };
        // What turned out to be no trade at first counts as none, whatever became of it.
        let ended = match sequence.map(EventSequence::numbers) {
            Some([_, _, left_out, _]) if left_out > 0 => Some((decided, Outcome::Cancelled)),
            _ => ended,
        };
        let trade = JudgedTrade { symbol, decided, answered, payout, ended, sequence };
        Ok(NamedTrade { bot: field(self.bot).to_owned(), trade })
    }

    /// What was decided and never became a trade: "numbers of decision and end, symbol, bot", separated by commas.
    fn read_not_opened(
        &self,
        record: &StringRecord,
        decided: Millis,
        symbols: &mut Vec<String>,
    ) -> Result<Vec<NamedTrade>, String> {
        let cell = self.not_opened.and_then(|column| record.get(column)).unwrap_or_default();
        let mut trades = Vec::new();
        for text in cell.split(',').filter(|text| !text.is_empty()) {
            let unreadable = || format!("\"{text}\" is not \"number-number:symbol:bot\"");
            let mut parts = text.splitn(3, ':');
            let (Some(numbers), Some(symbol), Some(bot)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(unreadable());
            };
            let (from, to) = numbers.split_once('-').ok_or_else(unreadable)?;
            let (from, to) = (read_number(from)?, read_number(to)?);
            let symbol = symbol_of(symbol, symbols)?;
            let sequence = EventSequence::recorded([from, 0, to, 0], None);
            let ended = (to > 0).then_some((decided, Outcome::Cancelled));
            let (answered, payout, sequence) = (None, None, Some(sequence));
            let trade = JudgedTrade { symbol, decided, answered, payout, ended, sequence };
            trades.push(NamedTrade { bot: bot.to_owned(), trade });
        }
        Ok(trades)
    }

    /// What is the same in each line of a run.
    fn read_run(&self, record: &StringRecord, file: &mut TradesFile) -> Result<(), String> {
        let field = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default();
        let [bots, variants, caveats] = self.run.map(field);
        let bots = read_number(bots)? as usize;
        let caveats = Caveats::of_cell(caveats, read_number(variants)?.into());
        file.bots = file.bots.max(bots);
        let all = &mut file.caveats;
        all.variants = all.variants.max(caveats.variants);
        let new = |reason: &String| !all.withholding.contains(reason);
        let withholding: Vec<String> = caveats.withholding.into_iter().filter(new).collect();
        all.withholding.extend(withholding);
        for label in caveats.labels {
            if !all.labels.contains(&label) {
                all.labels.push(label);
            }
        }
        Ok(())
    }
}

fn symbol_of(name: &str, symbols: &mut Vec<String>) -> Result<SymbolId, String> {
    let place = symbols.iter().position(|known| known == name).unwrap_or_else(|| {
        symbols.push(name.to_owned());
        symbols.len() - 1
    });
    SymbolId::new(place).ok_or_else(|| "there are more than 65,535 symbols".to_owned())
}

/// A number that counts; 0 where nothing stands.
fn read_number(text: &str) -> Result<u32, String> {
    if text.is_empty() { Ok(0) } else { text.parse().map_err(|_| format!("\"{text}\" is no number")) }
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

    fn read_text(text: &str, payout: Option<u32>) -> Result<TradesFile, Problem> {
        let reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        read(reader, payout.and_then(|percent| Payout::from_parts(percent * 10_000)))
    }

    #[test]
    fn trades_of_a_backtest_are_read_with_their_times() {
        let text =
            "bot,symbol,decision_time,close_time,payout,result\na,X,1000,61000,85,WON\nb,Y,2000,,80.5,\n";
        let trades = read_text(text, None).unwrap().trades;
        assert_eq!((trades[0].bot.as_str(), trades[1].bot.as_str()), ("a", "b"));
        assert_eq!(trades[0].trade.ended, Some((Millis::new(61_000), Outcome::Won)));
        assert_eq!((trades[0].trade.decided, trades[1].trade.ended), (Millis::new(1_000), None));
        assert_ne!(trades[0].trade.symbol, trades[1].trade.symbol);
        assert_eq!(trades[1].trade.payout, Payout::from_parts(805_000));
    }

    #[test]
    fn lines_without_times_are_trades_one_after_another() {
        let trades = read_text("result\nwon\nLost\n", Some(85)).unwrap().trades;
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
