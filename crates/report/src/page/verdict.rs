//! Page section with the verdict and its evidence.

use super::RunPage;
use crate::analysis::Metrics;
use crate::figure::{
    break_even_payout_text, format_money, format_number, format_percent, format_signed_money,
    format_signed_percent, or_dash,
};
use crate::markup::escape_html;
use crate::run::EdgeLine;
use candlewick_backtest::metric::WinRates;
use candlewick_records::threshold_text;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let (edge, heading) = (page.edge, &page.heading);
    let mut text = format!("<section id=\"verdict\" class=\"{}\">", heading.class);
    let _ = write!(text, "<p class=\"kicker\">Verdict</p><h2>{}</h2>", escape_html(&heading.title));
    for line in &heading.lines {
        let _ = write!(text, "<p class=\"words\">{}</p>", escape_html(line));
    }
    for finding in page.analysis.headlines() {
        let _ = write!(text, "<p><b>{}</b></p>", escape_html(finding));
    }
    for sentence in evidence_sentences(page) {
        let _ = write!(text, "<p>{}</p>", escape_html(&sentence));
    }
    if !edge.withheld.is_empty() && heading.class != "withheld" {
        text.push_str("<p>Reasons for withholding the verdict:</p><ul>");
        for reason in &edge.withheld {
            let _ = write!(text, "<li>{}</li>", escape_html(reason));
        }
        text.push_str("</ul>");
    }
    if let Some(rates) = &page.analysis.metrics.win_rate {
        text.push_str(&draw_scale(rates, edge.intervals.win_rate_sequence_95));
    }
    text.push_str(&tiles(page));
    if page.bots.rows.len() > 1 {
        let _ = write!(text, "<h3>Bots</h3>{}", page.bots.to_markup());
    }
    text.push_str("</section>");
    text
}

fn evidence_sentences(page: &RunPage<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    let EdgeLine { judged_trades, account_for, account_against, .. } = page.edge;
    if let Some(payout) = page.break_even_payout_percent {
        let words = break_even_payout_text(payout);
        sentences.push(format!("Break-even payout of these trades: {words}."));
    }
    if let Some(payout) = page.analysis.sensitivity.as_ref().and_then(|all| all.break_even_payout_percent) {
        let words = break_even_payout_text(payout);
        sentences.push(format!("Break-even payout found by repeating the run with other payouts: {words}."));
    }
    sentences.push(format!(
        "Evidence after {} trades: {} for an edge ({} needed), {} against an edge ({} needed). The verdict \
         is valid after every trade and for overlapping trades.",
        format_number(judged_trades),
        format_evidence(*account_for),
        threshold_text(page.edge.threshold_for),
        format_evidence(*account_against),
        threshold_text(Some(page.edge.threshold_against))
    ));
    sentences
}

fn draw_scale(rates: &WinRates, sequence: Option<[f64; 2]>) -> String {
    // If the lower bound exceeds the upper bound, the bounds are not an interval.
    let [low, high] = sequence.filter(|[low, high]| low <= high).unwrap_or(rates.wilson);
    let is_anytime = sequence.is_some_and(|[low, high]| low <= high);
    let ends = [Some(low), Some(high), rates.break_even];
    let ends = || ends.iter().flatten();
    let (from, to) = (ends().copied().fold(f64::MAX, f64::min), ends().copied().fold(0.0, f64::max));
    let room = ((to - from) * 0.15).max(0.005);
    let (from, to) = ((from - room).max(0.0), (to + room).min(1.0));
    let at = |rate: f64| (rate - from) / (to - from) * 100.0;
    let mut text = format!(
        "<figure class=\"ruler\"><svg viewBox=\"0 0 100 26\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"M0 25.5H100\" \
         class=\"base\"/><rect class=\"likely\" x=\"{:.2}\" y=\"8\" width=\"{:.2}\" height=\"10\"/><path class=\"rate\" \
         d=\"M{:.2} 3V23\"/>",
        at(low),
        at(high) - at(low),
        at(rates.rate)
    );
    let mut sentence = format!(
        "Win rate {}, between {} and {} with 95 % confidence, {}",
        format_percent(rates.rate),
        format_percent(low),
        format_percent(high),
        if is_anytime { "valid after every trade" } else { "for a fixed sample of independent trades" }
    );
    if is_anytime {
        let [low, high] = rates.wilson;
        let _ = write!(
            sentence,
            " (for a fixed sample of independent trades: {} to {})",
            format_percent(low),
            format_percent(high)
        );
    }
    if let Some(needed) = rates.break_even {
        let _ = write!(text, "<path class=\"needed\" d=\"M{:.2} 3V23\"/>", at(needed));
        let _ = write!(sentence, "; the dashed line is break-even, {}", format_percent(needed));
    }
    let _ = write!(text, "</svg><figcaption>{sentence}.</figcaption></figure>");
    text
}

fn tiles(page: &RunPage<'_>) -> String {
    let Metrics { win_rate, expectancy, drawdown, drawdown_by_percent, trades_per_day, .. } =
        &page.analysis.metrics;
    let scale = page.trades.scale;
    let tiles = [
        ("win rate", or_dash(win_rate.as_ref(), |rates| format_percent(rates.rate))),
        ("break-even", or_dash(win_rate.as_ref().and_then(|rates| rates.break_even), format_percent)),
        ("profit and loss", format_signed_money(page.pnl, scale)),
        (
            "expectancy, % of stake",
            or_dash(expectancy.as_ref(), |one| format_signed_percent(one.return_per_unit)),
        ),
        ("max drawdown", or_dash(drawdown.as_ref(), |found| format_money(found.amount, scale))),
        (
            "max drawdown, % of peak",
            or_dash(drawdown_by_percent.as_ref(), |found| format!("{:.2} %", found.percent)),
        ),
        ("trades per day", or_dash(*trades_per_day, |count| format!("{count:.1}"))),
    ];
    let mut text = String::from("<dl class=\"tiles\">");
    for (name, value) in tiles {
        let _ = write!(text, "<div><dt>{name}</dt><dd data-tile=\"{name}\">{value}</dd></div>");
    }
    text.push_str("</dl>");
    text
}

fn format_evidence(number: f64) -> String {
    match number {
        large if large >= 1e6 => format!("{large:.1e}"),
        middle if middle >= 100.0 || middle == middle.round() => format!("{middle:.0}"),
        usual if usual >= 0.01 => format!("{usual:.2}"),
        small => format!("{small:.1e}"),
    }
}
