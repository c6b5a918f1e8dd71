//! Conversion of rules to declarations, which compare series with levels. Search trials can share these series.

use crate::graph::{BinaryOp, Graph, Id, Op};
use crate::program::{Program, Slot};
use candlewick_sdk::{
    Candle, Comparison, CoverageRule, Declaration, Direction, Expiry, Interval, Resampler, SeriesIndex,
};
use std::collections::HashMap;

/// Maximum number of alternatives per condition. A condition with more alternatives becomes a single series.
const MAX_ALTERNATIVES: usize = 8;
const TRUTH_THRESHOLD: f64 = 0.5;

pub(crate) fn declare_rules(
    graph: &Graph,
    rules: &[(Direction, Id)],
    expiry: Option<Expiry>,
    longer: CoverageRule,
) -> Declaration {
    let mut builder =
        DeclarationBuilder { graph, longer, declaration: Declaration::new(), places: HashMap::new() };
    let mut entries = Vec::new();
    for (direction, condition) in rules {
        for way in alternatives(graph, *condition, true) {
            let when: Vec<Comparison> = way.into_iter().map(|test| builder.add_comparison(test)).collect();
            entries.push((*direction, when));
        }
    }
    let declare = |declaration: Declaration, (direction, when): (Direction, Vec<Comparison>)| {
        declaration.signal_when(direction, expiry, when)
    };
    entries.into_iter().fold(builder.declaration, declare)
}

#[derive(Clone, Copy)]
struct Test {
    of: Id,
    holds: bool,
}

/// Returns alternative lists of tests. The condition equals `holds` if all tests of at least one list pass.
fn alternatives(graph: &Graph, of: Id, holds: bool) -> Vec<Vec<Test>> {
    let found = match &graph.node(of).op {
        Op::Not(inner) => alternatives(graph, *inner, !holds),
        Op::Binary(binary @ (BinaryOp::And | BinaryOp::Or), one, other) => {
            let (one, other) = (alternatives(graph, *one, holds), alternatives(graph, *other, holds));
            if (*binary == BinaryOp::Or) == holds {
                one.into_iter().chain(other).collect()
            } else if one.len() * other.len() > MAX_ALTERNATIVES {
                Vec::new()
            } else {
                let joined = |first: &Vec<Test>| {
                    let first = first.clone();
                    other
                        .iter()
                        .map(move |second| first.iter().chain(second).copied().collect())
                        .collect::<Vec<_>>()
                };
                one.iter().flat_map(joined).collect()
            }
        }
        _ => Vec::new(),
    };
    if found.is_empty() || found.len() > MAX_ALTERNATIVES { vec![vec![Test { of, holds }]] } else { found }
}

struct DeclarationBuilder<'g> {
    graph: &'g Graph,
    longer: CoverageRule,
    declaration: Declaration,
    places: HashMap<Id, SeriesIndex>,
}

impl DeclarationBuilder<'_> {
    fn add_comparison(&mut self, test: Test) -> Comparison {
        let Test { of, holds } = test;
        // For a constant `b`, `a <= b` means that `a` is below the next larger float.
        if let Op::Binary(binary @ (BinaryOp::Less | BinaryOp::LessOrEqual), one, other) =
            self.graph.node(of).op
        {
            let is_strict = (binary == BinaryOp::Less) == holds;
            for (series, level, is_below) in [(one, other, holds), (other, one, !holds)] {
                let Some(level) = self.graph.constant(level) else { continue };
                let series = self.add_series(series);
                return match (is_below, is_strict) {
                    (true, true) => series.below(level),
                    (true, false) => series.below(level.next_up()),
                    (false, true) => series.above(level),
                    (false, false) => series.above(level.next_down()),
                };
            }
        }
        let series = self.add_series(of);
        if holds { series.above(TRUTH_THRESHOLD) } else { series.below(TRUTH_THRESHOLD) }
    }

    fn add_series(&mut self, of: Id) -> SeriesIndex {
        if let Some(place) = self.places.get(&of) {
            return *place;
        }
        let mut program = SeriesProgram::new(self.graph, of, self.longer);
        let name = self.graph.node(of).name.clone();
        let place = self.declaration.add_series(name, &[], move |candle| program.value_at(candle));
        self.places.insert(of, place);
        place
    }
}

/// Program that computes a series. It builds longer candles from the bot's own candles.
struct SeriesProgram {
    program: Program,
    place: Slot,
    longer: Vec<Resampler>,
}

impl SeriesProgram {
    fn new(graph: &Graph, of: Id, rule: CoverageRule) -> Self {
        let (program, places) = Program::build(graph, &[of]);
        let own = graph.intervals()[0];
        let resampler = |to: Interval| Some(Resampler::new(own, to).ok()?.with_coverage_rule(rule));
        let longer = program.longer_intervals().into_iter().filter_map(resampler).collect();
        Self { program, place: places[0], longer }
    }

    #[inline]
    fn value_at(&mut self, candle: &Candle) -> Option<f64> {
        for resampler in &mut self.longer {
            if let Some(longer) = resampler.finish_before(candle.time()) {
                self.program.run_longer(resampler.interval(), &longer);
            }
        }
        self.program.run(candle);
        let value = self.program.value(self.place);
        for resampler in &mut self.longer {
            if let Some(longer) = resampler.push(candle) {
                self.program.run_longer(resampler.interval(), &longer);
            }
        }
        (!value.is_nan()).then_some(value)
    }
}
