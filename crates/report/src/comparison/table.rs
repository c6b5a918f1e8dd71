//! Rendering of a comparison as text and as a page.

use super::{Comparison, FigureLine, Form};
use crate::analysis::EquityPoint;
use crate::error::ReportError;
use crate::page::{ComparisonPage, DataTable, RecalledTrade};
use crate::sparkline::sparkline;
use candlewick_records::table;
use candlewick_records::utc;
use candlewick_sdk::Millis;
use std::fmt;

const MAX_SHOWN: usize = 20;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, run) in [("A", &self.a), ("B", &self.b)] {
            writeln!(f, "{side}: {}\n   verdict: {}", run.name, run.words())?;
        }
        for (side, points) in ["A", "B"].iter().zip(&self.curves) {
            let point = |(at, balance): &(i64, f64)| EquityPoint { at: Millis::new(*at), balance: *balance };
            let points: Vec<EquityPoint> = points.iter().map(point).collect();
            if let Some(line) = sparkline(&points) {
                writeln!(f, "equity curve of {side}: {line}")?;
            }
        }
        for (heading, summary, table_data) in self.tables() {
            writeln!(f, "\n{heading}: {summary}")?;
            if !table_data.rows.is_empty() {
                let mut rows = table(table_data.header);
                for row in table_data.rows {
                    rows.add_row(row);
                }
                writeln!(f, "{}", rows.trim_fmt())?;
            }
        }
        Ok(())
    }
}

impl Comparison {
    pub fn page(&self) -> Result<ComparisonPage, ReportError> {
        let document = serde_json::to_value(self)?;
        let points = |points: &Vec<(i64, f64)>| {
            points.iter().map(|(at, balance)| (Millis::new(*at), *balance)).collect()
        };
        let [a, b] = &self.curves;
        Ok(ComparisonPage {
            names: [self.a.name.clone(), self.b.name.clone()],
            verdicts: [&self.a, &self.b].map(|side| (side.verdict.clone(), side.words())),
            curves: [points(a), points(b)],
            tables: self.tables(),
            document,
        })
    }

    fn tables(&self) -> Vec<(&'static str, String, DataTable)> {
        let trades = &self.trades;
        let shown = |count: usize| match count {
            0 => "none".to_owned(),
            few if few <= MAX_SHOWN => few.to_string(),
            many => format!("{many}, of which the first {MAX_SHOWN} are shown"),
        };
        let list = |trades: &[RecalledTrade]| DataTable {
            header: ["decided", "bot", "", "open", "close", "result", "pnl"].map(str::to_owned).into(),
            rows: trades.iter().take(MAX_SHOWN).map(row).collect(),
        };
        let pairs = trades.other_outcome.iter().take(MAX_SHOWN).map(|pair| {
            let mut cells = vec![utc(pair.a.decision_time), pair.a.bot.clone()];
            cells.extend([&pair.a, &pair.b].map(|trade| {
                format!("{} {}", trade.direction, trade.result.as_deref().unwrap_or("not settled"))
            }));
            cells.extend(
                [pair.a.open_price, pair.b.open_price, pair.a.close_price, pair.b.close_price].map(text),
            );
            cells
        });
        let pairs = DataTable {
            header: ["decided", "bot", "A", "B", "open A", "open B", "close A", "close B"]
                .map(str::to_owned)
                .into(),
            rows: pairs.collect(),
        };
        let parameter = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let parameters = DataTable {
            header: ["key", "A", "B"].map(str::to_owned).into(),
            rows: self
                .parameters
                .iter()
                .map(|line| vec![line.key.clone(), parameter(&line.a), parameter(&line.b)])
                .collect(),
        };
        let figures = DataTable {
            header: ["figure", "A", "B", "B less A"].map(str::to_owned).into(),
            rows: self.figures.iter().map(FigureLine::row).collect(),
        };
        let same = format!("{} decisions of both ended alike", trades.same);
        let count = parameters.rows.len();
        vec![
            ("figures", same, figures),
            ("trades of A alone", shown(trades.only_a.len()), list(&trades.only_a)),
            ("trades of B alone", shown(trades.only_b.len()), list(&trades.only_b)),
            ("trades of both that ended otherwise", shown(trades.other_outcome.len()), pairs),
            (
                "parameters that differ",
                if count == 0 { "none".to_owned() } else { count.to_string() },
                parameters,
            ),
        ]
    }
}

impl FigureLine {
    fn row(&self) -> Vec<String> {
        let text = |value: Option<f64>| match (value, self.form) {
            (None, _) => "-".to_owned(),
            (Some(value), Form::Number) => format!("{value}"),
            (Some(value), Form::Decimal) => format!("{value:.2}"),
            (Some(value), Form::Share) => format!("{:.2} %", value * 100.0),
        };
        let difference = match self.difference {
            Some(more) if more > 0.0 => format!("+{}", text(Some(more))),
            other => text(other),
        };
        vec![self.name.to_owned(), text(self.a), text(self.b), difference]
    }
}

fn row(trade: &RecalledTrade) -> Vec<String> {
    vec![
        utc(trade.decision_time),
        trade.bot.clone(),
        trade.direction.to_owned(),
        text(trade.open_price),
        text(trade.close_price),
        trade.result.clone().unwrap_or_else(|| "not settled".to_owned()),
        trade.pnl.map_or("-".to_owned(), |pnl| format!("{pnl:+.2}")),
    ]
}

fn text(price: Option<f64>) -> String {
    price.map_or("-".to_owned(), |price| price.to_string())
}
