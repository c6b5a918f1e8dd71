//! Strategy that also reports the parts of a rule's conditions, and the numbers that they read, at each candle.

use crate::compile::{Compiler, Scope};
use crate::graph::{Id, Op};
use crate::program::{Program, Slot};
use crate::rule::{Rule, Side, collapse_whitespace};
use crate::syntax::{Form, Operator, PartId, Tree};
use crate::{RuleError, RuleStrategy};
use candlewick_sdk::{Candle, Condition, ConditionRole, Expiry, Interval, Signal, Strategy};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) struct ExplainedRule {
    strategy: Box<dyn Strategy>,
    program: Program,
    conditions: Vec<Part>,
    longer: Vec<Interval>,
}

struct Part {
    side: ConditionRole,
    depth: usize,
    text: String,
    place: Slot,
    holds: Option<bool>,
    numbers: Vec<(String, f64)>,
    places: Vec<Slot>,
}

struct CompiledPart {
    part: Part,
    id: Id,
    numbers: Vec<Id>,
}

impl Part {
    fn to_condition(&self) -> Condition<'_> {
        let Self { side, depth, text, holds, numbers, .. } = self;
        let (part, note) = (Cow::Borrowed(""), String::new());
        Condition { part_path: part, role: *side, depth: *depth, text, is_met: *holds, numbers, note }
    }
}

impl ExplainedRule {
    pub(crate) fn build(
        rule: &Rule,
        numbers: &BTreeMap<String, f64>,
        own: Interval,
        expiry: Option<Expiry>,
    ) -> Result<Self, (Side, RuleError)> {
        let strategy: RuleStrategy = rule.build(numbers, own, expiry)?;
        let mut compiler = Compiler::new(numbers, own).with_explanations();
        let mut compiled = Vec::new();
        for (side, condition) in rule.conditions() {
            for (depth, part) in parts_with_depth(&condition.tree) {
                let found = explain(&mut compiler, (side, &condition.text, &condition.tree), (depth, part));
                compiled.push(found.map_err(|error| (side, error))?);
            }
        }
        let ids = compiled.iter().flat_map(|one| [one.id].into_iter().chain(one.numbers.iter().copied()));
        let ids: Vec<Id> = ids.collect();
        let (program, places) = Program::build(&compiler.graph, &ids);
        let mut places = places.into_iter();
        let mut placed = |found: CompiledPart| {
            let place = places.next().unwrap_or_default();
            Part { place, places: places.by_ref().take(found.numbers.len()).collect(), ..found.part }
        };
        let conditions = compiled.into_iter().map(&mut placed).collect();
        let mut longer = program.longer_intervals();
        longer.extend(strategy.longer_intervals());
        longer.sort_unstable();
        longer.dedup();
        Ok(Self { strategy: strategy.into_optimized(), program, conditions, longer })
    }
}

fn explain(
    compiler: &mut Compiler<'_>,
    (side, text, tree): (Side, &str, &Tree),
    (depth, part): (usize, PartId),
) -> Result<CompiledPart, RuleError> {
    compiler.numbers_read.clear();
    let id = compiler.compile_condition(Scope { tree, interval_index: 0 }, part, "a rule")?;
    let is_joined = joining_operator(tree, part).is_some();
    let numbers_read = std::mem::take(&mut compiler.numbers_read);
    let numbers: Vec<Id> = if is_joined { Vec::new() } else { numbers_read };
    let numbers: Vec<Id> = numbers.into_iter().map(|number| last_closed_value(compiler, number)).collect();
    let named = numbers.iter().map(|number| (compiler.graph.node(*number).name.clone(), f64::NAN)).collect();
    let text = collapse_whitespace(text.get(tree.part(part).span.clone()).unwrap_or_default());
    let side = if side == Side::Buy { ConditionRole::Buy } else { ConditionRole::Sell };
    let part = Part { side, depth, text, place: 0, holds: None, numbers: named, places: Vec::new() };
    Ok(CompiledPart { part, id, numbers })
}

/// Converts a value to the bot's own interval. A value of a longer interval is taken from its last closed candle.
fn last_closed_value(compiler: &mut Compiler<'_>, number: Id) -> Id {
    let node = compiler.graph.node(number);
    let (candles, warm) = (node.interval_index, node.warmup_candles);
    if candles == 0 {
        return number;
    }
    let name = format!("{}@{}", compiler.bracketed_name(number), compiler.graph.intervals()[candles]);
    compiler.graph.add(Op::Longer(number), name, warm, 0)
}

impl Strategy for ExplainedRule {
    fn warmup(&self) -> usize {
        self.strategy.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.program.run(candle);
        for part in &mut self.conditions {
            let value = self.program.value(part.place);
            part.holds = (!value.is_nan()).then_some(value == 1.0);
            for ((_, number), place) in part.numbers.iter_mut().zip(&part.places) {
                *number = self.program.value(*place);
            }
        }
        self.strategy.on_candle(candle)
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        self.program.run_longer(interval, candle);
        if self.strategy.longer_intervals().contains(&interval) {
            self.strategy.on_longer_candle(interval, candle);
        }
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        self.strategy.expiries()
    }

    fn wants_settlements(&self) -> bool {
        self.strategy.wants_settlements()
    }

    fn conditions(&self) -> Vec<Condition<'_>> {
        self.conditions.iter().map(Part::to_condition).collect()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.strategy.indicators()
    }
}

/// Returns the whole condition and all operands of `and` and `or` in it, with their nesting depths, in pre-order.
fn parts_with_depth(tree: &Tree) -> Vec<(usize, PartId)> {
    let mut parts = Vec::new();
    let mut left = vec![(0, tree.root())];
    while let Some((depth, id)) = left.pop() {
        parts.push((depth, id));
        let mut joined = Vec::new();
        if let Some(operator) = joining_operator(tree, id) {
            collect_operands(tree, id, operator, &mut joined);
        }
        left.extend(joined.into_iter().rev().map(|part| (depth + 1, part)));
    }
    parts
}

/// Collects the operands of a chain of one operator. For example, the chain `a and b and c` has three operands.
fn collect_operands(tree: &Tree, id: PartId, operator: Operator, joined: &mut Vec<PartId>) {
    let Form::Binary { left, right, .. } = &tree.part(id).form else { return };
    for part in [*left, *right] {
        if joining_operator(tree, part) == Some(operator) {
            collect_operands(tree, part, operator, joined);
        } else {
            joined.push(part);
        }
    }
}

fn joining_operator(tree: &Tree, id: PartId) -> Option<Operator> {
    match tree.part(id).form {
        Form::Binary { operator: operator @ (Operator::And | Operator::Or), .. } => Some(operator),
        _ => None,
    }
}
