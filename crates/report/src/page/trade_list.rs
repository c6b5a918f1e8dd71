//! Page section: trade list with sorting and filters. The script renders only the visible rows.

use super::RunPage;
use crate::markup::escaped;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let head = "<section id=\"list\"><h2>Trades</h2>";
    if page.rows.is_empty() {
        return format!("{head}<p class=\"none\">No trade was made.</p></section>");
    }
    let mut text = format!(
        "{head}<p>Press a column's name to sort by it, a trade's time to see it among the prices.</p>\
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
            let _ = write!(text, "<option value=\"{number}\">{}</option>", escaped(&bot.name));
        }
        text.push_str("</select>");
    }
    text.push_str(
        "<label><input type=\"checkbox\" id=\"filter-sight\"> only the time shown above</label></div>\
         <p class=\"status\" id=\"found\" role=\"status\"></p>\
         <div class=\"list\" id=\"rows\" tabindex=\"0\" role=\"region\" aria-label=\"Trades\"></div>\
         <p class=\"status\" id=\"chosen\" role=\"status\"></p></section>",
    );
    text
}
