//! Description of a combination as text, and the states of its conditions at each candle.

use super::entry::CombinationPlan;
use super::strategy::{Agreement, Choice, Combination, Part, vote_weights};
use super::written::PlannedPart;
use candlewick_sdk::{Condition, ConditionRole, Direction};
use serde_json::Value;
use std::borrow::Cow;

pub(super) struct ConditionTexts {
    choice: String,
    parts: Vec<String>,
}

const FILTER_CONDITION_TEXT: &str = "lets the signal pass";

impl ConditionTexts {
    /// Builds the texts of the parts that decide the direction. The last `filter_count` of the `parts` are filters.
    pub(super) fn new(parts: &[Part], filter_count: usize, choice: &Choice) -> Self {
        let choice_text = match choice {
            Choice::FirstOf => "a part signals".to_owned(),
            Choice::Vote { weights, quorum } => {
                format!(
                    "{} of {} votes agree on a direction",
                    round_weight(*quorum),
                    round_weight(weights.iter().sum())
                )
            }
        };
        let text = |part: &Part| match choice {
            Choice::Vote { .. } if part.within > 1 => {
                format!("signaled within the last {} candles", part.within)
            }
            Choice::FirstOf | Choice::Vote { .. } => "signals".to_owned(),
        };
        let deciding = parts.len() - filter_count;
        Self { choice: choice_text, parts: parts[..deciding].iter().map(text).collect() }
    }
}

pub(super) fn conditions(combination: &Combination) -> Vec<Condition<'_>> {
    let Combination { parts, choice, invert, condition_texts: texts, .. } = combination;
    let deciding = &parts[..combination.deciding_part_count()];
    let direction = combination.chosen_part().and_then(|chosen| deciding[chosen].current_signal());
    let mut shown = vec![Condition {
        part_path: Cow::Borrowed(""),
        role: match choice {
            Choice::FirstOf => ConditionRole::FirstOf,
            Choice::Vote { .. } => ConditionRole::Vote,
        },
        depth: 0,
        text: &texts.choice,
        is_met: Some(direction.is_some()),
        numbers: &[],
        note: choice_note(deciding, choice, direction, *invert),
    }];
    for (part, text) in deciding.iter().zip(&texts.parts) {
        let counts = match choice {
            Choice::FirstOf => part.current_signal(),
            Choice::Vote { .. } => part.view(),
        };
        let note = if counts.is_some() { part.describe_view() } else { String::new() };
        shown.push(part_condition(part, (ConditionRole::Part, text), Some(counts.is_some()), note));
        shown.extend(inner_conditions(part));
    }
    for (filter, need) in combination.filters() {
        let passes = direction.map(|direction| need.allows(filter.view(), direction));
        let note = match direction {
            Some(_) if need == Agreement::Any => String::new(),
            Some(_) => filter.describe_view(),
            None => filter_note(filter, need),
        };
        shown.push(part_condition(filter, (ConditionRole::Filter, FILTER_CONDITION_TEXT), passes, note));
        shown.extend(inner_conditions(filter).map(|one| nest_in_filter(one, (filter, need))));
    }
    shown
}

fn part_condition<'a>(
    part: &'a Part,
    (side, text): (ConditionRole, &'a str),
    holds: Option<bool>,
    note: String,
) -> Condition<'a> {
    Condition {
        part_path: Cow::Borrowed(&part.name),
        role: side,
        depth: 0,
        text,
        is_met: holds,
        numbers: &[],
        note,
    }
}

fn inner_conditions(part: &Part) -> impl Iterator<Item = Condition<'_>> {
    part.strategy.conditions().into_iter().map(|one| {
        let path = match &*one.part_path {
            "" => Cow::Borrowed(part.name.as_str()),
            inner => Cow::Owned(format!("{}.{inner}", part.name)),
        };
        Condition { part_path: path, ..one }
    })
}

/// Nests a condition below its filter if the filter's signal may have either direction.
fn nest_in_filter<'a>(one: Condition<'a>, (filter, need): (&Part, Agreement)) -> Condition<'a> {
    if need != Agreement::Any || one.part_path != filter.name {
        return one;
    }
    Condition { role: ConditionRole::Filter, depth: one.depth + 1, ..one }
}

fn choice_note(parts: &[Part], choice: &Choice, direction: Option<Direction>, invert: bool) -> String {
    let said = match (choice, direction) {
        (Choice::FirstOf, None) => return String::new(),
        (Choice::FirstOf, Some(direction)) => direction.to_string(),
        (Choice::Vote { weights, .. }, _) => {
            let (buy, sell) = vote_weights(parts, weights);
            if (buy, sell) == (0.0, 0.0) {
                return String::new();
            }
            let is_old = parts.iter().all(|part| part.current_signal().is_none());
            let old = if is_old { "; no part has a signal on this candle" } else { "" };
            format!("BUY {}, SELL {}{old}", round_weight(buy), round_weight(sell))
        }
    };
    match direction.filter(|_| invert) {
        Some(direction) => format!("{said}, inverted to {}", direction.opposite()),
        None => said,
    }
}

fn filter_note(filter: &Part, need: Agreement) -> String {
    let passing = |direction: Direction| need.allows(filter.view(), direction);
    match (passing(Direction::Buy), passing(Direction::Sell)) {
        (true, true) => "any signal would pass",
        (true, false) => "a BUY would pass",
        (false, true) => "a SELL would pass",
        (false, false) => "any signal would be blocked",
    }
    .to_owned()
}

fn round_weight(weight: f64) -> f64 {
    (weight * 1e9).round() / 1e9
}

/// Describes a combination in one line, such as `trades if 3 of 3 votes agree: dip and band`.
pub(super) fn describe_plan(plan: &CombinationPlan, params: &Value) -> String {
    let parts: Vec<String> = plan.parts.iter().map(|part| describe_part(part, plan.is_vote)).collect();
    let decides = if plan.is_vote { describe_vote(plan, &parts, params) } else { describe_first_of(&parts) };
    let filters: Vec<String> = plan.filters.iter().map(|filter| describe_part(filter, false)).collect();
    let filters = match filters.as_slice() {
        [] => None,
        [one] => Some(format!("the signal must pass the filter {one}")),
        several => Some(format!("the signal must pass the filters {}", join_names(several))),
    };
    let is_turned = params.get("invert").and_then(Value::as_bool).unwrap_or_default();
    let turned = is_turned.then(|| "inverted: every trade goes in the opposite direction".to_owned());
    // Filters judge the direction before inversion: a trend filter passes buys above its average, which become sells.
    let judged =
        (is_turned && filters.is_some()).then(|| "filters apply before the direction is inverted".to_owned());
    [decides].into_iter().chain(filters).chain(turned).chain(judged).collect::<Vec<_>>().join("; ")
}

fn describe_first_of(parts: &[String]) -> String {
    match parts {
        [one] => format!("trades the signals of {one}"),
        several => format!("checks {} in this order and trades the first signal", join_names(several)),
    }
}

fn describe_vote(plan: &CombinationPlan, parts: &[String], params: &Value) -> String {
    let all = round_weight(plan.parts.iter().map(|part| part.weight).sum());
    let quorum = params.get("quorum").and_then(Value::as_f64).unwrap_or(all);
    let within = params.get("within").and_then(Value::as_u64).filter(|within| *within > 1);
    let whose = if plan.parts.iter().any(|part| part.within.is_some()) { "other signals" } else { "signals" };
    let within = within.map_or_else(String::new, |n| format!("; {whose} stay valid for {n} candles"));
    format!("trades if {quorum} of {all} votes agree: {}{within}", join_names(parts))
}

fn describe_part(part: &PlannedPart, is_vote: bool) -> String {
    let has_weight = is_vote && (part.weight - 1.0).abs() > f64::EPSILON;
    let weight = has_weight.then(|| format!("weight {}", part.weight));
    // By default, a filter considers only the current candle.
    let within = part.within.filter(|within| is_vote || *within > 1).map(|within| match within {
        1 => "signals stay valid for 1 candle".to_owned(),
        _ => format!("signals stay valid for {within} candles"),
    });
    let turned = part.invert.then(|| "inverted".to_owned());
    let special: Vec<String> = weight.into_iter().chain(within).chain(turned).collect();
    if special.is_empty() { part.name.clone() } else { format!("{} ({})", part.name, special.join(", ")) }
}

fn join_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
