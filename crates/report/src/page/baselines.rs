//! Page section: returns of the same trades in other directions.

use super::RunPage;
use super::value_bar;
use crate::figure::signed_percent;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let head = "<section id=\"baselines\"><h2>Against other directions</h2>";
    let Some(found) = &page.analysis.baselines else {
        return format!(
            "{head}<p class=\"none\">Nothing to compare: no trade was decided, or the prices were moved against each \
             trade's own direction.</p></section>"
        );
    };
    let means = [
        ("this run", found.own),
        ("randomised directions", found.shifted),
        ("always BUY", found.always_buy),
        ("always SELL", found.always_sell),
    ];
    let largest = means.iter().map(|(_, mean)| mean.abs()).fold(1e-9, f64::max);
    let mut rows = String::new();
    for (name, mean) in means {
        let bar = value_bar::cell(mean, largest);
        let value = signed_percent(mean);
        let _ = write!(rows, "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td>{bar}</tr>");
    }
    let luck = match found.p_value {
        Some(p) => format!(
            "Of {} runs with the directions shifted in a circle within each symbol, a share of {p:.3} did as well as this \
             one or better.",
            found.runs
        ),
        None => "Nearly all trades have one direction, so shifting them shows nothing.".to_owned(),
    };
    format!(
        "{head}<p>The same moments, traded in other directions. {luck}</p><table class=\"compared\"><thead><tr><th \
         scope=\"col\">directions</th><th scope=\"col\" class=\"number\">expectancy, % of stake</th><th scope=\"col\" \
         class=\"bar\" aria-hidden=\"true\"></th></tr></thead><tbody>{rows}</tbody></table></section>"
    )
}
