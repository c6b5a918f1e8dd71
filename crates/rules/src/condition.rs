//! Conditions as a list of tests with jumps, evaluated only until one condition is decided.

use crate::columns::Columns;
use crate::graph::{Binary, Graph, Id, Op};
use crate::program::Place;

#[derive(Clone, Debug)]
pub(crate) struct Decision {
    tests: Box<[Test]>,
    starts: Box<[usize]>,
}

/// A test with jump targets; those after the last test mean the first condition that is true, and finally none.
#[derive(Clone, Copy, Debug)]
struct Test {
    compares: Compares,
    one: Place,
    other: Place,
    met: usize,
    unmet: usize,
}

/// Kind of a test. Missing numbers and unknown conditions fail every test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compares {
    Less,
    LessOrEqual,
    Equal,
    Unequal,
    Holds,
    HoldsNot,
    /// `one` is the present order, which is above; `other` is the previous order, which was not.
    CrossesAbove,
    CrossesBelow,
}

/// A jump target that is resolved once all tests exist.
type Label = usize;

pub(crate) struct Tests {
    /// Operands are ids of graph values, and targets are labels.
    asked: Vec<Test>,
    labels: Vec<usize>,
    starts: Vec<usize>,
}

impl Tests {
    pub(crate) fn of(graph: &Graph, conditions: &[Id]) -> Self {
        let count = conditions.len();
        // A label for each condition that holds, and one for none of them.
        let mut tests = Self { asked: Vec::new(), labels: vec![0; count + 1], starts: Vec::new() };
        for (holds, condition) in conditions.iter().enumerate() {
            let next = if holds + 1 < count { tests.label() } else { count };
            tests.starts.push(tests.asked.len());
            tests.add(graph, *condition, true, (holds, next));
            if holds + 1 < count {
                tests.labels[next] = tests.asked.len();
            }
        }
        for exit in 0..=count {
            tests.labels[exit] = tests.asked.len() + exit;
        }
        tests
    }

    pub(crate) fn operands(&self) -> impl Iterator<Item = Id> {
        self.asked.iter().flat_map(|test| [test.one, test.other])
    }

    pub(crate) fn placed(self, place_of: impl Fn(Id) -> Place) -> Decision {
        let Self { asked, labels, starts } = self;
        let placed = |test: Test| Test {
            one: place_of(test.one),
            // What an order was before stands behind it.
            other: place_of(test.other) + usize::from(test.compares.is_crossing()),
            met: labels[test.met],
            unmet: labels[test.unmet],
            ..test
        };
        Decision { tests: asked.into_iter().map(placed).collect(), starts: starts.into() }
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() - 1
    }

    /// Adds the tests for a condition to be known true (or false), by De Morgan's laws.
    fn add(&mut self, graph: &Graph, of: Id, holds: bool, (met, unmet): (Label, Label)) {
        let (compares, one, other) = match graph.node(of).op {
            Op::Not(inner) => return self.add(graph, inner, !holds, (met, unmet)),
            Op::Binary(binary @ (Binary::And | Binary::Or), one, other) => {
                let second = self.label();
                // One of the two is enough, or both are needed.
                let first = if (binary == Binary::Or) == holds { (met, second) } else { (second, unmet) };
                self.add(graph, one, holds, first);
                self.labels[second] = self.asked.len();
                return self.add(graph, other, holds, (met, unmet));
            }
            Op::Binary(Binary::Less, one, other) if holds => (Compares::Less, one, other),
            Op::Binary(Binary::Less, one, other) => (Compares::LessOrEqual, other, one),
            Op::Binary(Binary::LessOrEqual, one, other) if holds => (Compares::LessOrEqual, one, other),
            Op::Binary(Binary::LessOrEqual, one, other) => (Compares::Less, other, one),
            Op::Binary(binary @ (Binary::Equal | Binary::Unequal), one, other) => {
                let is_equal = (binary == Binary::Equal) == holds;
                (if is_equal { Compares::Equal } else { Compares::Unequal }, one, other)
            }
            Op::Crosses { is_above: true, order } if holds => (Compares::CrossesAbove, order, order),
            Op::Crosses { is_above: false, order } if holds => (Compares::CrossesBelow, order, order),
            _ if holds => (Compares::Holds, of, of),
            _ => (Compares::HoldsNot, of, of),
        };
        self.asked.push(Test { compares, one, other, met, unmet });
    }
}

impl Compares {
    const fn is_crossing(self) -> bool {
        matches!(self, Self::CrossesAbove | Self::CrossesBelow)
    }
}

impl Decision {
    /// Returns values for each of one or two conditions, the first less whenever the condition is true.
    /// `None` if a condition does not begin with such a test.
    pub(crate) fn needed(&self) -> Option<[(Place, Place); 2]> {
        let ends = self.starts.iter().skip(1).copied().chain([self.tests.len() + self.starts.len()]);
        let needed = |(start, end): (&usize, usize)| {
            // Without the test that a condition begins with, it does not hold.
            let test = self.tests.get(*start).filter(|test| test.unmet == end)?;
            match test.compares {
                Compares::Less | Compares::CrossesBelow => Some((test.one, test.other)),
                Compares::CrossesAbove => Some((test.other, test.one)),
                _ => None,
            }
        };
        let needed: Option<Vec<(Place, Place)>> = self.starts.iter().zip(ends).map(needed).collect();
        match needed?[..] {
            [one] => Some([one; 2]),
            [one, other] => Some([one, other]),
            _ => None,
        }
    }

    /// Returns the index of the first condition known to be true, or their number.
    #[inline]
    pub(crate) fn first(&self, values: &[f64]) -> usize {
        let mut at = 0;
        while let Some(test) = self.tests.get(at) {
            let (one, other) = (values[test.one], values[test.other]);
            let is_met = match test.compares {
                Compares::Less => one < other,
                Compares::LessOrEqual => one <= other,
                Compares::Equal => one == other,
                Compares::Unequal => !one.is_nan() && !other.is_nan() && one != other,
                Compares::Holds => one == 1.0,
                Compares::HoldsNot => one == 0.0,
                Compares::CrossesAbove => one == 1.0 && other < 1.0,
                Compares::CrossesBelow => one == -1.0 && other > -1.0,
            };
            at = if is_met { test.met } else { test.unmet };
        }
        at - self.tests.len()
    }

    /// Like `first`, for a batch of candles: for each condition, a bit per candle on which it is the first true
    /// one, the lowest for the first candle. `reached` is scratch space for [that many](Self::places) numbers.
    pub(crate) fn first_together<'r>(
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
            let holds = match test.compares {
                Compares::Less => columns.where_holds(test.one, test.other, |one, other| one < other),
                Compares::LessOrEqual => columns.where_holds(test.one, test.other, |one, other| one <= other),
                Compares::Equal => columns.where_holds(test.one, test.other, |one, other| one == other),
                Compares::Unequal => columns.where_holds(test.one, test.other, |one, other| {
                    !one.is_nan() && !other.is_nan() && one != other
                }),
                Compares::Holds => columns.where_holds(test.one, test.other, |one, _| one == 1.0),
                Compares::HoldsNot => columns.where_holds(test.one, test.other, |one, _| one == 0.0),
                Compares::CrossesAbove => {
                    columns.where_holds(test.one, test.other, |one, other| one == 1.0 && other < 1.0)
                }
                Compares::CrossesBelow => {
                    columns.where_holds(test.one, test.other, |one, other| one == -1.0 && other > -1.0)
                }
            };
            // Every test that is asked after it stands behind it.
            reached[test.met] |= here & holds;
            reached[test.unmet] |= here & !holds;
        }
        &reached[self.tests.len()..self.tests.len() + self.starts.len()]
    }

    /// Scratch size of [`first_together`](Self::first_together): tests, conditions and the case of none.
    pub(crate) const fn places(&self) -> usize {
        self.tests.len() + self.starts.len() + 1
    }
}
