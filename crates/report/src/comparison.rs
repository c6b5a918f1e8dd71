//! Comparison of two runs: verdicts, figures, trades and parameters.

use crate::ReportError;
use crate::analysis::EquityPoint;
use crate::figure::{format_number, sparkline};
use crate::page::{ComparisonPage, DataTable, ParsedRun, ParsedTrade, flatten_document};
use candlewick_records::{count_text, format_utc};
use candlewick_sdk::{Millis, format_price};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Compared figures. Each entry has the key path in the `--json` document, the displayed name and the number format.
const FIGURES: [(&str, &str, Format); 15] = [
    ("candles", "candles", Format::Number),
    ("trades", "trades", Format::Number),
    ("won", "won", Format::Number),
    ("lost", "lost", Format::Number),
    ("draw", "drawn", Format::Number),
    ("cancelled", "cancelled", Format::Number),
    ("unsettled", "unsettled", Format::Number),
    ("win_rate", "win rate", Format::Share),
    ("break_even", "break-even", Format::Share),
    ("break_even_payout_percent", "break-even payout, %", Format::Decimal),
    ("pnl", "profit and loss", Format::Decimal),
    ("final_balance", "final balance", Format::Decimal),
    ("max_drawdown", "max drawdown", Format::Decimal),
    ("longest_losing_streak", "longest losing streak", Format::Number),
    ("metrics.daily.sharpe", "Sharpe (daily)", Format::Decimal),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Number,
    Decimal,
    Share,
}

#[derive(Debug, Serialize)]
pub struct Comparison {
    a: ComparedRun,
    b: ComparedRun,
    figures: Vec<FigureLine>,
    trades: TradeMatching,
    parameters: Vec<ParameterLine>,
    #[serde(skip)]
    curves: [Vec<(Millis, f64)>; 2],
}

#[derive(Debug, Serialize)]
struct ComparedRun {
    name: String,
    verdict: String,
    withheld: Vec<String>,
    data_hash: Option<String>,
    journal_hash: Option<String>,
    head_hash: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct FigureLine {
    figure: &'static str,
    #[serde(skip)]
    name: &'static str,
    #[serde(skip)]
    form: Format,
    a: Option<f64>,
    b: Option<f64>,
    difference: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize)]
struct ParameterLine {
    key: String,
    a: Option<String>,
    b: Option<String>,
}

impl Comparison {
    pub fn new([(a, first), (b, second)]: [(&str, &ParsedRun); 2]) -> Self {
        Self {
            a: ComparedRun::new(a, first),
            b: ComparedRun::new(b, second),
            figures: FIGURES.iter().map(|figure| FigureLine::new(*figure, [first, second])).collect(),
            trades: TradeMatching::new(&first.trades, &second.trades),
            parameters: compare_parameters([&first.settings, &second.settings]),
            curves: [first, second].map(|run| parse_curve(&run.document)),
        }
    }
}

impl ComparedRun {
    fn new(name: &str, run: &ParsedRun) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let withheld = run.document["edge"]["withheld"].as_array();
        Self {
            name: name.to_owned(),
            verdict: text(&run.document["verdict"]).unwrap_or_default(),
            withheld: withheld.into_iter().flatten().filter_map(text).collect(),
            data_hash: text(&run.document["data_hash"]),
            journal_hash: text(&run.document["journal_hash"]),
            head_hash: text(&run.document["head_hash"]),
        }
    }

    fn describe(&self) -> String {
        let name = self.verdict.replace("edge_rejected", "no edge").replace('_', " ");
        if self.withheld.is_empty() {
            name
        } else {
            format!("{name}, edge withheld: {}", self.withheld.join("; "))
        }
    }
}

impl FigureLine {
    fn new((key, name, form): (&'static str, &'static str, Format), runs: [&ParsedRun; 2]) -> Self {
        let place = format!("/{}", key.replace('.', "/"));
        let [a, b] = runs.map(|run| run.document.pointer(&place).and_then(Value::as_f64));
        Self { figure: key, name, form, a, b, difference: a.zip(b).map(|(a, b)| b - a) }
    }
}

fn compare_parameters(settings: [&Value; 2]) -> Vec<ParameterLine> {
    let [mut a, mut b] = settings.map(|one| flatten_document(one).into_iter().collect::<BTreeMap<_, _>>());
    a.retain(|key, value| {
        let is_same = b.get(key) == Some(value);
        if is_same {
            b.remove(key);
        }
        !is_same
    });
    let keys: Vec<String> = a.keys().chain(b.keys()).cloned().collect();
    let mut lines: Vec<ParameterLine> =
        keys.into_iter().map(|key| ParameterLine { a: a.remove(&key), b: b.remove(&key), key }).collect();
    lines.retain(|line| line.a.is_some() || line.b.is_some());
    lines.sort_by(|one, other| one.key.cmp(&other.key));
    lines
}

fn parse_curve(document: &Value) -> Vec<(Millis, f64)> {
    let points = document["equity"].as_array().into_iter().flatten();
    points.filter_map(|one| Some((Millis::new(one["at"].as_i64()?), one["balance"].as_f64()?))).collect()
}

/// Trades of two runs. Trades are matched by decision time and, if there are several bots, also by bot.
#[derive(Debug, Default, PartialEq, Serialize)]
struct TradeMatching {
    same: u64,
    only_a: Vec<ParsedTrade>,
    only_b: Vec<ParsedTrade>,
    other_outcome: Vec<TradePair>,
}

#[derive(Debug, PartialEq, Serialize)]
struct TradePair {
    a: ParsedTrade,
    b: ParsedTrade,
}

impl TradeMatching {
    fn new(a: &[ParsedTrade], b: &[ParsedTrade]) -> Self {
        let bots = |trades: &[ParsedTrade]| trades.iter().map(|one| one.bot.clone()).collect::<BTreeSet<_>>();
        let are_named = bots(a).len() > 1 || bots(b).len() > 1;
        let key = |trade: &ParsedTrade| {
            let bot = if are_named { trade.bot.clone() } else { String::new() };
            (trade.decision_time, bot)
        };
        let mut rest: BTreeMap<_, Vec<&ParsedTrade>> = BTreeMap::new();
        // Reverses the order, so that `pop` returns trades with the same key in their original order.
        for trade in b.iter().rev() {
            rest.entry(key(trade)).or_default().push(trade);
        }
        let mut found = Self::default();
        for trade in a {
            match rest.get_mut(&key(trade)).and_then(Vec::pop) {
                None => found.only_a.push(trade.clone()),
                Some(other) if trade.direction == other.direction && trade.result == other.result => {
                    found.same += 1;
                }
                Some(other) => found.other_outcome.push(TradePair { a: trade.clone(), b: other.clone() }),
            }
        }
        found.only_b = rest.into_values().flat_map(|left| left.into_iter().rev()).cloned().collect();
        found
    }
}

const MAX_SHOWN_TRADES: usize = 20;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, run) in [("A", &self.a), ("B", &self.b)] {
            writeln!(f, "{side}: {}\n   verdict: {}", run.name, run.describe())?;
        }
        for (side, points) in ["A", "B"].iter().zip(&self.curves) {
            let points: Vec<_> = points.iter().map(|&(at, balance)| EquityPoint { at, balance }).collect();
            if let Some(line) = sparkline(&points) {
                writeln!(f, "equity curve of {side}: {line}")?;
            }
        }
        for (heading, summary, table_data) in self.tables() {
            writeln!(f, "\n{heading}: {summary}")?;
            if !table_data.rows.is_empty() {
                writeln!(f, "{}", table_data.to_text())?;
            }
        }
        Ok(())
    }
}

impl Comparison {
    pub fn page(&self) -> Result<ComparisonPage, ReportError> {
        let document = serde_json::to_value(self)?;
        Ok(ComparisonPage {
            names: [self.a.name.clone(), self.b.name.clone()],
            verdicts: [&self.a, &self.b].map(|side| (side.verdict.clone(), side.describe())),
            curves: self.curves.clone(),
            tables: self.tables(),
            document,
        })
    }

    fn tables(&self) -> Vec<(&'static str, String, DataTable)> {
        let trades = &self.trades;
        let shown = |count: usize| match count {
            0 => "none".to_owned(),
            few if few <= MAX_SHOWN_TRADES => few.to_string(),
            many => format!("{}, only the first {MAX_SHOWN_TRADES} are shown", format_number(many)),
        };
        let list = |trades: &[ParsedTrade]| {
            let rows = trades.iter().take(MAX_SHOWN_TRADES).map(trade_row).collect();
            DataTable::new(["decided", "bot", "direction", "open", "close", "result", "profit"], rows)
        };
        let pairs = trades.other_outcome.iter().take(MAX_SHOWN_TRADES).map(|TradePair { a, b }| {
            let ended = |trade: &ParsedTrade| {
                format!("{} {}", trade.direction, trade.result.as_deref().unwrap_or("not settled"))
            };
            let prices = [a.open_price, b.open_price, a.close_price, b.close_price].map(price_text);
            let mut cells = vec![format_utc(a.decision_time), a.bot.clone(), ended(a), ended(b)];
            cells.extend(prices);
            cells
        });
        let header = ["decided", "bot", "A", "B", "open A", "open B", "close A", "close B"];
        let pairs = DataTable::new(header, pairs.collect());
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let rows = self.parameters.iter().map(|line| vec![line.key.clone(), cell(&line.a), cell(&line.b)]);
        let parameters = DataTable::new(["key", "A", "B"], rows.collect());
        let rows = self.figures.iter().map(FigureLine::row).collect();
        let figures = DataTable::new(["figure", "A", "B", "B - A"], rows);
        let same = count_text(trades.same, "trade has", "trades have");
        let same = format!("{same} the same result in both runs");
        let count = parameters.rows.len();
        let count = if count == 0 { "none".to_owned() } else { count.to_string() };
        vec![
            ("figures", same, figures),
            ("trades only in A", shown(trades.only_a.len()), list(&trades.only_a)),
            ("trades only in B", shown(trades.only_b.len()), list(&trades.only_b)),
            ("trades with different results", shown(trades.other_outcome.len()), pairs),
            ("different parameters", count, parameters),
        ]
    }
}

impl FigureLine {
    fn row(&self) -> Vec<String> {
        let text = |value: Option<f64>| match (value, self.form) {
            (None, _) => "-".to_owned(),
            (Some(value), Format::Number) => format_number(value),
            (Some(value), Format::Decimal) => format_number(format!("{value:.2}")),
            (Some(value), Format::Share) => format!("{:.2} %", value * 100.0),
        };
        let sign = if self.difference > Some(0.0) { "+" } else { "" };
        let difference = text(self.difference).replace('%', "points");
        vec![self.name.to_owned(), text(self.a), text(self.b), format!("{sign}{difference}")]
    }
}

fn trade_row(trade: &ParsedTrade) -> Vec<String> {
    vec![
        format_utc(trade.decision_time),
        trade.bot.clone(),
        trade.direction.to_owned(),
        price_text(trade.open_price),
        price_text(trade.close_price),
        trade.result.clone().unwrap_or_else(|| "not settled".to_owned()),
        trade.pnl.map_or("-".to_owned(), |pnl| format_number(format!("{pnl:+.2}"))),
    ]
}

fn price_text(price: Option<f64>) -> String {
    price.map_or("-".to_owned(), format_price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reports_different_parameters_once_with_both_values() {
        let a = json!({ "bot": { "params": { "period": 7, "level": 30 } }, "risk": { "only_a": 1 } });
        let b = json!({ "bot": { "params": { "period": 9, "level": 30 } }, "risk": { "only_b": "x" } });
        let found = compare_parameters([&a, &b]);
        let found = found.iter().map(|line| (&*line.key, line.a.as_deref(), line.b.as_deref()));
        let expected = [
            ("bot.params.period", Some("7"), Some("9")),
            ("risk.only_a", Some("1"), None),
            ("risk.only_b", None, Some("x")),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(compare_parameters([&a, &a]), []);
    }

    fn trade((bot, at, direction, result): (&str, i64, &'static str, &str)) -> ParsedTrade {
        ParsedTrade {
            bot: bot.to_owned(),
            direction,
            amount: 1.0,
            decision_time: Millis::new(at),
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            result: Some(result.to_owned()),
            pnl: None,
        }
    }

    type Row = (&'static str, i64, &'static str, &'static str);

    fn check(a: &[Row], b: &[Row], expected: [usize; 4]) {
        let [first, second] = [a, b].map(|rows| rows.iter().copied().map(trade).collect::<Vec<_>>());
        let found = TradeMatching::new(&first, &second);
        let same = usize::try_from(found.same).unwrap();
        assert_eq!([same, found.only_a.len(), found.only_b.len(), found.other_outcome.len()], expected);
    }

    #[test]
    fn matches_decisions_by_bot_and_time() {
        let a = [
            ("x", 1, "BUY", "WON"),
            ("x", 2, "BUY", "LOST"),
            ("y", 2, "SELL", "WON"),
            ("x", 3, "BUY", "WON"),
        ];
        check(&a, &a, [4, 0, 0, 0]);
        check(&a, &[], [0, 4, 0, 0]);
        check(&[], &a, [0, 0, 4, 0]);
        let b = [
            ("x", 1, "BUY", "LOST"),
            ("x", 2, "SELL", "LOST"),
            ("y", 2, "SELL", "WON"),
            ("y", 3, "BUY", "WON"),
        ];
        check(&a, &b, [1, 1, 1, 2]);
        let twice = [("x", 1, "BUY", "WON"), ("x", 1, "SELL", "LOST")];
        check(&twice, &twice, [2, 0, 0, 0]);
        check(&twice, &twice[..1], [1, 1, 0, 0]);
        let (old, new) = (("old", 1, "BUY", "WON"), ("new", 1, "BUY", "WON"));
        check(&[old], &[new], [1, 0, 0, 0]);
        check(&[old], &[new, ("other", 2, "BUY", "WON")], [0, 1, 2, 0]);
    }
}
