//! Comparisons of two values. What a rule works out of decimal prices is rounded, and rounding alone makes no side the larger one.

use crate::RuleError;
use crate::compile::{At, Compiler, Kind};
use crate::graph::{Binary, Field, Graph, Id, Op};
use crate::syntax::{Form, PartId};

impl Compiler<'_> {
    /// Refuses a condition that is compared with 1 or 0, as other languages count what holds.
    pub(crate) fn check_beside_one(
        &mut self,
        at: At<'_>,
        side: PartId,
        number: PartId,
    ) -> Result<(), RuleError> {
        let holds = match at.tree.part(number).form {
            Form::Number(1.0) => true,
            Form::Number(0.0) => false,
            _ => return Ok(()),
        };
        let value = self.value(at, side)?;
        if value.kind == Kind::Number {
            return Ok(());
        }
        let part = at.tree.part(side);
        let name = match &part.form {
            Form::Call { name, arguments, .. } if arguments.is_empty() => format!("{name}()"),
            _ => self.graph.node(value.id).name.clone(),
        };
        let cure = if holds {
            "leave `== 1` out".to_owned()
        } else {
            format!("write not {}", if name.ends_with("()") { name.clone() } else { format!("({name})") })
        };
        Err(RuleError::new(part.place.clone(), format!("`{name}` is a condition, not a number: {cure}")))
    }

    /// Whether two values stand so to each other: exactly, or within rounding where one of them is worked out.
    pub(crate) fn compared(
        &mut self,
        binary: Binary,
        (one, other): (Id, Id),
        name: String,
        candles: usize,
    ) -> Id {
        if !is_worked_out(&self.graph, one) && !is_worked_out(&self.graph, other) {
            return self.add_at(Op::Binary(binary, one, other), name, &[one, other], candles);
        }
        // No rule can have this name.
        let stand = format!("{} beside {}", self.graph.node(one).name, self.graph.node(other).name);
        let stand = self.add_at(Op::Compared(one, other), stand, &[one, other], candles);
        let zero = self.constant(0.0).id;
        self.add_at(Op::Binary(binary, stand, zero), name, &[one, other], candles)
    }
}

/// Whether a value is made by the rule's own arithmetic. A price is as it was written, and an indicator's value is its own.
fn is_worked_out(graph: &Graph, id: Id) -> bool {
    match graph.node(id).op {
        Op::Field(field) => matches!(
            field,
            Field::Median | Field::Typical | Field::Body | Field::Range | Field::UpperWick | Field::LowerWick
        ),
        Op::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, ..) => true,
        // A quotient of two values is no price any more, and what it is rounded by is another matter.
        Op::Binary(Binary::Divide, one, by) => graph.constant(by).is_some() && is_worked_out(graph, one),
        Op::Binary(Binary::Min | Binary::Max, one, other) => {
            is_worked_out(graph, one) || is_worked_out(graph, other)
        }
        Op::Negate(of) | Op::Abs(of) | Op::Back(of, _) | Op::Longer(of) => is_worked_out(graph, of),
        _ => false,
    }
}
