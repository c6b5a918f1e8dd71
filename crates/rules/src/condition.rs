//! Conditions compiled to a list of tests with jumps. Evaluation stops when the result is certain.

use crate::columns::Columns;
use crate::graph::{BinaryOp, Graph, Id, Op};
use crate::program::Slot;

#[derive(Clone, Debug)]
pub(crate) struct ResolvedTests {
    tests: Box<[Test]>,
    starts: Box<[usize]>,
}

/// Test with two jump targets. Target `tests.len() + n` means that condition `n` is true, or none if `n` is too large.
#[derive(Clone, Copy, Debug)]
struct Test {
    kind: TestKind,
    one: Slot,
    other: Slot,
    met: usize,
    unmet: usize,
}

/// Kind of a test. Every test fails if a number is missing or a condition is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestKind {
    Less,
    LessOrEqual,
    Equal,
    Unequal,
    Holds,
    HoldsNot,
    /// The current comparison result is 1 (above), and the previous comparison result is smaller.
    CrossesAbove,
    CrossesBelow,
}

/// Symbolic jump target, resolved to an index after all tests are added.
type Label = usize;

pub(crate) struct TestList {
    /// Unresolved tests: operands are graph ids, and jump targets are labels.
    tests: Vec<Test>,
    labels: Vec<usize>,
    starts: Vec<usize>,
}

impl TestList {
    pub(crate) fn compile(graph: &Graph, conditions: &[Id]) -> Self {
        let count = conditions.len();
        // Each condition has a label, and the last label means that no condition is true.
        let mut tests = Self { tests: Vec::new(), labels: vec![0; count + 1], starts: Vec::new() };
        for (holds, condition) in conditions.iter().enumerate() {
            let next = if holds + 1 < count { tests.add_label() } else { count };
            tests.starts.push(tests.tests.len());
            tests.add(graph, *condition, true, (holds, next));
            if holds + 1 < count {
                tests.labels[next] = tests.tests.len();
            }
        }
        for exit in 0..=count {
            tests.labels[exit] = tests.tests.len() + exit;
        }
        tests
    }

    pub(crate) fn operands(&self) -> impl Iterator<Item = Id> {
        self.tests.iter().flat_map(|test| [test.one, test.other])
    }

    pub(crate) fn resolve(self, place_of: impl Fn(Id) -> Slot) -> ResolvedTests {
        let Self { tests, labels, starts } = self;
        let placed = |test: Test| Test {
            one: place_of(test.one),
            // The previous comparison result is in the slot after the current one.
            other: place_of(test.other) + usize::from(test.kind.is_crossing()),
            met: labels[test.met],
            unmet: labels[test.unmet],
            ..test
        };
        ResolvedTests { tests: tests.into_iter().map(placed).collect(), starts: starts.into() }
    }

    fn add_label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() - 1
    }

    /// Adds tests that pass only if the condition certainly equals `holds`. Negations use De Morgan's laws.
    fn add(&mut self, graph: &Graph, of: Id, holds: bool, (met, unmet): (Label, Label)) {
        let (kind, one, other) = match graph.node(of).op {
            Op::Not(inner) => return self.add(graph, inner, !holds, (met, unmet)),
            Op::Binary(binary @ (BinaryOp::And | BinaryOp::Or), one, other) => {
                let second = self.add_label();
                let first = if (binary == BinaryOp::Or) == holds { (met, second) } else { (second, unmet) };
                self.add(graph, one, holds, first);
                self.labels[second] = self.tests.len();
                return self.add(graph, other, holds, (met, unmet));
            }
            Op::Binary(BinaryOp::Less, one, other) if holds => (TestKind::Less, one, other),
            Op::Binary(BinaryOp::Less, one, other) => (TestKind::LessOrEqual, other, one),
            Op::Binary(BinaryOp::LessOrEqual, one, other) if holds => (TestKind::LessOrEqual, one, other),
            Op::Binary(BinaryOp::LessOrEqual, one, other) => (TestKind::Less, other, one),
            Op::Binary(binary @ (BinaryOp::Equal | BinaryOp::Unequal), one, other) => {
                let is_equal = (binary == BinaryOp::Equal) == holds;
                (if is_equal { TestKind::Equal } else { TestKind::Unequal }, one, other)
            }
            Op::Crosses { is_above: true, order } if holds => (TestKind::CrossesAbove, order, order),
            Op::Crosses { is_above: false, order } if holds => (TestKind::CrossesBelow, order, order),
            _ if holds => (TestKind::Holds, of, of),
            _ => (TestKind::HoldsNot, of, of),
        };
        self.tests.push(Test { kind, one, other, met, unmet });
    }
}

impl TestKind {
    const fn is_crossing(self) -> bool {
        matches!(self, Self::CrossesAbove | Self::CrossesBelow)
    }
}

impl ResolvedTests {
    /// Returns two slots for each condition: it can be true only if the first slot has the smaller value.
    /// `None` for more than two conditions, or if a condition has no such slots.
    pub(crate) fn prefilter(&self) -> Option<[(Slot, Slot); 2]> {
        let ends = self.starts.iter().skip(1).copied().chain([self.tests.len() + self.starts.len()]);
        let needed = |(start, end): (&usize, usize)| {
            // The first test can only be used if its failure makes the whole condition fail.
            let test = self.tests.get(*start).filter(|test| test.unmet == end)?;
            match test.kind {
                TestKind::Less | TestKind::CrossesBelow => Some((test.one, test.other)),
                TestKind::CrossesAbove => Some((test.other, test.one)),
                _ => None,
            }
        };
        let needed: Option<Vec<(Slot, Slot)>> = self.starts.iter().zip(ends).map(needed).collect();
        match needed?[..] {
            [one] => Some([one; 2]),
            [one, other] => Some([one, other]),
            _ => None,
        }
    }

    /// Returns the index of the first condition that is certain to be true, or the number of conditions if none is.
    #[inline]
    pub(crate) fn first_true(&self, values: &[f64]) -> usize {
        let mut at = 0;
        while let Some(test) = self.tests.get(at) {
            let (one, other) = (values[test.one], values[test.other]);
            let is_met = match test.kind {
                TestKind::Less => one < other,
                TestKind::LessOrEqual => one <= other,
                TestKind::Equal => one == other,
                TestKind::Unequal => !one.is_nan() && !other.is_nan() && one != other,
                TestKind::Holds => one == 1.0,
                TestKind::HoldsNot => one == 0.0,
                TestKind::CrossesAbove => one == 1.0 && other < 1.0,
                TestKind::CrossesBelow => one == -1.0 && other > -1.0,
            };
            at = if is_met { test.met } else { test.unmet };
        }
        at - self.tests.len()
    }

    /// Returns a bit mask for each condition. Bit `n` is 1 if that condition is the first true condition on candle `n`.
    pub(crate) fn first_true_batch<'r>(
        &self,
        columns: &Columns,
        candles: u64,
        reached: &'r mut [u64],
    ) -> &'r [u64] {
        reached.fill(0);
        reached[0] = candles;
        for (at, test) in self.tests.iter().enumerate() {
            let here = reached[at];
            if here == 0 {
                continue;
            }
            let holds = match test.kind {
                TestKind::Less => columns.mask_where(test.one, test.other, |one, other| one < other),
                TestKind::LessOrEqual => columns.mask_where(test.one, test.other, |one, other| one <= other),
                TestKind::Equal => columns.mask_where(test.one, test.other, |one, other| one == other),
                TestKind::Unequal => columns.mask_where(test.one, test.other, |one, other| {
                    !one.is_nan() && !other.is_nan() && one != other
                }),
                TestKind::Holds => columns.mask_where(test.one, test.other, |one, _| one == 1.0),
                TestKind::HoldsNot => columns.mask_where(test.one, test.other, |one, _| one == 0.0),
                TestKind::CrossesAbove => {
                    columns.mask_where(test.one, test.other, |one, other| one == 1.0 && other < 1.0)
                }
                TestKind::CrossesBelow => {
                    columns.mask_where(test.one, test.other, |one, other| one == -1.0 && other > -1.0)
                }
            };
            // Jumps only lead forward.
            reached[test.met] |= here & holds;
            reached[test.unmet] |= here & !holds;
        }
        &reached[self.tests.len()..self.tests.len() + self.starts.len()]
    }

    pub(crate) const fn scratch_len(&self) -> usize {
        self.tests.len() + self.starts.len() + 1
    }
}
