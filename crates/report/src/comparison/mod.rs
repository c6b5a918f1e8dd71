//! Comparison of two runs: verdicts, figures, trades, parameters.

mod matching;
mod table;

use crate::page::{RecalledRun, flattened};
use matching::Matching;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

const FIGURES: [Figure; 15] = [
    Figure::new("candles", "candles", Form::Number),
    Figure::new("trades", "trades", Form::Number),
    Figure::new("won", "won", Form::Number),
    Figure::new("lost", "lost", Form::Number),
    Figure::new("draw", "drawn", Form::Number),
    Figure::new("cancelled", "cancelled", Form::Number),
    Figure::new("unsettled", "not settled", Form::Number),
    Figure::new("win_rate", "win rate", Form::Share),
    Figure::new("break_even", "break-even", Form::Share),
    Figure::new("break_even_payout_percent", "break-even payout, %", Form::Decimal),
    Figure::new("pnl", "profit and loss", Form::Decimal),
    Figure::new("final_balance", "final balance", Form::Decimal),
    Figure::new("max_drawdown", "max. drawdown", Form::Decimal),
    Figure::new("longest_losing_streak", "longest losing streak", Form::Number),
    Figure::new("metrics.daily.sharpe", "Sharpe of daily results", Form::Decimal),
];

#[derive(Clone, Copy)]
struct Figure {
    /// Path in the document of `--json`, with dots between the keys.
    key: &'static str,
    name: &'static str,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Decimal,
    Share,
}

#[derive(Debug, Serialize)]
pub struct Comparison {
    a: Side,
    b: Side,
    figures: Vec<FigureLine>,
    trades: Matching,
    parameters: Vec<ParameterLine>,
    #[serde(skip)]
    curves: [Vec<(i64, f64)>; 2],
}

#[derive(Debug, Serialize)]
struct Side {
    name: String,
    verdict: String,
    /// Reasons to withhold *edge shown* although the trades show an edge.
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
    form: Form,
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
    pub fn of([(a, first), (b, second)]: [(&str, &RecalledRun); 2]) -> Self {
        Self {
            a: Side::of(a, first),
            b: Side::of(b, second),
            figures: FIGURES.iter().map(|figure| FigureLine::of(*figure, first, second)).collect(),
            trades: Matching::of(&first.trades, &second.trades),
            parameters: parameters([&first.settings, &second.settings]),
            curves: [first, second].map(|run| curve_of(&run.document)),
        }
    }
}

impl Side {
    fn of(name: &str, run: &RecalledRun) -> Self {
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

    fn words(&self) -> String {
        let name = self.verdict.replace('_', " ");
        if self.withheld.is_empty() {
            name
        } else {
            format!("edge shown, but withheld: {}", self.withheld.join("; "))
        }
    }
}

impl Figure {
    const fn new(key: &'static str, name: &'static str, form: Form) -> Self {
        Self { key, name, form }
    }
}

impl FigureLine {
    fn of(Figure { key, name, form }: Figure, a: &RecalledRun, b: &RecalledRun) -> Self {
        let place = format!("/{}", key.replace('.', "/"));
        let [a, b] = [a, b].map(|run| run.document.pointer(&place).and_then(Value::as_f64));
        Self { figure: key, name, form, a, b, difference: a.zip(b).map(|(a, b)| b - a) }
    }
}

fn parameters(settings: [&Value; 2]) -> Vec<ParameterLine> {
    let [mut a, mut b] = settings.map(|settings| flattened(settings).into_iter().collect::<BTreeMap<_, _>>());
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

fn curve_of(document: &Value) -> Vec<(i64, f64)> {
    let points = document["equity"].as_array().into_iter().flatten();
    points.filter_map(|point| Some((point["at"].as_i64()?, point["balance"].as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_that_differ_are_reported_once_with_both_values() {
        let a = json!({ "bot": { "params": { "period": 7, "level": 30 } }, "risk": { "only_a": 1 } });
        let b = json!({ "bot": { "params": { "period": 9, "level": 30 } }, "risk": { "only_b": "x" } });
        let line = |key: &str, a: Option<&str>, b: Option<&str>| ParameterLine {
            key: key.to_owned(),
            a: a.map(str::to_owned),
            b: b.map(str::to_owned),
        };
        let expected = [
            line("bot.params.period", Some("7"), Some("9")),
            line("risk.only_a", Some("1"), None),
            line("risk.only_b", None, Some("x")),
        ];
        assert_eq!(parameters([&a, &b]), expected);
        assert_eq!(parameters([&a, &a]), []);
    }
}
