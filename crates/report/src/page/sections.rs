//! Page sections without charts: findings, figures, baselines, trades, settings and provenance.

use super::{DataTable, RunPage};
use crate::analysis::{Breakdown, Cell, Metrics, SMALL_CELL_TRADES};
use crate::figure::{format_number, format_percent, format_signed_money, format_signed_percent, or_dash};
use crate::markup::escape_html;
use candlewick_backtest::metric::Streak;
use candlewick_records::{EXPLORATORY, PRACTICE};
use candlewick_sdk::MoneyScale;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn findings(page: &RunPage<'_>) -> String {
    let mut text = String::from("<section id=\"findings\"><h2>Findings</h2>");
    if page.analysis.findings.is_empty() {
        let _ = write!(
            text,
            "<p class=\"none\">{}</p>",
            no_findings_text(page.edge.verdict, !page.edge.withheld.is_empty())
        );
    } else {
        text.push_str("<ul class=\"findings\">");
        for finding in &page.analysis.findings {
            let severity = finding.severity.as_str();
            let _ = write!(
                text,
                "<li class=\"{severity}\"><b>{severity}</b> <span>{}</span></li>",
                escape_html(&finding.text)
            );
        }
        text.push_str("</ul>");
    }
    for notice in &page.notices {
        let _ = write!(text, "<p class=\"note\">{}</p>", escape_html(notice));
    }
    text.push_str("</section>");
    text
}

fn no_findings_text(verdict: &str, is_withheld: bool) -> &'static str {
    match verdict {
        "edge_shown" => {
            "Nothing was found that casts doubt on these figures. Only later trades show whether the edge lasts."
        }
        "edge_no_longer_held" => {
            "Nothing was found that casts doubt on these figures. They show an edge that later trades no longer \
             support: it has ended, or was smaller from the start."
        }
        "edge_rejected" => {
            "Nothing was found that casts doubt on the verdict: these figures rule out an edge."
        }
        EXPLORATORY | PRACTICE if !is_withheld => {
            "Nothing was found that casts doubt on these figures, but only candles that no one has seen can \
             show an edge."
        }
        _ if is_withheld => {
            "Nothing was found that casts doubt on these figures, except the reasons for withholding the verdict."
        }
        _ => {
            "Nothing was found that casts doubt on these figures, but they do not yet show whether there is an edge."
        }
    }
}

pub(super) fn results(page: &RunPage<'_>) -> String {
    let mut text = String::from(
        "<section id=\"results\"><h2>Figures</h2><div class=\"wide\"><table class=\"pairs\"><tbody>",
    );
    let further = further_metrics(&page.analysis.metrics);
    for (name, value) in page.figures.iter().filter(|(name, _)| !is_shown_elsewhere(name)).chain(&further) {
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{name}</th><td data-figure=\"{name}\">{}</td></tr>",
            escape_html(value)
        );
    }
    text.push_str("</tbody></table></div>");
    for (name, table_data) in page.tables.iter().filter(|(_, table_data)| !table_data.is_empty()) {
        let _ = write!(text, "<h3>{}</h3>{}", escape_html(name), table_data.to_markup());
    }
    let _ = write!(
        text,
        "<h2 id=\"tables\">Breakdowns</h2><p>Cells with fewer than {SMALL_CELL_TRADES} won or lost trades are dimmed \
         and marked †, because chance can explain their results. The <i>shrunk</i> return is the return pulled towards \
         the mean of all trades; if all shrunk returns are equal, the differences are noise.</p><div class=\"tables\">"
    );
    for breakdown in page.analysis.breakdowns.iter().filter(|breakdown| !breakdown.cells.is_empty()) {
        text.push_str(&breakdown_table(breakdown, page.trades.scale));
    }
    text.push_str("</div></section>");
    text
}

fn is_shown_elsewhere(name: &str) -> bool {
    let is_listed = matches!(name, "equity curve" | "longest losing streak" | "edge withheld");
    is_listed || name.ends_with(" hash") || name.starts_with("expectancy")
}

fn further_metrics(metrics: &Metrics) -> Vec<(&'static str, String)> {
    let Metrics { expectancy, profit_factor, streaks, daily, exposure, .. } = metrics;
    let ratio = |ratio: Option<f64>| or_dash(ratio, |ratio| format!("{ratio:.2}"));
    let streak = |streak: Streak| match streak.probability {
        Some(p) => format!("{} (probability of at least this length: {})", streak.length, format_percent(p)),
        None => streak.length.to_string(),
    };
    let error = expectancy.and_then(|found| found.standard_error);
    vec![
        ("standard error of the expectancy", or_dash(error, format_percent)),
        (
            "profit factor, equal stakes / actual stakes",
            format!("{} / {}", ratio(profit_factor.of_returns), ratio(profit_factor.of_money)),
        ),
        ("longest winning streak", streak(streaks.won)),
        ("longest losing streak", streak(streaks.lost)),
        ("days", daily.days.to_string()),
        (
            "Sharpe / Sortino / Calmar ratio (daily)",
            format!("{} / {} / {}", ratio(daily.sharpe), ratio(daily.sortino), ratio(daily.calmar)),
        ),
        ("probabilistic Sharpe ratio", or_dash(daily.probabilistic_sharpe, format_percent)),
        ("exposure (time with an open trade)", or_dash(*exposure, format_percent)),
    ]
}

fn breakdown_table(breakdown: &Breakdown, scale: MoneyScale) -> String {
    let by = breakdown.by.as_str();
    let returns = breakdown.cells.iter().filter_map(|cell| cell.return_per_unit);
    let largest = returns.map(f64::abs).fold(1e-9, f64::max);
    let mut text = format!(
        "<figure><h3>By {by}</h3><div class=\"wide\"><table class=\"stacks\" data-by=\"{by}\"><thead><tr><th scope=\"col\">{by}</th>\
         <th scope=\"col\">trades</th><th scope=\"col\">win rate</th><th scope=\"col\">return</th>\
         <th scope=\"col\" class=\"bar\" aria-hidden=\"true\"></th><th scope=\"col\">profit</th><th scope=\"col\">shrunk</th>\
         <th scope=\"col\">break-even</th></tr></thead><tbody>"
    );
    for cell in &breakdown.cells {
        text.push_str(&breakdown_row(cell, largest, scale));
    }
    text.push_str("</tbody></table></div></figure>");
    text
}

fn breakdown_row(cell: &Cell, largest: f64, scale: MoneyScale) -> String {
    let (class, mark) = if cell.is_small { (" class=\"small\"", " †") } else { ("", "") };
    let number = |name: &str, text: String| format!("<td class=\"number\" data-name=\"{name}\">{text}</td>");
    let mut text = format!("<tr{class}><th scope=\"row\">{}{mark}</th>", escape_html(&cell.label));
    text.push_str(&number("trades", format_number(cell.trades)));
    text.push_str(&number("win rate", or_dash(cell.win_rate, format_percent)));
    text.push_str(&number("return", or_dash(cell.return_per_unit, format_signed_percent)));
    text.push_str(&bar_cell(cell.return_per_unit.unwrap_or_default(), largest));
    text.push_str(&number("profit", format_signed_money(cell.pnl, scale)));
    text.push_str(&number("shrunk", or_dash(cell.shrunk_return, format_signed_percent)));
    text.push_str(&number("break-even", or_dash(cell.break_even, format_percent)));
    text.push_str("</tr>");
    text
}

pub(super) fn baselines(page: &RunPage<'_>) -> String {
    let head = "<section id=\"baselines\"><h2>Baselines</h2>";
    let Some(found) = &page.analysis.baselines else {
        return format!(
            "{head}<p class=\"none\">No baselines: either no trade was won or lost, or the run used stress. Stress makes prices \
             depend on the direction, so results in other directions are unknown.</p></section>"
        );
    };
    let means = [
        ("this run", found.own),
        ("random direction", found.shifted_directions),
        ("always BUY", found.always_buy),
        ("always SELL", found.always_sell),
    ];
    let largest = means.iter().map(|(_, mean)| mean.abs()).fold(1e-9, f64::max);
    let mut rows = String::new();
    for (name, mean) in means {
        let bar = bar_cell(mean, largest);
        let value = format_signed_percent(mean);
        let _ = write!(rows, "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td>{bar}</tr>");
    }
    let luck = match found.p_value {
        Some(p) => format!(
            "Of {} runs with randomly reassigned directions, {:.1} % did at least as well as this run.",
            found.runs,
            p * 100.0
        ),
        None => "Directions not tested: nearly all are the same, or no symbol has two trades.".to_owned(),
    };
    format!(
        "{head}<p>The same entries with other directions. {luck}</p><table class=\"compared\"><thead><tr><th \
         scope=\"col\">direction</th><th scope=\"col\" class=\"number\">expectancy, % of stake</th><th scope=\"col\" \
         class=\"bar\" aria-hidden=\"true\"></th></tr></thead><tbody>{rows}</tbody></table></section>"
    )
}

fn bar_cell(value: f64, largest: f64) -> String {
    let width = (value / largest * 50.0).abs().min(50.0);
    let (class, from) = if value < 0.0 { ("bad", 50.0 - width) } else { ("good", 50.0) };
    format!(
        "<td class=\"bar\" aria-hidden=\"true\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\"><rect class=\"{class}\" \
         x=\"{from:.1}\" width=\"{width:.1}\" height=\"10\"/></svg></td>"
    )
}

pub(super) fn trade_list(page: &RunPage<'_>) -> String {
    let head = "<section id=\"list\"><h2>Trades</h2>";
    if page.rows.is_empty() {
        return format!("{head}<p class=\"none\">No trades.</p></section>");
    }
    let mut text = format!(
        "{head}<p>Click a column heading to sort the trades, or a time to show the trade in the chart.</p>\
         <div class=\"controls\" id=\"filters\"><input type=\"search\" id=\"filter-text\" aria-label=\"Bot, symbol or reason\" \
         placeholder=\"Bot, symbol or reason\"><select id=\"filter-result\" aria-label=\"Result\">"
    );
    for (value, name) in [
        ("", "All results"),
        ("won", "Won"),
        ("lost", "Lost"),
        ("draw", "Draw"),
        ("cancelled", "Cancelled"),
        ("open", "Not settled"),
    ] {
        let _ = write!(text, "<option value=\"{value}\">{name}</option>");
    }
    text.push_str("</select><select id=\"filter-side\" aria-label=\"Direction\"><option value=\"\">BUY and SELL</option><option>BUY</option><option>SELL</option></select>");
    if page.trades.bots.len() > 1 {
        text.push_str("<select id=\"filter-bot\" aria-label=\"Bot\"><option value=\"\">All bots</option>");
        for (number, bot) in page.trades.bots.iter().enumerate() {
            let _ = write!(text, "<option value=\"{number}\">{}</option>", escape_html(&bot.name));
        }
        text.push_str("</select>");
    }
    text.push_str(
        "<label><input type=\"checkbox\" id=\"filter-sight\"> only trades in the visible chart range</label></div>\
         <p class=\"status\" id=\"found\" role=\"status\"></p>\
         <div class=\"list\" id=\"rows\" tabindex=\"0\" role=\"region\" aria-label=\"Trades\"></div>\
         <p class=\"status\" id=\"chosen\" role=\"status\"></p></section>",
    );
    text
}

pub(super) fn settings(page: &RunPage<'_>) -> String {
    let mut text =
        String::from("<section id=\"settings\"><h2>Parameters and settings</h2><div class=\"tables\">");
    let groups = page.settings.as_object().into_iter().flatten();
    for (name, group) in groups {
        let rows: Vec<_> = flatten_document(group).into_iter().map(|(key, value)| vec![key, value]).collect();
        if rows.is_empty() {
            continue;
        }
        let table_data = DataTable::new(["key", "value"], rows);
        let _ = write!(text, "<figure><h3>{}</h3>{}</figure>", escape_html(name), table_data.to_markup());
    }
    text.push_str("</div></section>");
    text
}

/// Flattens a document into pairs of key path and value, such as `params.period` and `14`. Omits null values.
pub fn flatten_document(document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    flatten(document, String::new(), &mut found);
    found
}

fn flatten(value: &Value, path: String, found: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Null => {}
        Value::Object(parts) if !parts.is_empty() => {
            parts.iter().for_each(|(key, part)| flatten(part, below(key), found));
        }
        Value::Array(parts) if parts.iter().any(|part| part.is_object() || part.is_array()) => {
            let numbered = parts.iter().enumerate();
            numbered.for_each(|(place, part)| flatten(part, below(&place.to_string()), found));
        }
        Value::Array(parts) if !parts.is_empty() => {
            found.push((path, parts.iter().map(value_text).collect::<Vec<_>>().join(", ")));
        }
        Value::Array(_) | Value::Object(_) => found.push((path, "none".to_owned())),
        other => found.push((path, value_text(other))),
    }
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn provenance(page: &RunPage<'_>) -> String {
    let mut text = String::from(
        "<section id=\"provenance\"><h2>Provenance</h2><p>Two runs of the same version with the same hashes are \
         identical.</p><dl class=\"hashes\">",
    );
    for (name, value) in &page.provenance {
        let _ =
            write!(text, "<dt>{}</dt><dd data-figure=\"{0}\">{}</dd>", escape_html(name), escape_html(value));
    }
    text.push_str("</dl></section>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_findings_do_not_praise_rejected_edge() {
        for (name, is_withheld, expected) in [
            ("edge_shown", false, "casts doubt on these figures. Only later trades show"),
            ("edge_rejected", false, "casts doubt on the verdict: these figures rule out an edge."),
            (EXPLORATORY, false, "but only candles that no one has seen"),
            (PRACTICE, true, "except the reasons for withholding the verdict."),
            ("not_enough_trades", true, "except the reasons for withholding the verdict."),
            ("not_enough_trades", false, "but they do not yet show"),
        ] {
            let text = no_findings_text(name, is_withheld);
            assert!(text.starts_with("Nothing was found") && text.contains(expected), "{name}: {text}");
            assert_eq!(name == "edge_rejected", !text.contains("casts doubt on these figures"), "{name}");
        }
    }

    #[test]
    fn bar_of_a_loss_extends_to_the_left() {
        for (value, expected) in [
            (-0.5, "class=\"bad\" x=\"25.0\" width=\"25.0\""),
            (1.0, "class=\"good\" x=\"50.0\" width=\"50.0\""),
            (0.0, "class=\"good\" x=\"50.0\" width=\"0.0\""),
            (-9.0, "class=\"bad\" x=\"0.0\" width=\"50.0\""),
        ] {
            assert!(bar_cell(value, 1.0).contains(expected), "{value}");
        }
    }

    #[test]
    fn flattens_document_key_by_key() {
        let document = json!({
            "name": "btc", "params": {"period": 14, "none": null}, "hours": [1, 2], "empty": {}, "no": [], "list": [{"a": 0.5}]
        });
        let expected = [
            ("empty", "none"),
            ("hours", "1, 2"),
            ("list.0.a", "0.5"),
            ("name", "btc"),
            ("no", "none"),
            ("params.period", "14"),
        ];
        let found = flatten_document(&document);
        let found: Vec<(&str, &str)> = found.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(found, expected);
    }
}
