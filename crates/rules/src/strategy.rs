//! Strategy compiled from a rule.

use crate::columns::Columns;
use crate::condition::{ResolvedTests, TestList};
use crate::graph::{Graph, Id};
use crate::program::{Program, Slot};
use crate::{declare, direct};
use candlewick_sdk::{
    Candle, CandleAnswers, CoverageRule, Declaration, Direction, Expiry, Interval, MAX_BATCH_CANDLES, Reason,
    ReasonTemplate, Signal, Strategy,
};

/// Strategy compiled from a rule. It emits a signal on every candle where a condition is certain to be true.
#[derive(Clone, Debug)]
pub struct RuleStrategy {
    graph: Graph,
    program: Program,
    answers: RuleSet,
    longer: Vec<Interval>,
}

#[derive(Clone, Debug)]
pub(crate) struct RuleSet {
    pub(crate) decision: ResolvedTests,
    rules: Vec<Rule>,
    pub(crate) expiry: Option<Expiry>,
    pub(crate) warmup: usize,
    shown: Vec<(String, Slot)>,
}

#[derive(Clone, Debug)]
struct Rule {
    direction: Direction,
    condition: Id,
    reason: ReasonTemplate,
    bare: ReasonTemplate,
    numbers: [Slot; Reason::MAX_NUMBERS],
    count: usize,
}

/// Side of a rule: its direction, text, condition and compared numbers.
type RuleSide = (Direction, String, Id, Vec<Id>);

impl RuleStrategy {
    pub(crate) fn new(graph: Graph, sides: Vec<RuleSide>, expiry: Option<Expiry>) -> Self {
        let conditions: Vec<Id> = sides.iter().map(|(_, _, condition, _)| *condition).collect();
        let tests = TestList::compile(&graph, &conditions);
        let mut shown: Vec<Id> = Vec::new();
        for id in sides.iter().flat_map(|(_, _, _, compared)| compared) {
            if !shown.contains(id) {
                shown.push(*id);
            }
        }
        let wanted: Vec<Id> = tests.operands().chain(shown.iter().copied()).collect();
        let (program, places) = Program::build(&graph, &wanted);
        let place_of = |id: &Id| wanted.iter().position(|one| one == id).map_or(0, |at| places[at]);
        let names_of = |compared: &[Id]| compared.iter().map(|id| graph.node(*id).name.clone()).collect();
        let words = sides.iter().flat_map(|(_, text, _, compared)| {
            [(text.as_str(), names_of(compared)), (text.as_str(), Vec::new())]
        });
        let templates: Vec<ReasonTemplate> = ReasonTemplate::new_group::<String>(words);
        let (templates, _) = templates.as_chunks();
        let rule = |((direction, _, condition, compared), words): (RuleSide, &[ReasonTemplate; 2])| {
            let [reason, bare] = words.clone();
            let mut numbers = [0; Reason::MAX_NUMBERS];
            numbers.iter_mut().zip(&compared).for_each(|(number, id)| *number = place_of(id));
            Rule {
                direction,
                condition,
                reason,
                bare,
                numbers,
                count: compared.len().min(Reason::MAX_NUMBERS),
            }
        };
        let decision = tests.resolve(|id| place_of(&id));
        let rules: Vec<Rule> = sides.into_iter().zip(templates).map(rule).collect();
        let warm_after = conditions.iter().chain(&shown).map(|id| graph.node(*id).warmup_candles);
        let warmup = warm_after.max().unwrap_or_default();
        let shown = shown.iter().map(|id| (graph.node(*id).name.clone(), place_of(id))).collect();
        let longer = program.longer_intervals();
        let answers = RuleSet { decision, rules, expiry, warmup, shown };
        Self { graph, program, answers, longer }
    }

    pub fn declaration(&self, longer: CoverageRule) -> Declaration {
        let rules: Vec<(Direction, Id)> =
            self.answers.rules.iter().map(|rule| (rule.direction, rule.condition)).collect();
        declare::declare_rules(&self.graph, &rules, self.answers.expiry, longer)
    }

    /// Converts the strategy to its fastest form. Common indicators are inlined unless the rule uses longer candles.
    pub fn into_optimized(self) -> Box<dyn Strategy> {
        match self.program.into_inline() {
            Ok((interval, steps, values)) => direct::build_strategy(interval, steps, values, self.answers),
            Err(program) => Box::new(Self { program, ..self }),
        }
    }
}

impl RuleSet {
    /// Returns the signal of a candle. Inlined to build the signal in the caller's memory (see docs/performance.md).
    #[inline]
    pub(crate) fn signal_at(&self, values: &[f64]) -> Option<Signal> {
        let rule = self.first_true(values)?;
        Some(rule.signal(self.expiry, |place| values[place]))
    }

    pub(crate) fn answer_batch(
        &self,
        candles: &[Candle],
        columns: &Columns,
        reached: &mut [u64],
        answers: &mut CandleAnswers,
    ) {
        let all = u64::MAX >> (u64::BITS - candles.len().clamp(1, MAX_BATCH_CANDLES) as u32);
        let held = self.decision.first_true_batch(columns, all, reached);
        let mut left = held.iter().fold(0, |any, held| any | held);
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            left &= left - 1;
            let rule = self.rules.iter().zip(held).find(|(_, held)| (**held >> place) & 1 == 1);
            if let (Some((rule, _)), Some(candle)) = (rule, candles.get(place)) {
                let mut numbers = [0.0; Reason::MAX_NUMBERS];
                let (template, numbers) = rule.reason_parts(&mut numbers, |of| columns.value_at(of, place));
                let terms = (rule.direction, self.expiry);
                answers.push_from_template(candle.time(), terms, template, numbers);
            }
        }
    }

    /// Returns the first rule whose condition is true, if any.
    #[inline(never)]
    fn first_true(&self, values: &[f64]) -> Option<&Rule> {
        self.rules.get(self.decision.first_true(values))
    }

    pub(crate) fn displayed_values(&self, values: &[f64]) -> Vec<(&str, f64)> {
        let shown = self.shown.iter().map(|(name, place)| (name.as_str(), values[*place]));
        shown.filter(|(_, value)| value.is_finite()).collect()
    }
}

impl Rule {
    #[inline]
    fn signal(&self, expiry: Option<Expiry>, value: impl Fn(Slot) -> f64) -> Signal {
        let mut numbers = [0.0; Reason::MAX_NUMBERS];
        let (template, numbers) = self.reason_parts(&mut numbers, value);
        let reason = template.with_numbers(numbers);
        Signal { direction: self.direction, expiry, reason, is_virtual: false }
    }

    #[inline]
    fn reason_parts<'a>(
        &'a self,
        numbers: &'a mut [f64; Reason::MAX_NUMBERS],
        value: impl Fn(Slot) -> f64,
    ) -> (&'a ReasonTemplate, &'a [f64]) {
        let (numbers, _) = numbers.split_at_mut(self.count);
        let numbers_at = numbers.iter_mut().zip(self.numbers);
        numbers_at.for_each(|(number, place)| *number = value(place));
        if numbers.iter().all(|number| number.is_finite()) {
            (&self.reason, numbers)
        } else {
            (&self.bare, &[])
        }
    }
}

impl Strategy for RuleStrategy {
    fn warmup(&self) -> usize {
        self.answers.warmup
    }

    #[inline]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.program.run(candle);
        self.answers.signal_at(self.program.values())
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        self.program.run_longer(interval, candle);
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![self.answers.expiry]
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.answers.displayed_values(self.program.values())
    }
}
