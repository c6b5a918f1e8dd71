//! Compiler for comparisons of two values. Computed prices are compared with a rounding tolerance.

use crate::RuleError;
use crate::compile::{Compiler, Scope, ValueKind};
use crate::graph::{BinaryOp, Field, Graph, Id, Op};
use crate::indicator::Indicator;
use crate::syntax::{Form, PartId};

impl Compiler<'_> {
    /// Rejects comparisons of a condition with 1 or 0. Other languages use such comparisons to test booleans.
    pub(crate) fn reject_boolean_comparison(
        &mut self,
        at: Scope<'_>,
        side: PartId,
        number: PartId,
    ) -> Result<(), RuleError> {
        let holds = match at.tree.part(number).form {
            Form::Number(1.0) => true,
            Form::Number(0.0) => false,
            _ => return Ok(()),
        };
        let value = self.compile_value(at, side)?;
        if value.kind == ValueKind::Number {
            return Ok(());
        }
        let part = at.tree.part(side);
        let name = match &part.form {
            Form::Call { name, arguments, .. } if arguments.is_empty() => format!("{name}()"),
            _ => self.graph.node(value.id).name.clone(),
        };
        let hint = if holds {
            "remove `== 1`".to_owned()
        } else {
            format!("write not {}", if name.ends_with("()") { name.clone() } else { format!("({name})") })
        };
        Err(RuleError::new(part.span.clone(), format!("`{name}` is a condition, not a number: {hint}")))
    }

    /// Adds a comparison. It tolerates rounding if both sides are prices and at least one side is computed.
    pub(crate) fn add_comparison(
        &mut self,
        binary: BinaryOp,
        (one, other): (Id, Id),
        name: String,
        interval_index: usize,
    ) -> Id {
        let sides = [one, other];
        let is_rounded = sides.iter().any(|side| is_computed(&self.graph, *side))
            && sides.iter().all(|side| has_price_unit(&self.graph, *side));
        if !is_rounded {
            return self.add_at(Op::Binary(binary, one, other), name, &[one, other], interval_index);
        }
        // This name cannot equal another name, because it is not a valid expression.
        let order = format!("{} vs {}", self.graph.node(one).name, self.graph.node(other).name);
        let order = self.add_at(Op::Compared(one, other), order, &[one, other], interval_index);
        let zero = self.add_constant(0.0).id;
        self.add_at(Op::Binary(binary, order, zero), name, &[one, other], interval_index)
    }
}

/// Returns whether arithmetic in the rule or in a field such as `median` may have caused rounding errors in the value.
fn is_computed(graph: &Graph, id: Id) -> bool {
    match graph.node(id).op {
        Op::Field(field) => matches!(
            field,
            Field::Median | Field::Typical | Field::Body | Field::Range | Field::UpperWick | Field::LowerWick
        ),
        Op::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, ..) => true,
        Op::Binary(BinaryOp::Divide, one, by) => graph.constant(by).is_some() && is_computed(graph, one),
        Op::Binary(BinaryOp::Min | BinaryOp::Max, one, other) => {
            is_computed(graph, one) || is_computed(graph, other)
        }
        Op::Negate(of) | Op::Abs(of) | Op::Back(of, _) | Op::Longer(of) => is_computed(graph, of),
        _ => false,
    }
}

/// Returns whether a value has the unit of a price, as prices, their averages and constants do.
fn has_price_unit(graph: &Graph, id: Id) -> bool {
    match &graph.node(id).op {
        Op::Constant(_) => true,
        Op::Field(field) => *field != Field::Volume,
        Op::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Min | BinaryOp::Max, one, other) => {
            has_price_unit(graph, *one) && has_price_unit(graph, *other)
        }
        Op::Binary(BinaryOp::Multiply, one, other) => {
            let has_number = graph.constant(*one).is_some() || graph.constant(*other).is_some();
            has_number && has_price_unit(graph, *one) && has_price_unit(graph, *other)
        }
        Op::Binary(BinaryOp::Divide, one, by) => graph.constant(*by).is_some() && has_price_unit(graph, *one),
        Op::Negate(of) | Op::Abs(of) | Op::Back(of, _) | Op::Longer(of) => has_price_unit(graph, *of),
        Op::Line(of, line) => line_has_price_unit(graph, *of, *line),
        Op::Indicator { .. } => line_has_price_unit(graph, id, 0),
        _ => false,
    }
}

fn line_has_price_unit(graph: &Graph, id: Id, line: usize) -> bool {
    let Op::Indicator { indicator, of } = &graph.node(id).op else { return false };
    match **indicator {
        Indicator::Sma(_)
        | Indicator::Ema(_)
        | Indicator::Wma(_)
        | Indicator::Hull(_)
        | Indicator::Macd(_)
        | Indicator::Bollinger(_) => of.is_none_or(|of| has_price_unit(graph, of)),
        Indicator::Atr(_)
        | Indicator::Donchian(_)
        | Indicator::Keltner(_)
        | Indicator::HeikinAshi(_)
        | Indicator::Pivots(_) => true,
        // The last line of each of these indicators is not a price.
        Indicator::Supertrend(_) | Indicator::ParabolicSar(_) => line == 0,
        Indicator::SessionRange(_) => line < 3,
        Indicator::Rsi(_)
        | Indicator::ZScore(_)
        | Indicator::Adx(_)
        | Indicator::Cci(_)
        | Indicator::Stochastic(_)
        | Indicator::WilliamsR(_) => false,
    }
}
