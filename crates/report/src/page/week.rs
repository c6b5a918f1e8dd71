//! Heat map of the hours of the week. It is a table that is readable without colors or scripts.

use super::RunPage;
use crate::analysis::{Cell, WEEKDAYS, hours_of_week, settled_rows};
use crate::figure::{format_number, format_percent, format_signed_percent, or_dash};
use crate::markup::escape_html;
use std::fmt::Write as _;

/// Minimum number of decided trades in a colored cell. With fewer trades, a single trade could change the color.
const MIN_DECIDED: u64 = 5;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text = String::from("<section id=\"week\"><h2>Hours of the week</h2>");
    let cells = hours_of_week(page.trades.bots, page.trades.scale, &settled_rows(page.trades.book));
    let known = cells.iter().flatten().count();
    if known == 0 {
        return text + "<p class=\"none\">No trade has settled.</p></section>";
    }
    let _ = write!(
        text,
        "<p>Return in percent of the stake by hour and weekday of the decision (UTC). The small number in a cell \
         is its number of trades. Colours show the distance from break-even in standard errors. By chance alone, about {:.0} of \
         {known} cells are more than 2 standard errors away.</p><ul class=\"key\" aria-label=\"Colours\">",
        known as f64 * 0.05
    );
    let names = "loss, 3 or more|2 to 3|1 to 2|within 1|1 to 2|2 to 3|profit, 3 or more";
    for (level, name) in (-3..).zip(names.split('|')) {
        let _ = write!(text, "<li><i class=\"{}\"></i>{name}</li>", colour_class(level));
    }
    text.push_str("</ul>");
    let hours: Vec<String> = (0..24).map(|hour| format!("{hour:02}")).collect();
    let hours: Vec<&str> = hours.iter().map(String::as_str).collect();
    // The page contains one table for wide screens and one for narrow screens.
    text.push_str(&table("across", (&WEEKDAYS, &hours), |day, hour| cells[day * 24 + hour].as_ref()));
    text.push_str(&table("down", (&hours, &WEEKDAYS), |hour, day| cells[day * 24 + hour].as_ref()));
    text.push_str("</section>");
    text
}

fn table<'a>(
    class: &str,
    (down, across): (&[&str], &[&str]),
    cell: impl Fn(usize, usize) -> Option<&'a Cell>,
) -> String {
    let mut text = format!(
        "<table class=\"week {class}\"><caption class=\"unseen\">Return by hour and weekday</caption><thead><tr><td></td>"
    );
    for name in across {
        let _ = write!(text, "<th scope=\"col\">{name}</th>");
    }
    text.push_str("</tr></thead><tbody>");
    for (row, name) in down.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=\"row\">{name}</th>");
        for column in 0..across.len() {
            text.push_str(&cell(row, column).map_or_else(|| "<td></td>".to_owned(), cell_markup));
        }
        text.push_str("</tr>");
    }
    text.push_str("</tbody></table>");
    text
}

fn cell_markup(cell: &Cell) -> String {
    let value = or_dash(cell.return_per_unit, |part| match (part * 100.0).round() {
        0.0 => "0".to_owned(),
        percent => format!("{percent:+.0}"),
    });
    let hint = format!(
        "{} UTC: {} trades, win rate {}, expectancy {} of stake",
        cell.label,
        format_number(cell.trades),
        or_dash(cell.win_rate, format_percent),
        or_dash(cell.return_per_unit, format_signed_percent)
    );
    let class = colour_class(colour_level(cell));
    format!(
        "<td class=\"{class}\" title=\"{}\">{value}<small>{}</small></td>",
        escape_html(&hint),
        cell.trades
    )
}

/// Returns the distance from break-even in whole standard errors, limited to -3 to 3.
fn colour_level(cell: &Cell) -> i8 {
    let decided = cell.won + cell.lost;
    let (Some(mean), Some(needed)) = (cell.return_per_unit, cell.break_even) else { return 0 };
    if decided < MIN_DECIDED || needed <= 0.0 || needed >= 1.0 {
        return 0;
    }
    // At break-even, the variance of a trade's return equals the payout.
    let payout = 1.0 / needed - 1.0;
    let errors = mean / (payout / decided as f64).sqrt();
    errors.clamp(-3.0, 3.0) as i8
}

const fn colour_class(level: i8) -> &'static str {
    match level {
        ..=-3 => "l3",
        -2 => "l2",
        -1 => "l1",
        0 => "w0",
        1 => "w1",
        2 => "w2",
        3.. => "w3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(won: u64, lost: u64, payout: f64) -> Cell {
        let trades = won + lost;
        let total = won as f64 * payout - lost as f64;
        Cell {
            label: "Mon 13:00".to_owned(),
            trades,
            won,
            lost,
            win_rate: Some(won as f64 / trades as f64),
            break_even: Some(1.0 / (1.0 + payout)),
            return_per_unit: Some(total / trades as f64),
            total_return: total,
            shrunk_return: None,
            is_small: trades < 30,
            pnl: total,
        }
    }

    #[test]
    fn colors_start_at_whole_standard_errors_from_break_even() {
        for (won, lost, payout, expected) in [
            // 100 trades at a payout of 100 %, standard error 0.1: the means are 0.08 (54 won), 0.1 (55) and 0.2 (60).
            (54, 46, 1.0, 0),
            (55, 45, 1.0, 1),
            (60, 40, 1.0, 2),
            (40, 60, 1.0, -2),
            (90, 10, 1.0, 3),
            (4, 0, 1.0, 0),
            // 25 trades at 80 %, standard error sqrt(0.8 / 25) = 0.179: the mean of 10 wins is (8 - 15) / 25 = -0.28.
            (10, 15, 0.8, -1),
            // 100 trades at 80 %, standard error 0.0894: the mean of 61 wins is (48.8 - 39) / 100 = 0.098.
            (61, 39, 0.8, 1),
        ] {
            assert_eq!(colour_level(&cell(won, lost, payout)), expected, "{won} {lost} {payout}");
        }
    }
}
