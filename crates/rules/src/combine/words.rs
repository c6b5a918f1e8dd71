//! One-line description of a combination.

use super::entry::Plan;
use super::member::Member;
use serde_json::Value;

/// Returns a description with the bot's own values, such as `trades where 3 of 3 votes agree: dip and band`.
pub(super) fn words(plan: &Plan, params: &Value) -> String {
    let parts: Vec<String> = plan.parts.iter().map(|part| part_words(part, plan.is_vote)).collect();
    let decides = if plan.is_vote { vote_words(plan, &parts, params) } else { first_words(&parts) };
    let filters: Vec<String> = plan.filters.iter().map(|filter| part_words(filter, false)).collect();
    let filters = match filters.as_slice() {
        [] => None,
        [one] => Some(format!("only while the filter {one} lets it pass")),
        several => Some(format!("only while the filters {} let it pass", listed(several))),
    };
    let is_turned = params.get("invert").and_then(Value::as_bool).unwrap_or_default();
    let turned = is_turned.then(|| "turned round: every trade goes in the other direction".to_owned());
    // A trend lets buys pass above its mean: turned round, the bot sells there.
    let judged = (is_turned && filters.is_some())
        .then(|| "filters judge the direction before it is turned".to_owned());
    [decides].into_iter().chain(filters).chain(turned).chain(judged).collect::<Vec<_>>().join("; ")
}

fn first_words(parts: &[String]) -> String {
    match parts {
        [one] => format!("trades the signals of {one}"),
        several => format!("trades the signal of the first of {} that has one", listed(several)),
    }
}

fn vote_words(plan: &Plan, parts: &[String], params: &Value) -> String {
    let all = plan.parts.iter().map(|part| part.weight).sum::<f64>();
    // As people add them: 0.7 and 0.1 are 0.8.
    let all = (all * 1e9).round() / 1e9;
    let quorum = params.get("quorum").and_then(Value::as_f64).unwrap_or(all);
    let within = params.get("within").and_then(Value::as_u64).filter(|within| *within > 1);
    let whose = if plan.parts.iter().any(|part| part.within.is_some()) { "the others" } else { "each" };
    let within =
        within.map_or_else(String::new, |within| format!(", {whose} for {within} candles from its signal"));
    format!("trades where {quorum} of {all} votes agree: {}{within}", listed(parts))
}

fn part_words(part: &Member, is_vote: bool) -> String {
    let has_weight = is_vote && (part.weight - 1.0).abs() > f64::EPSILON;
    let weight = has_weight.then(|| format!("weight {}", part.weight));
    // A filter looks at the present candle alone where nothing else is said.
    let within = part.within.filter(|within| is_vote || *within > 1).map(|within| match within {
        1 => "at its candle alone".to_owned(),
        _ => format!("for {within} candles from its signal"),
    });
    let turned = part.invert.then(|| "turned round".to_owned());
    let special: Vec<String> = weight.into_iter().chain(within).chain(turned).collect();
    if special.is_empty() { part.name.clone() } else { format!("{} ({})", part.name, special.join(", ")) }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
