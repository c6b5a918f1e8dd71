//! Equity curve, drawdown and prices with trades, as one chart over one time axis.

use super::chart::{ACCENT, Axis, BAD, Chart, Charts, Layer, Pane, as_table, packed};
use super::{DataTable, RunPage};
use crate::analysis::{DrawdownFigures, settled_rows, worst_drawdowns};
use crate::figure::{minute, or_dash, span};
use candlewick_sdk::{Millis, Money};
use std::fmt::Write as _;
use std::io;

const MOST_ROWS: i64 = 24;
const WORST: usize = 5;

struct Balance {
    at: Millis,
    amount: Money,
    peak: Money,
}

pub(super) fn section(page: &RunPage<'_>, charts: &mut Charts) -> io::Result<String> {
    let mut text = "<section id=\"equity\"><h2>Equity and prices</h2>".to_owned();
    let balances = balances(page);
    let (has_settled, has_candles) = (balances.len() > 1, !page.candles.is_empty());
    if has_settled {
        let _ = write!(text, "<p>{}</p>", deepest(page));
    } else {
        text.push_str("<p class=\"none\">No trade has settled, so the balance is what it was.</p>");
    }
    let mut panes = if has_settled { panes(page, &balances, charts)? } else { Vec::new() };
    if has_candles {
        panes.push(pane("Price", 320, 0, vec![Layer::Prices]));
    }
    if panes.is_empty() {
        return Ok(text + "<p class=\"none\">There are no candles.</p></section>");
    }
    if has_candles && !page.rows.is_empty() {
        text.push_str(
            "<p class=\"note\">Drag to move, turn the wheel or pinch to zoom, double-click to see all. ▲ is a BUY, ▼ a SELL; \
             filled won, hollow lost. From far away a bar is many candles, and trades are counted: won upwards, lost \
             downwards.</p>",
        );
    }
    text.push_str("<div class=\"controls\" id=\"controls\"></div>");
    let (from, to) = (page.trades.span.start.get(), page.trades.span.end.get());
    let label = match (has_settled, has_candles) {
        (true, true) => "Equity curve, drawdown and prices with every trade, over time",
        (true, false) => "Equity curve and drawdown over time",
        (false, _) => "Prices over time",
    };
    text.push_str(&charts.add("equity", label, &Chart { axis: Axis::Time { from, to }, panes }));
    text.push_str("<p class=\"status\" id=\"status\"></p>");
    if has_settled {
        text.push_str(&as_table("Equity as a table", &table(page, &balances)));
    }
    text.push_str("</section>");
    Ok(text)
}

fn panes(page: &RunPage<'_>, balances: &[Balance], charts: &mut Charts) -> io::Result<Vec<Pane>> {
    let scale = page.trades.scale;
    let decimals = scale.decimals();
    let unit = 10_f64.powi(decimals.cast_signed());
    let times = balances.iter().map(|one| one.at.get()).collect();
    let money =
        |read: &dyn Fn(&Balance) -> Money| (balances.iter().map(|one| read(one).minor()).collect(), unit);
    let below = money(&|one| one.amount - one.peak);
    charts.pack("equity", &[(times, 1.0), money(&|one| one.amount), below])?;
    let stepped = |name: &str, colour, column, is_filled| Layer::Line {
        name: name.to_owned(),
        colour,
        is_stepped: true,
        is_dashed: false,
        is_filled,
        x: packed("equity", 0),
        y: packed("equity", column),
    };
    let start = Layer::Level { name: "start".to_owned(), value: scale.to_f64(page.trades.balance) };
    Ok(vec![
        pane("Balance", 190, decimals, vec![start, stepped("balance", ACCENT, 1, false)]),
        pane("Below its peak", 90, decimals, vec![stepped("drawdown", BAD, 2, true)]),
    ])
}

fn pane(title: &str, height: u32, decimals: u32, layers: Vec<Layer>) -> Pane {
    Pane { title: title.to_owned(), height, decimals, unit: "", layers }
}

pub(super) fn worst(page: &RunPage<'_>) -> String {
    let head = "<section id=\"drawdowns\"><h2>Worst drawdowns</h2>";
    let falls = worst_drawdowns(&page.trades, WORST);
    if falls.is_empty() {
        return format!("{head}<p class=\"none\">The balance was never below an earlier peak.</p></section>");
    }
    let decimals = page.trades.scale.decimals() as usize;
    let row = |(number, fall): (usize, &DrawdownFigures)| {
        vec![
            number.to_string(),
            format!("{:.decimals$}", fall.amount),
            format!("{:.2} %", fall.percent),
            minute(fall.peak_at),
            or_dash(fall.trough_at, minute),
            fall.recovered_at.map_or_else(|| "not yet".to_owned(), minute),
            or_dash(fall.fall_ms, span),
            or_dash(fall.recovery_ms, span),
        ]
    };
    let header = [
        "no.",
        "amount",
        "% of peak",
        "peak, UTC",
        "bottom, UTC",
        "back at peak, UTC",
        "fell for",
        "rose for",
    ];
    let rows = (1..).zip(&falls).map(row).collect();
    let table = DataTable { header: header.map(str::to_owned).into(), rows };
    format!(
        "{head}<p>The largest falls of the balance by amount, each until it was back.</p>{}</section>",
        table.to_markup()
    )
}

/// Returns the balance at the start, after each settlement and at the end, so that a flat ending is
/// visible.
fn balances(page: &RunPage<'_>) -> Vec<Balance> {
    let span = page.trades.span;
    let (mut amount, mut peak) = (page.trades.balance, page.trades.balance);
    let mut all = vec![Balance { at: span.start, amount, peak }];
    for row in settled_rows(page.trades.book) {
        amount += row.profit;
        peak = peak.max(amount);
        all.push(Balance { at: row.settled_at.unwrap_or(span.end), amount, peak });
    }
    if all.len() > 1 {
        let last = all[all.len() - 1].at;
        all.push(Balance { at: span.end.max(last), amount, peak });
    }
    all
}

fn table(page: &RunPage<'_>, balances: &[Balance]) -> DataTable {
    let scale = page.trades.scale;
    let decimals = scale.decimals() as usize;
    let day = |at: Millis| at.get().div_euclid(Millis::DAY.get());
    let (first, last) = (day(page.trades.span.start), balances.last().map_or(0, |one| day(one.at)));
    let length = (last - first).div_euclid(MOST_ROWS) + 1;
    let settled = &balances[1.min(balances.len())..balances.len().saturating_sub(1).max(1)];
    let mut rows = Vec::new();
    let mut before = &balances[0];
    for from in (first..=last).step_by(usize::try_from(length).unwrap_or(1)) {
        let until = Millis::new((from + length) * Millis::DAY.get());
        let own = |one: &&Balance| one.at < until && day(one.at) >= from;
        let trades = settled.iter().filter(own).count();
        let at_end = settled.iter().rfind(own).unwrap_or(before);
        let money = |amount: Money| format!("{:.decimals$}", scale.to_f64(amount));
        rows.push(vec![
            minute(Millis::new(from * Millis::DAY.get())).chars().take(10).collect(),
            trades.to_string(),
            format!("{:+.decimals$}", scale.to_f64(at_end.amount - before.amount)),
            money(at_end.amount),
            money(at_end.peak - at_end.amount),
        ]);
        before = at_end;
    }
    let from = if length == 1 { "day, UTC".to_owned() } else { format!("{length} days from, UTC") };
    let header = [&from, "trades", "profit", "balance", "below peak"].map(str::to_owned).into();
    DataTable { header, rows }
}

fn deepest(page: &RunPage<'_>) -> String {
    let metrics = &page.analysis.metrics;
    let Some(by_amount) = &metrics.drawdown else {
        return "The balance was never below an earlier peak.".to_owned();
    };
    let decimals = page.trades.scale.decimals() as usize;
    let words = |found: &DrawdownFigures| {
        format!(
            "{:.decimals$}, {:.2} % of the peak of {} UTC. It took {} to the bottom, and {}.",
            found.amount,
            found.percent,
            minute(found.peak_at),
            or_dash(found.fall_ms, span),
            found.recovery_ms.map_or_else(
                || "the balance was not back at that peak by the end".to_owned(),
                |length| format!("{} back to that peak", span(length))
            )
        )
    };
    let mut text = format!("The max. drawdown was {}", words(by_amount));
    if let Some(by_percent) = metrics.drawdown_by_percent.as_ref().filter(|found| *found != by_amount) {
        let _ = write!(text, " The max. drawdown in percent of its peak was {}", words(by_percent));
    }
    text
}
