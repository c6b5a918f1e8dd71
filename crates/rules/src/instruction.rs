//! Four-byte instructions for simple steps of a small program. Their state is stored in slots of the program.

use crate::columns::Columns;
use crate::graph::{BinaryOp, Field};
use crate::program::{InlineSlots, Slot, Slots};
use crate::step::{Action, Step, compare};

/// Maximum lookback of a shift register, in candles. Longer lookbacks use a ring buffer instead.
const MAX_SHIFT_CANDLES: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    operation: Operation,
    one: u8,
    other: u8,
    out: u8,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Binary(BinaryOp),
    Negate,
    Abs,
    Not,
    /// Outputs the second operand, then copies the first operand to the second operand's slot.
    Exchange,
    Compared,
    /// Outputs the comparison result, and stores the previous result in the slot after the output.
    TrackedComparison,
    CrossesAbove,
    CrossesBelow,
}

#[inline(never)]
pub(crate) fn run(instructions: &[Instruction], values: &mut InlineSlots) {
    for Instruction { operation, one, other, out } in instructions {
        let (first, second) = (values.get(*one), values.get(*other));
        let value = match operation {
            Operation::Binary(binary) => binary.apply(first, second),
            Operation::Negate => -first,
            Operation::Abs => first.abs(),
            Operation::Not => 1.0 - first,
            Operation::Exchange => {
                values.set(*other, first);
                second
            }
            Operation::Compared => compare(first, second, values.at(Field::CLOSE)),
            Operation::TrackedComparison => {
                let before = values.get(*out);
                values.put(Slot::from(*out) + 1, before);
                compare(first, second, values.at(Field::CLOSE))
            }
            Operation::CrossesAbove => crossing_flag(first, second, 1.0),
            Operation::CrossesBelow => crossing_flag(first, second, -1.0),
        };
        values.set(*out, value);
    }
}

pub(crate) fn run_batch(instructions: &[Instruction], columns: &mut Columns, values: &mut InlineSlots) {
    for Instruction { operation, one, other, out } in instructions {
        let [one, other, out] = [one, other, out].map(|place| Slot::from(*place));
        match operation {
            Operation::Binary(binary) => columns.apply_binary(*binary, (one, other), out, values),
            Operation::Negate => columns.map(one, out, values, |of| -of),
            Operation::Abs => columns.map(one, out, values, f64::abs),
            Operation::Not => columns.map(one, out, values, |of| 1.0 - of),
            Operation::Exchange => {
                let next = columns.shift(one, values.at(other), out, values);
                values.put(other, next);
            }
            Operation::Compared => columns.compare((one, other), out, values),
            Operation::TrackedComparison => columns.compare_and_track((one, other), out, values),
            Operation::CrossesAbove => {
                columns.zip_with((one, other), out, values, |now, before| crossing_flag(now, before, 1.0));
            }
            Operation::CrossesBelow => {
                columns.zip_with((one, other), out, values, |now, before| crossing_flag(now, before, -1.0));
            }
        }
    }
}

/// Returns 1 if a comparison result has just become `to`, otherwise 0. NaN if `now` or `before` is unknown.
#[inline]
pub(crate) fn crossing_flag(now: f64, before: f64, to: f64) -> f64 {
    let is_known = !now.is_nan() && !before.is_nan();
    if is_known { f64::from(u8::from(now == to && before != to)) } else { f64::NAN }
}

pub(crate) struct Instructions<'v> {
    pub(crate) instructions: Vec<Instruction>,
    values: &'v mut InlineSlots,
}

impl<'v> Instructions<'v> {
    pub(crate) const fn new(values: &'v mut InlineSlots) -> Self {
        Self { instructions: Vec::new(), values }
    }

    /// Adds a step. Returns `false` if instructions cannot express the step.
    pub(crate) fn add(&mut self, step: &Step) -> bool {
        let out = step.out;
        match &step.action {
            Action::Field(field) => return self.add_field(*field, out),
            Action::Negate(of) => self.push(Operation::Negate, (*of, *of), out),
            Action::Abs(of) => self.push(Operation::Abs, (*of, *of), out),
            Action::Not(of) => self.push(Operation::Not, (*of, *of), out),
            Action::Less(one, other) => self.push(Operation::Binary(BinaryOp::Less), (*one, *other), out),
            Action::Add(one, other) => self.push(Operation::Binary(BinaryOp::Add), (*one, *other), out),
            Action::Subtract(one, other) => {
                self.push(Operation::Binary(BinaryOp::Subtract), (*one, *other), out);
            }
            Action::Multiply(one, other) => {
                self.push(Operation::Binary(BinaryOp::Multiply), (*one, *other), out);
            }
            Action::Divide(one, other) => self.push(Operation::Binary(BinaryOp::Divide), (*one, *other), out),
            Action::Binary(binary, one, other) => self.push(Operation::Binary(*binary), (*one, *other), out),
            Action::Last { of, last } => return self.add_shift_register(*of, &[*last], out),
            // `next` is the position of the oldest value, which is replaced next.
            Action::Back { of, last, next } if last.len() <= MAX_SHIFT_CANDLES => {
                let (later, earlier) = last.split_at(*next);
                let since: Vec<f64> = earlier.iter().chain(later).rev().copied().collect();
                return self.add_shift_register(*of, &since, out);
            }
            Action::Compared(one, other) => self.push(Operation::Compared, (*one, *other), out),
            Action::TrackedComparison(order) => {
                self.push(Operation::TrackedComparison, order.operands(), out);
            }
            Action::Crosses { to, order } => {
                let operation = if *to > 0.0 { Operation::CrossesAbove } else { Operation::CrossesBelow };
                self.push(operation, (*order, *order + 1), out);
            }
            _ => return false,
        }
        true
    }

    fn add_field(&mut self, field: Field, out: Slot) -> bool {
        let binary = |binary| Operation::Binary(binary);
        match field {
            Field::Range => self.push(binary(BinaryOp::Subtract), (Field::HIGH, Field::LOW), out),
            Field::Body => {
                self.push(binary(BinaryOp::Subtract), (Field::CLOSE, Field::OPEN), out);
                self.push(Operation::Abs, (out, out), out);
            }
            Field::UpperWick => {
                self.push(binary(BinaryOp::Max), (Field::OPEN, Field::CLOSE), out);
                self.push(binary(BinaryOp::Subtract), (Field::HIGH, out), out);
            }
            Field::LowerWick => {
                self.push(binary(BinaryOp::Min), (Field::OPEN, Field::CLOSE), out);
                self.push(binary(BinaryOp::Subtract), (out, Field::LOW), out);
            }
            _ => return false,
        }
        true
    }

    /// Adds a shift register that stores one value per candle, latest first. Returns `false` if too few slots are free.
    fn add_shift_register(&mut self, of: Slot, since: &[f64], out: Slot) -> bool {
        if self.values.free_slots() < since.len() {
            return false;
        }
        let mut of = of;
        for value in since {
            let slot = self.values.allocate(*value);
            self.push(Operation::Exchange, (of, slot), out);
            of = out;
        }
        true
    }

    fn push(&mut self, operation: Operation, (one, other): (Slot, Slot), out: Slot) {
        // A small program has so few slots that their indices fit in `u8`.
        let [one, other, out] = [one, other, out].map(|place| place as u8);
        self.instructions.push(Instruction { operation, one, other, out });
    }
}
