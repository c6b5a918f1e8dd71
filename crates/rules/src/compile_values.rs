//! Insertion of values into the graph, with constant folding and naming.

use crate::compile::{Compiler, Kind, Value};
use crate::graph::{Binary, Id, Op};

impl Compiler<'_> {
    pub(crate) fn constant(&mut self, number: f64) -> Value {
        // Below zero is none but zero itself.
        let number = if number == 0.0 { 0.0 } else { number };
        let id = self.graph.add(Op::Constant(number), number.to_string(), 0, 0);
        Value { id, kind: Kind::Number }
    }

    pub(crate) fn fixed_truth(&mut self, holds: bool) -> Value {
        let number = f64::from(u8::from(holds));
        Value { id: self.graph.add(Op::Constant(number), holds.to_string(), 0, 0), kind: Kind::Truth }
    }

    pub(crate) fn negated(&mut self, of: Id) -> Value {
        if let Some(number) = self.graph.constant(of) {
            return self.constant(-number);
        }
        let name = format!("-{}", self.bracketed(of));
        Value { id: self.add(Op::Negate(of), name, &[of]), kind: Kind::Number }
    }

    pub(crate) fn truth_of(&mut self, op: Op, name: String, parts: &[Id]) -> Value {
        let constant = match (&op, parts) {
            (Op::Not(of), _) => self.graph.constant(*of).map(|holds| holds == 0.0),
            _ => None,
        };
        match constant {
            Some(holds) => self.fixed_truth(holds),
            None => Value { id: self.add(op, name, parts), kind: Kind::Truth },
        }
    }

    pub(crate) fn joined(&mut self, binary: Binary, one: Id, other: Id) -> Value {
        let decides = if binary == Binary::And { 0.0 } else { 1.0 };
        for (this, that) in [(one, other), (other, one)] {
            match self.graph.constant(this) {
                Some(holds) if holds == decides => return Value { id: this, kind: Kind::Truth },
                Some(_) => return Value { id: that, kind: Kind::Truth },
                None => {}
            }
        }
        let sign = if binary == Binary::And { "and" } else { "or" };
        let name = format!("{} {sign} {}", self.bracketed(one), self.bracketed(other));
        Value { id: self.add(Op::Binary(binary, one, other), name, &[one, other]), kind: Kind::Truth }
    }

    pub(crate) fn ago(&mut self, of: Id, by: usize, candles: usize) -> Id {
        if by == 0 {
            return of;
        }
        let name = format!("{}[{by}]", self.bracketed(of));
        let warm = self.graph.node(of).warm_after.max(1);
        self.graph.add(Op::Back(of, by), name, warm + by, candles)
    }

    pub(crate) fn add(&mut self, op: Op, name: String, parts: &[Id]) -> Id {
        let candles = parts.iter().map(|part| self.graph.node(*part).candles).max().unwrap_or_default();
        self.add_at(op, name, parts, candles)
    }

    pub(crate) fn add_at(&mut self, op: Op, name: String, parts: &[Id], candles: usize) -> Id {
        let warm = parts.iter().map(|part| self.graph.node(*part).warm_after).max().unwrap_or_default();
        self.graph.add(op, name, warm, candles)
    }

    /// Returns the name of a value, in parentheses if an adjacent operator could split it.
    pub(crate) fn bracketed(&self, id: Id) -> String {
        let node = self.graph.node(id);
        let is_call = node.name.ends_with(')') && !node.name.starts_with('(') && !node.name.contains(") ");
        match node.op {
            Op::Binary(..) | Op::Negate(_) | Op::Not(_) if !is_call => format!("({})", node.name),
            Op::Constant(number) if number < 0.0 => format!("({})", node.name),
            _ => node.name.clone(),
        }
    }
}

impl Binary {
    /// Applies the operator. NaN is a missing number or an unknown condition, and propagates unless
    /// the other side alone decides. A result that is not a number is missing.
    #[inline]
    pub(crate) fn of(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Add => finite(one + other),
            Self::Subtract => finite(one - other),
            Self::Multiply => finite(one * other),
            Self::Divide => finite(one / other),
            Self::Min => either(one, other, one < other),
            Self::Max => either(one, other, one > other),
            Self::Less => known(one, other, one < other),
            Self::LessOrEqual => known(one, other, one <= other),
            Self::Equal => known(one, other, one == other),
            Self::Unequal => known(one, other, one != other),
            // Either of the two decides where it is 0; else NaN stays.
            Self::And if one == 0.0 || other == 0.0 => 0.0,
            Self::And => one * other,
            Self::Or if one == 1.0 || other == 1.0 => 1.0,
            Self::Or => one + other,
        }
    }
}

#[inline]
fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::NAN }
}

#[inline]
fn known(one: f64, other: f64, holds: bool) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { f64::from(u8::from(holds)) }
}

#[inline]
fn either(one: f64, other: f64, is_one: bool) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::NAN
    } else if is_one {
        one
    } else {
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_stays_so_unless_the_other_side_decides() {
        let (no, yes, unknown) = (0.0, 1.0, f64::NAN);
        // Kleene's strong logic of three values.
        for (one, other, and, or) in [
            (no, no, no, no),
            (no, yes, no, yes),
            (yes, yes, yes, yes),
            (no, unknown, no, unknown),
            (yes, unknown, unknown, yes),
            (unknown, unknown, unknown, unknown),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let same =
                    |found: f64, expected: f64| found == expected || found.is_nan() && expected.is_nan();
                assert!(same(Binary::And.of(one, other), and), "{one} and {other}");
                assert!(same(Binary::Or.of(one, other), or), "{one} or {other}");
            }
        }
    }

    #[test]
    fn a_number_divided_by_zero_is_missing_and_so_is_all_that_is_made_of_it() {
        let missing = Binary::Divide.of(1.0, 0.0);
        assert!(missing.is_nan());
        for binary in [Binary::Add, Binary::Min, Binary::Max, Binary::Less, Binary::Unequal, Binary::Equal] {
            assert!(binary.of(missing, 1.0).is_nan() && binary.of(1.0, missing).is_nan(), "{binary:?}");
        }
    }
}
