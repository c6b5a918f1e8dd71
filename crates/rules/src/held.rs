//! How often the conditions of a rule held, each part alone: what a person needs who has a rule that never fires.

use crate::RuleError;
use crate::combine::{self, rules_inside};
use crate::compile::{At, Compiler};
use crate::entry::{NAME, Source};
use crate::graph::Id;
use crate::program::{Place, Program};
use crate::rule::{Rule, Side, one_line};
use crate::syntax::{Form, Operator, PartId, Tree};
use candlewick_sdk::{BotContext, BuildError, Candle, Interval, LongerCandles, Registry, Signal, Strategy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a condition of a rule, or a part of one, held. Behind each stand its parts, one deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCondition {
    /// The part or filter of a combination whose rule it is, behind those that it is inside of: `dip`, `outer.dip`; empty where the bot's
    /// strategy is the rule.
    pub part: String,
    /// Of which condition.
    pub side: Side,
    /// 0 for the whole condition, 1 for what `and` or `or` joins in it, 2 for what is joined in one of those.
    pub depth: usize,
    /// What it says, in the words of the rule.
    pub text: String,
    /// How many candles were looked at: those from the end of the warm-up on.
    pub candles: u64,
    /// On how many of them it held.
    pub held: u64,
    /// On how many it was not known, because a number was missing.
    pub unknown: u64,
}

/// Counts on which candles each condition of a bot's rule held, or of the rules among the parts and filters of its combination. Nothing where
/// there are none.
///
/// # Errors
/// As [`StrategyEntry::build`](candlewick_sdk::StrategyEntry::build).
pub fn held_conditions(
    registry: &Registry,
    (strategy, params): (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<HeldCondition>, BuildError> {
    let rules = match strategy {
        NAME => vec![(String::new(), params.clone())],
        combine::NAME => rules_inside(params, &Arc::new(registry.clone()), 0)?,
        _ => Vec::new(),
    };
    let Some(entry) = registry.find(strategy).filter(|_| !rules.is_empty()) else { return Ok(Vec::new()) };
    // With every check that the bot's own strategy has; a part is looked at where the whole may be traded.
    let warmup = entry.build(params, bot)?.warmup();
    let mut conditions = Vec::new();
    for (part, params) in rules {
        let held = held_of_rule(&params, (bot.interval, warmup), candles)?;
        conditions.extend(held.into_iter().map(|one| HeldCondition { part: part.clone(), ..one }));
    }
    Ok(conditions)
}

/// The conditions of one rule, on candles of this length, after so many.
fn held_of_rule(
    params: &Value,
    (interval, warmup): (Interval, usize),
    candles: &[Candle],
) -> Result<Vec<HeldCondition>, BuildError> {
    let source = Source::of(params)?;
    let rule = source.rule()?;
    let mut counting = Counting::of(&rule, &source.numbers(params), (interval, warmup))
        .map_err(|(side, error)| source.refuse_in(side, &error))?;
    let longer = LongerCandles::new(interval, &counting.longer);
    let mut longer = longer.map_err(|error| BuildError::parameters(NAME, error.to_string()))?;
    for candle in candles {
        let _: Option<Signal> = counting.on_candle(candle);
        longer.show(candle, &mut counting);
    }
    Ok(counting.conditions)
}

/// Shown the candles as the strategy is, it counts.
struct Counting {
    program: Program,
    longer: Vec<Interval>,
    conditions: Vec<HeldCondition>,
    /// Where the program keeps each of them.
    places: Vec<Place>,
    warmup: usize,
    shown: usize,
}

impl Counting {
    fn of(
        rule: &Rule,
        numbers: &BTreeMap<String, f64>,
        (own, warmup): (Interval, usize),
    ) -> Result<Self, (Side, RuleError)> {
        let mut compiler = Compiler::new(numbers, own);
        let (mut conditions, mut ids): (Vec<HeldCondition>, Vec<Id>) = (Vec::new(), Vec::new());
        for (side, condition) in rule.conditions() {
            let tree = &condition.tree;
            for (depth, part) in parts_of(tree) {
                let id = compiler.truth(At { tree, candles: 0 }, part, "a rule");
                ids.push(id.map_err(|error| (side, error))?);
                let text = condition.text.get(tree.part(part).place.clone()).unwrap_or_default();
                let (part, text) = (String::new(), one_line(text));
                conditions.push(HeldCondition { part, side, depth, text, candles: 0, held: 0, unknown: 0 });
            }
        }
        let (program, places) = Program::of(&compiler.graph, &ids);
        let longer = program.longer_intervals();
        Ok(Self { program, longer, conditions, places, warmup, shown: 0 })
    }
}

impl Strategy for Counting {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.program.run(candle);
        self.shown += 1;
        if self.shown < self.warmup {
            return None;
        }
        for (condition, place) in self.conditions.iter_mut().zip(&self.places) {
            let value = self.program.value(*place);
            condition.candles += 1;
            condition.held += u64::from(value == 1.0);
            condition.unknown += u64::from(value.is_nan());
        }
        None
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        self.program.run_longer(interval, candle);
    }
}

/// The whole condition and what `and` and `or` join in it, each before its own parts, with how deep it stands.
fn parts_of(tree: &Tree) -> Vec<(usize, PartId)> {
    let mut parts = Vec::new();
    let mut left = vec![(0, tree.root())];
    while let Some((depth, id)) = left.pop() {
        parts.push((depth, id));
        let mut joined = Vec::new();
        if let Some(operator) = joins(tree, id) {
            spread(tree, id, operator, &mut joined);
        }
        left.extend(joined.into_iter().rev().map(|part| (depth + 1, part)));
    }
    parts
}

/// All that one operator joins: of `a and b and c` three, though the tree has two and two.
fn spread(tree: &Tree, id: PartId, operator: Operator, joined: &mut Vec<PartId>) {
    let Form::Binary { left, right, .. } = &tree.part(id).form else { return };
    for part in [*left, *right] {
        if joins(tree, part) == Some(operator) {
            spread(tree, part, operator, joined);
        } else {
            joined.push(part);
        }
    }
}

/// `and` or `or`, where that joins this part.
fn joins(tree: &Tree, id: PartId) -> Option<Operator> {
    match tree.part(id).form {
        Form::Binary { operator: operator @ (Operator::And | Operator::Or), .. } => Some(operator),
        _ => None,
    }
}
