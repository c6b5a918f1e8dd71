//! Page section: tables of figures and breakdowns.

use super::RunPage;
use super::value_bar;
use crate::analysis::{Breakdown, Cell, Metrics, SMALL_CELL_TRADES};
use crate::figure::{or_dash, percent, signed_money, signed_percent};
use crate::markup::escaped;
use candlewick_backtest::metric::Streak;
use candlewick_sdk::MoneyScale;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text = String::from(
        "<section id=\"results\"><h2>Figures</h2><div class=\"wide\"><table class=\"pairs\"><tbody>",
    );
    for (name, value) in page.figures.iter().filter(|(name, _)| !is_shown_elsewhere(name)) {
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{name}</th><td data-figure=\"{name}\">{}</td></tr>",
            escaped(value)
        );
    }
    for (name, value) in further(&page.analysis.metrics) {
        let _ = write!(text, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escaped(&value));
    }
    text.push_str("</tbody></table></div>");
    for (name, table_data) in page.tables.iter().filter(|(_, table_data)| !table_data.is_empty()) {
        let _ = write!(text, "<h3>{}</h3>{}", escaped(name), table_data.to_markup());
    }
    let _ = write!(
        text,
        "<h2 id=\"tables\">Results by hour and the like</h2><p>Cells with fewer than {SMALL_CELL_TRADES} decided trades \
         are faint and marked †: whatever they show, chance shows as easily. <i>Shrunk</i> is the expectancy, drawn \
         towards that of all trades by as much as chance explains of the cells' difference.</p><div class=\"tables\">"
    );
    for breakdown in page.analysis.breakdowns.iter().filter(|breakdown| !breakdown.cells.is_empty()) {
        text.push_str(&table(breakdown, page.trades.scale));
    }
    text.push_str("</div></section>");
    text
}

fn is_shown_elsewhere(name: &str) -> bool {
    matches!(
        name,
        "equity curve" | "expectancy, % of stake" | "data hash" | "journal hash" | "hash of the last line"
    ) || name.starts_with("return %")
}

fn further(metrics: &Metrics) -> Vec<(&'static str, String)> {
    let Metrics { expectancy, profit_factor, streaks, daily, exposure, .. } = metrics;
    let ratio = |ratio: Option<f64>| or_dash(ratio, |ratio| format!("{ratio:.2}"));
    let streak = |streak: Streak| match streak.probability {
        Some(p) => format!("{} (as long or longer with probability {})", streak.length, percent(p)),
        None => streak.length.to_string(),
    };
    let error = expectancy.and_then(|found| found.standard_error);
    vec![
        ("standard error of the expectancy", or_dash(error, percent)),
        (
            "profit factor of returns, of money",
            format!("{}, {}", ratio(profit_factor.of_returns), ratio(profit_factor.of_money)),
        ),
        ("longest winning streak", streak(streaks.won)),
        ("longest losing streak, by chance", streak(streaks.lost)),
        ("days", daily.days.to_string()),
        (
            "Sharpe, Sortino, Calmar of daily results",
            format!("{}, {}, {}", ratio(daily.sharpe), ratio(daily.sortino), ratio(daily.calmar)),
        ),
        ("probabilistic Sharpe", or_dash(daily.probabilistic_sharpe, percent)),
        ("deflated Sharpe", or_dash(daily.deflated_sharpe, percent)),
        ("time with a trade open", or_dash(*exposure, percent)),
    ]
}

fn table(breakdown: &Breakdown, scale: MoneyScale) -> String {
    let by = breakdown.by.as_str();
    let returns = breakdown.cells.iter().filter_map(|cell| cell.return_per_unit);
    let largest = returns.map(f64::abs).fold(1e-9, f64::max);
    let mut text = format!(
        "<figure><h3>By {by}</h3><div class=\"wide\"><table class=\"stacks\" data-by=\"{by}\"><thead><tr><th scope=\"col\">{by}</th>\
         <th scope=\"col\">trades</th><th scope=\"col\">win rate</th><th scope=\"col\">per stake</th>\
         <th scope=\"col\" class=\"bar\" aria-hidden=\"true\"></th><th scope=\"col\">pnl</th><th scope=\"col\">shrunk</th>\
         <th scope=\"col\">break-even</th></tr></thead><tbody>"
    );
    for cell in &breakdown.cells {
        text.push_str(&row(cell, largest, scale));
    }
    text.push_str("</tbody></table></div></figure>");
    text
}

fn row(cell: &Cell, largest: f64, scale: MoneyScale) -> String {
    let (class, mark) = if cell.is_small { (" class=\"small\"", " †") } else { ("", "") };
    let number =
        |name: &str, value: String| format!("<td class=\"number\" data-name=\"{name}\">{value}</td>");
    let mut text = format!("<tr{class}><th scope=\"row\">{}{mark}</th>", escaped(&cell.label));
    text.push_str(&number("trades", cell.trades.to_string()));
    text.push_str(&number("win rate", or_dash(cell.win_rate, percent)));
    text.push_str(&number("per stake", or_dash(cell.return_per_unit, signed_percent)));
    text.push_str(&value_bar::cell(cell.return_per_unit.unwrap_or_default(), largest));
    text.push_str(&number("pnl", signed_money(cell.pnl, scale)));
    text.push_str(&number("shrunk", or_dash(cell.shrunk_return, signed_percent)));
    text.push_str(&number("break-even", or_dash(cell.break_even, percent)));
    text.push_str("</tr>");
    text
}
