//! CSV file of trades, written by `backtest --trades` or by another program.

use super::trade_findings::{RepeatedRow, check_repeated_rows, check_row_order, check_times};
use super::{NamedTrade, TradeMoney};
use crate::ReportError;
use crate::analysis::{Finding, FindingKind};
use crate::figure::describe_high_payout;
use crate::run::{Caveats, RunFacts, UnopenedTrade};
use candlewick_engine::{JudgedTrade, SymbolId, UpdateNumbers};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{Millis, Outcome, Payout, escape_hidden, from_csv_cell, to_csv_cell};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Clone, Debug, Default)]
pub struct TradesFile {
    /// Trades in chronological order. If the rows have no times, the trades keep the order of the rows.
    pub trades: Vec<NamedTrade>,
    pub has_times: bool,
    /// Number of bots in the run; 0 if the number is unknown.
    pub bots: usize,
    pub caveats: Caveats,
    pub findings: Vec<Finding>,
    pub notices: Vec<String>,
}

struct Columns {
    result: usize,
    payout: Option<usize>,
    times: Option<(usize, usize)>,
    symbol: Option<usize>,
    bot: Option<usize>,
    known: [Option<usize>; 2],
    answered_payout: Option<usize>,
    stake: Option<usize>,
    profit: Option<usize>,
}

/// Reads trades from a CSV file. `payout` is the default for rows without a payout.
/// The order of the trades is taken from the run's `.run.json` file if it matches the rows, otherwise from the times.
pub fn read_trades(path: &Path, payout: Option<Payout>) -> Result<TradesFile, ReportError> {
    let unreadable = |error: csv::Error| ReportError::UnreadableTrades {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let reader = ReaderBuilder::new().trim(Trim::All).from_path(path).map_err(unreadable)?;
    let facts = read_facts(&RunFacts::facts_path(path))?;
    read(reader, payout, facts).map_err(|(line, problem)| ReportError::InvalidTrades {
        path: path.to_owned(),
        line,
        problem,
    })
}

fn read_facts(path: &Path) -> Result<Option<RunFacts>, ReportError> {
    let unreadable = |problem: String| Err(ReportError::UnreadableTrades { path: path.to_owned(), problem });
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .or_else(|error| unreadable(format!("{error}; restore this file (the run's caveats)"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => unreadable(error.to_string()),
    }
}

type LineProblem = (Option<u64>, String);

fn read(
    mut reader: csv::Reader<impl std::io::Read>,
    payout: Option<Payout>,
    facts: Option<RunFacts>,
) -> Result<TradesFile, LineProblem> {
    let header = reader.headers().map_err(|error| (Some(1), error.to_string()))?.clone();
    let columns = Columns::new(&header, payout).map_err(|problem| (Some(1), problem))?;
    let mut records = Vec::new();
    for record in reader.records() {
        records.push(record.map_err(|error| {
            let line = error.position().map(csv::Position::line);
            (line, "the row and the header have different numbers of cells".to_owned())
        })?);
    }
    let mut symbols = Vec::new();
    let order =
        facts.as_ref().and_then(|facts| facts.recorded_sequences(records.iter().map(StringRecord::iter)));
    let mut trades = Vec::with_capacity(records.len());
    for (place, record) in records.iter().enumerate() {
        let order = order.as_ref().and_then(|order| order.get(place)).copied();
        let names = facts.as_ref().map_or(&[][..], |facts| &facts.bots);
        let read = columns.read_row(record, (place, order), (payout, names), &mut symbols);
        trades.push(read.map_err(|problem| (record.position().map(csv::Position::line), problem))?);
    }
    let (facts, missing) = match facts {
        Some(facts) if order.is_some() => (facts, None),
        Some(facts) => (facts, Some(MISMATCHED_FACTS)),
        None => (RunFacts::default(), columns.has_run_columns().then_some(MISSING_FACTS)),
    };
    if order.is_some() {
        for intent in &facts.not_opened {
            trades.push(to_named_trade(intent, &mut symbols).map_err(|problem| (None, problem))?);
        }
    }
    let has_times = columns.times.is_some();
    let findings = findings(&records, &trades, has_times);
    if has_times {
        trades.sort_by(|a, b| sort_key(a, &symbols).cmp(&sort_key(b, &symbols)));
    }
    let RunFacts { bots, mut withheld, labels, .. } = facts;
    withheld.extend(missing.map(str::to_owned));
    let is_sorted = findings.iter().any(|finding| finding.kind == FindingKind::SortedByResult);
    withheld.extend(is_sorted.then(|| SORTED_BY_RESULT.to_owned()));
    let is_foreign = !columns.has_run_columns();
    let payouts = trades.iter().filter_map(|named| named.trade.payout);
    withheld.extend(describe_high_payout(payouts, "stated").filter(|_| is_foreign));
    let caveats = Caveats::from_label_names(withheld, labels);
    let notices = is_foreign.then(|| columns.ignored_columns_notice(&header)).flatten().into_iter().collect();
    Ok(TradesFile { trades, has_times, bots: bots.len(), caveats, findings, notices })
}

const MISSING_FACTS: &str =
    "the .run.json file of these trades is missing, so the caveats of their run are unknown";
const MISMATCHED_FACTS: &str =
    "the .run.json file belongs to other trades, so the caveats of this run are unknown";

const SORTED_BY_RESULT: &str = "the rows are sorted by result, so the order of the trades is unknown";

fn findings(records: &[StringRecord], trades: &[NamedTrade], has_times: bool) -> Vec<Finding> {
    let found = if has_times {
        [check_repeated_rows(&find_repeated_rows(records)), None]
    } else {
        let outcomes: Vec<Outcome> = trades.iter().filter_map(|named| Some(named.trade.ended?.1)).collect();
        [check_row_order(&outcomes), check_times(trades.len())]
    };
    found.into_iter().flatten().collect()
}

fn find_repeated_rows(records: &[StringRecord]) -> Vec<RepeatedRow> {
    let mut seen: HashMap<Vec<&str>, u64> = HashMap::new();
    let mut repeated = Vec::new();
    for record in records {
        let line = record.position().map_or(0, csv::Position::line);
        match seen.entry(record.iter().collect()) {
            Entry::Occupied(earlier) => repeated.push(RepeatedRow { line, first_line: *earlier.get() }),
            Entry::Vacant(place) => _ = place.insert(line),
        }
    }
    repeated
}

fn to_named_trade(intent: &UnopenedTrade, symbols: &mut Vec<String>) -> Result<NamedTrade, String> {
    let UnopenedTrade { bot, symbol, decided, order: [from, to] } = intent;
    let symbol = intern_symbol(&to_csv_cell(symbol), symbols)?;
    let sequence = Some(UpdateNumbers::from_recorded([*from, 0, *to, 0], [None; 2]));
    let ended = (*to > 0).then_some((*decided, Outcome::Cancelled));
    let trade = JudgedTrade { symbol, decided: *decided, answered: None, payout: None, ended, sequence };
    Ok(NamedTrade { bot: bot.clone(), trade, money: None })
}

/// Returns the sort key of a trade. Trades with equal times are ordered by bot and content, not by row.
fn sort_key<'a>(named: &'a NamedTrade, symbols: &'a [String]) -> impl Ord + use<'a> {
    let NamedTrade { bot, trade, .. } = named;
    let ended = trade.ended.map(|(at, outcome)| (at, outcome.as_str()));
    let numbers = trade.sequence.map(UpdateNumbers::update_numbers);
    let symbol = symbols.get(trade.symbol.index());
    (numbers, trade.decided, bot, symbol, ended, trade.payout, trade.answered)
}

impl Columns {
    fn new(header: &StringRecord, payout: Option<Payout>) -> Result<Self, String> {
        let find = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        let count = |name: &str| header.iter().filter(|column| column.eq_ignore_ascii_case(name)).count();
        if let Some(name) = UNIQUE_COLUMNS.split(',').find(|name| count(name) > 1) {
            return Err(format!("duplicate column \"{name}\""));
        }
        let result = find("result").ok_or("missing column \"result\"")?;
        let payout_column = find("payout");
        if payout_column.is_none() && payout.is_none() {
            return Err("missing column \"payout\"; set one for all trades with --payout".to_owned());
        }
        let times = match (find("decision_time").or_else(|| find("open_time")), find("close_time")) {
            (Some(decided), Some(closed)) => Some((decided, closed)),
            (None, None) => None,
            _ => return Err("the columns decision_time and close_time must be given together".to_owned()),
        };
        Ok(Self {
            result,
            payout: payout_column,
            times,
            symbol: find("symbol"),
            bot: find("bot"),
            known: ["payout_known", "result_known"].map(find),
            answered_payout: find("answered_payout"),
            stake: find("amount").or_else(|| find("stake")),
            profit: find("pnl").or_else(|| find("profit")),
        })
    }

    fn ignored_columns_notice(&self, header: &StringRecord) -> Option<String> {
        let (decided, closed) = self.times.unzip();
        let read =
            [Some(self.result), self.payout, decided, closed, self.symbol, self.bot, self.stake, self.profit];
        let ignored = (0..header.len()).filter(|place| !read.contains(&Some(*place)));
        let names: Vec<String> = ignored
            .filter_map(|place| header.get(place))
            .map(|name| format!("\"{}\"", escape_hidden(name)))
            .collect();
        (!names.is_empty()).then(|| format!("ignored columns: {}", names.join(", ")))
    }

    fn has_run_columns(&self) -> bool {
        self.answered_payout.is_some() || self.known.iter().any(Option::is_some)
    }

    fn read_row(
        &self,
        record: &StringRecord,
        (place, order): (usize, Option<UpdateNumbers>),
        (usual, names): (Option<Payout>, &[String]),
        symbols: &mut Vec<String>,
    ) -> Result<NamedTrade, String> {
        let place = i64::try_from(place).unwrap_or(i64::MAX / 4);
        let field = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default();
        let filled = |column| Some(field(column)).filter(|text| !text.is_empty());
        let outcome = parse_outcome(field(Some(self.result)))?;
        let parse = if self.has_run_columns() { parse_payout } else { parse_external_payout };
        let payout = filled(self.payout).map(parse).transpose()?.or(usual);
        if payout.is_none() && matches!(outcome, Some(Outcome::Won | Outcome::Lost)) {
            return Err("a won or lost trade has no payout".to_owned());
        }
        let (decided, closed) = match self.times {
            None => (Millis::new(2 * place), Some(Millis::new(2 * place + 1))),
            Some((decided, closed)) => {
                let closed = filled(self.known[1]).or_else(|| filled(Some(closed)));
                (parse_time(field(Some(decided)))?, closed.map(parse_time).transpose()?)
            }
        };
        let ended = match (outcome, closed) {
            (Some(outcome), Some(closed)) if closed >= decided => Some((closed, outcome)),
            (Some(_), Some(_)) => return Err("close_time is before decision_time".to_owned()),
            (Some(_), None) => return Err("a trade with a result has no close_time".to_owned()),
            (None, _) => None,
        };
        let symbol = intern_symbol(field(self.symbol), symbols)?;
        // If the time of the venue's answer is unknown, the payout counts as known at the decision.
        let answered = match self.known[0] {
            column @ Some(_) => filled(column).map(parse_time).transpose()?,
            None => Some(decided),
        };
        let answered_payout = filled(self.answered_payout).map(parse_payout).transpose()?;
        let payouts = [answered_payout, payout];
        let sequence = order.map(|order| UpdateNumbers::from_recorded(order.update_numbers(), payouts));
        // An intent that was first recorded as not opened stays unopened, even if its trade was found later.
        let ended = match sequence.map(UpdateNumbers::update_numbers) {
            Some([_, _, left_out, _]) if left_out > 0 => Some((decided, Outcome::Cancelled)),
            _ => ended,
        };
        let trade = JudgedTrade { symbol, decided, answered, payout, ended, sequence };
        let money = parse_money(field(self.stake), field(self.profit));
        Ok(NamedTrade { bot: bot_name(field(self.bot), names), trade, money })
    }
}

const UNIQUE_COLUMNS: &str = "result,payout,decision_time,close_time,symbol,bot,payout_known,result_known,answered_payout,\
                            open_time";

fn parse_money(stake: &str, profit: &str) -> Option<TradeMoney> {
    let (stake, profit) = (parse_amount(stake)?, parse_amount(profit)?);
    let decimals = stake.scale().max(profit.scale());
    Some(TradeMoney { stake: to_f64(stake), profit: to_f64(profit), decimals })
}

fn bot_name(cell: &str, names: &[String]) -> String {
    let known = names.iter().find(|name| to_csv_cell(name).trim() == cell);
    known.cloned().unwrap_or_else(|| from_csv_cell(cell).to_owned())
}

fn intern_symbol(name: &str, symbols: &mut Vec<String>) -> Result<SymbolId, String> {
    let place = symbols.iter().position(|known| known == name).unwrap_or_else(|| {
        symbols.push(name.to_owned());
        symbols.len() - 1
    });
    SymbolId::new(place).ok_or_else(|| "more than 65,535 symbols".to_owned())
}

/// Smallest number that is read as seconds since 1970. As seconds, this number means September 2001.
const MIN_EPOCH_SECONDS: i64 = 1_000_000_000;
/// Smallest number that is read as milliseconds. It means March 1973; as seconds it would mean the year 5138.
const MIN_EPOCH_MILLIS: i64 = 100_000_000_000;
/// Smallest number that is read as microseconds. As milliseconds, this number would mean the year 5138.
const MIN_EPOCH_MICROS: i64 = 100_000_000_000_000;
const MIN_EPOCH_NANOS: i64 = 100_000_000_000_000_000;

fn parse_outcome(text: &str) -> Result<Option<Outcome>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = Outcome::ALL.into_iter().find(|outcome| outcome.as_str().eq_ignore_ascii_case(text));
    found.map(Some).ok_or_else(|| format!("\"{text}\" is not a result: use WON, LOST, DRAW or CANCELLED"))
}

fn parse_payout(text: &str) -> Result<Payout, String> {
    let percent = text.trim_end_matches('%').trim_end().parse::<Decimal>();
    let percent = percent.map_err(|_| format!("\"{text}\" is not a payout: use a percentage such as 85"))?;
    Payout::from_percent(percent).map_err(|error| error.to_string())
}

/// Parses a payout in percent. Rejects fractions (0.85), odds (1.85) and returns that include the stake (185).
fn parse_external_payout(text: &str) -> Result<Payout, String> {
    let payout = parse_payout(text)?;
    match Payout::guess_percent(payout.to_percent()) {
        Some(meant) => Err(format!("invalid payout {text}: payouts are percentages, did you mean {meant}?")),
        None => Ok(payout),
    }
}

/// Parses a Unix time. The size of the number determines the unit. Small numbers are not dates; they only order trades.
fn parse_time(text: &str) -> Result<Millis, String> {
    let number: i64 = text.parse().map_err(|_| format!("\"{text}\" is not a time in milliseconds"))?;
    Ok(Millis::new(match number {
        MIN_EPOCH_SECONDS..MIN_EPOCH_MILLIS => number * 1_000,
        MIN_EPOCH_MICROS..MIN_EPOCH_NANOS => number / 1_000,
        MIN_EPOCH_NANOS.. => number / 1_000_000,
        _ => number,
    }))
}

pub(crate) fn is_calendar_time(time: Millis) -> bool {
    time.get() >= MIN_EPOCH_MILLIS
}

fn parse_amount(text: &str) -> Option<Decimal> {
    text.parse().ok().or_else(|| Decimal::from_scientific(text).ok())
}

pub(super) fn to_f64(amount: Decimal) -> f64 {
    amount.to_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str, payout: Option<u32>) -> Result<TradesFile, LineProblem> {
        let reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
        read(reader, payout.and_then(|percent| Payout::from_parts(percent * 10_000)), None)
    }

    #[test]
    fn recognizes_run_files_by_any_of_their_columns() {
        let read = |text: &str| read_text(text, Some(85)).unwrap().caveats;
        let bare = read("result\nWON\n");
        assert_eq!(bare, Caveats::default());
        for column in ["payout_known", "result_known", "answered_payout"] {
            let run = read(&format!("0,result,decision_time,close_time,{column}\n1,WON,1,2,2\n"));
            assert_eq!(run.withholding_reasons, [MISSING_FACTS]);
        }
    }

    #[test]
    fn ignores_counted_variants_of_earlier_versions() {
        let facts = serde_json::json!({ "bots": ["a"], "variants": 7, "withheld": [], "lines": "", "order": [],
            "labels": ["variants not counted", "hypothesis", "of a later version"], "not_opened": [] });
        let RunFacts { withheld, labels, .. } = serde_json::from_value(facts).unwrap();
        let caveats = Caveats::from_label_names(withheld, labels);
        assert_eq!(
            (caveats.labels, caveats.withholding_reasons),
            (vec!["hypothesis"], vec!["of a later version".to_owned()])
        );
    }

    #[test]
    fn takes_rows_without_times_as_consecutive_trades() {
        let trades = read_text("result\nwon\nLost\n", Some(85)).unwrap().trades;
        assert!(trades[0].trade.ended.unwrap().0 < trades[1].trade.decided);
        assert_eq!(trades[1].trade.ended.unwrap().1, Outcome::Lost);
    }

    fn kinds(file: &TradesFile) -> Vec<FindingKind> {
        file.findings.iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn reports_missing_times_and_withholds_edge_of_sorted_rows() {
        use FindingKind::{NoTimes, SortedByResult};
        let sorted = read_text(&format!("result\n{}{}", "WON\n".repeat(60), "LOST\n".repeat(40)), Some(85));
        let sorted = sorted.unwrap();
        assert_eq!(kinds(&sorted), [SortedByResult, NoTimes]);
        assert_eq!(sorted.caveats.withholding_reasons, [SORTED_BY_RESULT]);
        let mixed = read_text(&format!("result\n{}", "WON\nLOST\n".repeat(40)), Some(85)).unwrap();
        assert_eq!((kinds(&mixed), mixed.caveats.withholding_reasons), (vec![NoTimes], vec![]));
    }

    #[test]
    fn names_repeated_rows_and_ignored_columns() {
        let text = "result,payout,decision_time,close_time,comment,stake\nWON,85,1000,61000,a,5\nLOST,85,61000,99000,b,5\n\
                    WON,85,1000,61000,a,5\n";
        let file = read_text(text, None).unwrap();
        assert_eq!(kinds(&file), [FindingKind::RepeatedRows]);
        assert!(file.findings[0].text.contains("line 4 is the same as line 2"), "{:?}", file.findings);
        assert_eq!(file.notices, ["ignored columns: \"comment\""]);
        let of_a_run =
            "result,payout,decision_time,close_time,reason,answered_payout\nWON,185,1000,61000,x,185\n";
        assert_eq!(read_text(of_a_run, None).unwrap().notices, [""; 0]);
    }

    #[test]
    fn names_invalid_cell_with_its_line() {
        for (text, payout, expected) in [
            ("payout\n85\n", None, (Some(1), "missing column \"result\"")),
            ("result\nWON\n", None, (Some(1), "missing column \"payout\"")),
            ("result,payout,close_time\n", None, (Some(1), "must be given together")),
            ("result,payout\nWON,85\nWIN,85\n", None, (Some(3), "\"WIN\" is not a result")),
            ("result,payout\nWON,-1\n", None, (Some(2), "not a payout")),
            ("result,payout\nWON,x\n", None, (Some(2), "\"x\" is not a payout")),
            ("result,payout\nLOST,\n", None, (Some(2), "no payout")),
            ("result,payout\nWON,85\nWON,0.85\n", None, (Some(3), "did you mean 85?")),
            ("result,payout,result\nWON,85,WON\n", None, (Some(1), "duplicate column \"result\"")),
            ("result,payout\nWON\n", None, (Some(2), "different numbers of cells")),
            ("result,decision_time,close_time\nWON,5,\n", Some(85), (Some(2), "no close_time")),
            ("result,decision_time,close_time\nWON,5,4\n", Some(85), (Some(2), "before decision_time")),
            ("result,decision_time,close_time\nWON,soon,4\n", Some(85), (Some(2), "\"soon\" is not a time")),
        ] {
            let (line, problem) = read_text(text, payout).unwrap_err();
            assert!(line == expected.0 && problem.contains(expected.1), "{text}: {line:?} {problem}");
        }
    }

    #[test]
    fn rejects_fractions_odds_and_returns_with_the_intended_percentage() {
        for (text, expected) in [
            ("0.85", Some("did you mean 85?")),
            ("1.85", Some("did you mean 85?")),
            ("185", Some("did you mean 85?")),
            ("185%", Some("did you mean 85?")),
            ("0.92", Some("did you mean 92?")),
            ("192.5", Some("did you mean 92.5?")),
            ("85", None),
            ("85 %", None),
            ("100", None),
            ("12", None),
            ("110", None),
        ] {
            match (parse_external_payout(text), expected) {
                (Err(problem), Some(meant)) => assert!(problem.contains(meant), "{text}: {problem}"),
                (found, expected) => assert!(found.is_ok() && expected.is_none(), "{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn infers_unit_of_times_from_their_size() {
        let expected = Millis::new(1_767_880_800_000);
        for text in ["1767880800", "1767880800000", "1767880800000000", "1767880800000000000"] {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
        assert_eq!(parse_time("17"), Ok(Millis::new(17)));
        assert!(is_calendar_time(expected) && !is_calendar_time(Millis::new(17)));
        assert!(parse_time("soon").is_err());
    }
}
