//! Compiler from the syntax tree of a rule to a graph. Resolves names, checks types and folds constants.

use crate::error::suggest_name;
use crate::graph::{BinaryOp, Field, Graph, Id, Op};
use crate::parse::parse;
use crate::syntax::{Form, Operator, PartId, Tree};
use crate::{RuleError, catalog};
use candlewick_sdk::Interval;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const MAX_LOOKBACK_CANDLES: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Number,
    Condition,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) id: Id,
    pub(crate) kind: ValueKind,
}

impl Value {
    pub(crate) const fn number(id: Id) -> Self {
        Self { id, kind: ValueKind::Number }
    }

    pub(crate) const fn condition(id: Id) -> Self {
        Self { id, kind: ValueKind::Condition }
    }
}

pub(crate) struct Compiler<'a> {
    pub(crate) graph: Graph,
    parameters: &'a BTreeMap<String, f64>,
    pub(crate) used_parameters: BTreeSet<String>,
    pub(crate) compared_numbers: Vec<Id>,
    /// Numbers that the conditions read, in reading order. Recorded only if conditions are explained to the user.
    pub(crate) numbers_read: Vec<Id>,
    pub(crate) is_explaining: bool,
    is_in_pattern: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Scope<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) interval_index: usize,
}

impl Scope<'_> {
    pub(crate) fn error(self, id: PartId, message: impl Into<String>) -> RuleError {
        RuleError::new(self.tree.part(id).span.clone(), message)
    }
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(parameters: &'a BTreeMap<String, f64>, own: Interval) -> Self {
        Self {
            graph: Graph::new(own),
            parameters,
            used_parameters: BTreeSet::new(),
            compared_numbers: Vec::new(),
            numbers_read: Vec::new(),
            is_explaining: false,
            is_in_pattern: false,
        }
    }

    pub(crate) fn with_explanations(self) -> Self {
        Self { is_explaining: true, ..self }
    }

    pub(crate) fn compile(&mut self, tree: &Tree) -> Result<Id, RuleError> {
        let root = tree.root();
        let id = self.compile_condition(Scope { tree, interval_index: 0 }, root, "a rule")?;
        match self.graph.constant(id) {
            None => Ok(id),
            Some(always) => {
                let word = if always == 0.0 { "never" } else { "always" };
                let message = format!("the rule is {word} true: compare a value that changes, such as close");
                Err(RuleError::new(tree.part(root).span.clone(), message))
            }
        }
    }

    pub(crate) fn compile_value(&mut self, at: Scope<'_>, id: PartId) -> Result<Value, RuleError> {
        let part = at.tree.part(id);
        let place = &part.span;
        match &part.form {
            Form::Number(number) => Ok(self.add_constant(*number)),
            Form::Text(text) => Err(RuleError::new(place.clone(), stray_text_hint(text))),
            Form::Name(name) => self.resolve_name(at, name, place),
            Form::Call { name, name_place, arguments } => match catalog::find_function(name) {
                Some(function) if !function.lines.is_empty() => {
                    self.compile_line(at, id, function.main_line, place)
                }
                Some(function) => self.compile_call(at, function, arguments, place),
                None => self.compile_pattern(at, name, arguments, name_place),
            },
            Form::Line { of, name, name_place } => self.compile_named_line(at, *of, name, name_place, place),
            Form::Back { of, by } => {
                let by = self.lookback(at, *by)?;
                let of = self.compile_value(at, *of)?;
                Ok(Value { id: self.add_lookback(of.id, by, at.interval_index), kind: of.kind })
            }
            Form::At { of, interval, interval_place } => {
                self.compile_at_interval(at, *of, interval, interval_place)
            }
            Form::Negate(of) => {
                let of = self.compile_number(at, *of, "`-`")?;
                Ok(self.add_unary_minus(of))
            }
            Form::Not(of) => {
                let of = self.compile_condition(at, *of, "`not`")?;
                Ok(self.add_not(of))
            }
            Form::Binary { operator, left, right } => self.add_binary(at, *operator, (*left, *right), place),
        }
    }

    pub(crate) fn compile_condition(&mut self, at: Scope<'_>, id: PartId, of: &str) -> Result<Id, RuleError> {
        let value = self.compile_value(at, id)?;
        if value.kind == ValueKind::Condition {
            return Ok(value.id);
        }
        let name = &self.graph.node(value.id).name;
        let message =
            format!("{of} needs a condition, but `{name}` is a number: compare the number, as in {name} > 0");
        Err(at.error(id, message))
    }

    pub(crate) fn compile_number(&mut self, at: Scope<'_>, id: PartId, of: &str) -> Result<Id, RuleError> {
        let value = self.compile_value(at, id)?;
        if value.kind == ValueKind::Number {
            return Ok(value.id);
        }
        let name = &self.graph.node(value.id).name;
        let message = format!("{of} needs a number, but `{name}` is a condition");
        Err(at.error(id, message))
    }

    pub(crate) fn fixed_number(&mut self, at: Scope<'_>, id: PartId, what: &str) -> Result<f64, RuleError> {
        let number = self.compile_number(at, id, what)?;
        self.graph.constant(number).ok_or_else(|| {
            let name = &self.graph.node(number).name;
            let message = format!("{what} must be constant: use a number or a parameter, not `{name}`");
            at.error(id, message)
        })
    }

    pub(crate) fn whole_number(
        &mut self,
        at: Scope<'_>,
        id: PartId,
        (least, most): (usize, usize),
        what: &str,
    ) -> Result<usize, RuleError> {
        let number = self.fixed_number(at, id, what)?;
        if number.fract() == 0.0 && number >= least as f64 && number <= most as f64 {
            return Ok(number as usize);
        }
        let message = format!("{what} must be a whole number from {least} to {most}, not {number}");
        Err(at.error(id, message))
    }

    fn lookback(&mut self, at: Scope<'_>, by: PartId) -> Result<usize, RuleError> {
        self.whole_number(at, by, (0, MAX_LOOKBACK_CANDLES), "the number of candles to look back")
    }

    fn resolve_name(&mut self, at: Scope<'_>, name: &str, place: &Range<usize>) -> Result<Value, RuleError> {
        if let Some(number) = self.parameters.get(name) {
            self.used_parameters.insert(name.to_owned());
            return Ok(self.add_constant(*number));
        }
        if let Some(field) = catalog::find_field(name) {
            return Ok(self.add_field(at, field, name));
        }
        if name == "true" || name == "false" {
            return Ok(self.constant_condition(name == "true"));
        }
        let call = catalog::find_function(name).map(|function| function.usage.to_owned());
        let call = call.or_else(|| catalog::find_pattern(name).map(|_| format!("{name}()")));
        Err(match call {
            Some(call) => RuleError::new(place.clone(), format!("`{name}` is a function: write {call}")),
            None => self.unknown_name_error(name, place),
        })
    }

    pub(crate) fn unknown_name_error(&self, name: &str, place: &Range<usize>) -> RuleError {
        let own: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        RuleError::new(place.clone(), format!("unknown name `{name}`: {}", suggest_name(name, &own)))
    }

    fn compile_pattern(
        &mut self,
        at: Scope<'_>,
        name: &str,
        arguments: &[PartId],
        name_place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let Some(definition) = catalog::find_pattern(name) else {
            if catalog::find_field(name).is_some() || self.parameters.contains_key(name) {
                let by = match arguments[..] {
                    [by] => self.lookback(at, by).ok().filter(|by| *by > 0),
                    _ => None,
                };
                let hint = match by {
                    Some(1) => format!("{name}[1] is the value of the previous candle"),
                    Some(by) => format!("{name}[{by}] is the value {by} candles ago"),
                    None => "remove the brackets".to_owned(),
                };
                let message = format!("`{name}` is not a function: {hint}");
                return Err(RuleError::new(name_place.clone(), message));
            }
            return Err(self.unknown_name_error(name, name_place));
        };
        if let Some(first) = arguments.first() {
            let message = format!("`{name}` takes no arguments: write {name}()");
            return Err(at.error(*first, message));
        }
        let elsewhere = |error: RuleError| RuleError { span: name_place.clone(), ..error };
        let tree = parse(definition).map_err(elsewhere)?;
        let before = std::mem::replace(&mut self.is_in_pattern, true);
        let value = self.compile_value(Scope { tree: &tree, ..at }, tree.root()).map_err(elsewhere);
        self.is_in_pattern = before;
        value
    }

    fn add_binary(
        &mut self,
        at: Scope<'_>,
        operator: Operator,
        (left, right): (PartId, PartId),
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let of = format!("`{}`", operator.sign());
        if matches!(operator, Operator::And | Operator::Or) {
            let (one, other) =
                (self.compile_condition(at, left, &of)?, self.compile_condition(at, right, &of)?);
            let binary = if operator == Operator::And { BinaryOp::And } else { BinaryOp::Or };
            return Ok(self.add_and_or(binary, one, other));
        }
        if operator == Operator::Equal {
            self.reject_boolean_comparison(at, left, right)?;
            self.reject_boolean_comparison(at, right, left)?;
        }
        let (one, other) = (self.compile_number(at, left, &of)?, self.compile_number(at, right, &of)?);
        if operator.is_comparison() {
            self.record_compared_numbers(at, &[one, other]);
        }
        // `a > b` and `a >= b` become `b < a` and `b <= a`.
        let (binary, first, second) = match operator {
            Operator::Greater => (BinaryOp::Less, other, one),
            Operator::GreaterOrEqual => (BinaryOp::LessOrEqual, other, one),
            Operator::Less => (BinaryOp::Less, one, other),
            Operator::LessOrEqual => (BinaryOp::LessOrEqual, one, other),
            Operator::Equal => (BinaryOp::Equal, one, other),
            Operator::Unequal => (BinaryOp::Unequal, one, other),
            Operator::Add => (BinaryOp::Add, one, other),
            Operator::Subtract => (BinaryOp::Subtract, one, other),
            Operator::Multiply => (BinaryOp::Multiply, one, other),
            _ => (BinaryOp::Divide, one, other),
        };
        if let (Some(x), Some(y)) = (self.graph.constant(first), self.graph.constant(second)) {
            let result = binary.apply(x, y);
            if result.is_nan() {
                return Err(RuleError::new(
                    place.clone(),
                    "the expression has no value, because it divides by zero or is too large",
                ));
            }
            return Ok(if operator.is_comparison() {
                self.constant_condition(result == 1.0)
            } else {
                self.add_constant(result)
            });
        }
        let name = format!("{} {} {}", self.bracketed_name(one), operator.sign(), self.bracketed_name(other));
        if operator.is_comparison() {
            let id = self.add_comparison(binary, (first, second), name, at.interval_index);
            return Ok(Value::condition(id));
        }
        let op = Op::Binary(binary, first, second);
        Ok(Value::number(self.add_at(op, name, &[one, other], at.interval_index)))
    }

    pub(crate) fn record_compared_numbers(&mut self, at: Scope<'_>, numbers: &[Id]) {
        self.record_numbers_read(numbers);
        if at.interval_index == 0 && !self.is_in_pattern {
            record_numbers(&self.graph, numbers, &mut self.compared_numbers);
        }
    }

    pub(crate) fn record_numbers_read(&mut self, numbers: &[Id]) {
        if self.is_explaining && !self.is_in_pattern {
            record_numbers(&self.graph, numbers, &mut self.numbers_read);
        }
    }

    pub(crate) fn add_field(&mut self, at: Scope<'_>, field: Field, name: &str) -> Value {
        Value::number(self.graph.add(Op::Field(field), name.to_owned(), 1, at.interval_index))
    }
}

fn record_numbers(graph: &Graph, numbers: &[Id], noted: &mut Vec<Id>) {
    for number in numbers {
        if graph.constant(*number).is_none() && !noted.contains(number) {
            noted.push(*number);
        }
    }
}

fn stray_text_hint(text: &str) -> String {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let plain = text.to_lowercase();
    match DAYS.iter().position(|day| plain == *day || plain == day[..3]) {
        Some(day) => {
            let day = day + 1;
            format!("`weekday()` is a number from 1 (Monday) to 7 (Sunday): write {day}")
        }
        None => {
            "quoted text can only be a time or a time zone, as in between(\"08:00\", \"17:00\")".to_owned()
        }
    }
}

impl Compiler<'_> {
    pub(crate) fn add_constant(&mut self, number: f64) -> Value {
        // Converts -0.0 to 0.0.
        let number = if number == 0.0 { 0.0 } else { number };
        let id = self.graph.add(Op::Constant(number), number.to_string(), 0, 0);
        Value::number(id)
    }

    fn constant_condition(&mut self, holds: bool) -> Value {
        let number = f64::from(u8::from(holds));
        Value::condition(self.graph.add(Op::Constant(number), holds.to_string(), 0, 0))
    }

    fn add_unary_minus(&mut self, of: Id) -> Value {
        if let Some(number) = self.graph.constant(of) {
            return self.add_constant(-number);
        }
        let name = format!("-{}", self.bracketed_name(of));
        Value::number(self.add(Op::Negate(of), name, &[of]))
    }

    fn add_not(&mut self, of: Id) -> Value {
        if let Some(holds) = self.graph.constant(of) {
            return self.constant_condition(holds == 0.0);
        }
        let name = format!("not {}", self.bracketed_name(of));
        Value::condition(self.add(Op::Not(of), name, &[of]))
    }

    pub(crate) fn add_and_or(&mut self, binary: BinaryOp, one: Id, other: Id) -> Value {
        let decides = if binary == BinaryOp::And { 0.0 } else { 1.0 };
        for (this, that) in [(one, other), (other, one)] {
            match self.graph.constant(this) {
                Some(holds) if holds == decides => return Value::condition(this),
                Some(_) => return Value::condition(that),
                None => {}
            }
        }
        let sign = if binary == BinaryOp::And { "and" } else { "or" };
        let name = format!("{} {sign} {}", self.bracketed_name(one), self.bracketed_name(other));
        Value::condition(self.add(Op::Binary(binary, one, other), name, &[one, other]))
    }

    pub(crate) fn add_lookback(&mut self, of: Id, by: usize, interval_index: usize) -> Id {
        if by == 0 {
            return of;
        }
        let name = format!("{}[{by}]", self.bracketed_name(of));
        let warm = self.graph.node(of).warmup_candles.max(1);
        self.graph.add(Op::Back(of, by), name, warm + by, interval_index)
    }

    pub(crate) fn add(&mut self, op: Op, name: String, parts: &[Id]) -> Id {
        let index = parts.iter().map(|part| self.graph.node(*part).interval_index).max().unwrap_or_default();
        self.add_at(op, name, parts, index)
    }

    pub(crate) fn add_at(&mut self, op: Op, name: String, parts: &[Id], interval_index: usize) -> Id {
        let warm = parts.iter().map(|part| self.graph.node(*part).warmup_candles).max().unwrap_or_default();
        self.graph.add(op, name, warm, interval_index)
    }

    /// Returns the name of a value, in parentheses if the name contains an operator.
    pub(crate) fn bracketed_name(&self, id: Id) -> String {
        let node = self.graph.node(id);
        let is_call = node.name.ends_with(')') && !node.name.starts_with('(') && !node.name.contains(") ");
        match node.op {
            Op::Binary(..) | Op::Negate(_) | Op::Not(_) if !is_call => format!("({})", node.name),
            Op::Constant(number) if number < 0.0 => format!("({})", node.name),
            _ => node.name.clone(),
        }
    }
}

impl BinaryOp {
    /// Applies the operator. NaN (a missing number or an unknown condition) propagates, unless the other operand alone
    /// decides the result. Infinite results become NaN.
    #[inline]
    pub(crate) fn apply(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Add => finite_or_nan(one + other),
            Self::Subtract => finite_or_nan(one - other),
            Self::Multiply => finite_or_nan(one * other),
            Self::Divide => finite_or_nan(one / other),
            Self::Min => pick_or_nan(one, other, one < other),
            Self::Max => pick_or_nan(one, other, one > other),
            Self::Less => condition_or_nan(one, other, one < other),
            Self::LessOrEqual => condition_or_nan(one, other, one <= other),
            Self::Equal => condition_or_nan(one, other, one == other),
            Self::Unequal => condition_or_nan(one, other, one != other),
            // The result is 0 if either side is 0. Otherwise NaN propagates.
            Self::And if one == 0.0 || other == 0.0 => 0.0,
            Self::And => one * other,
            Self::Or if one == 1.0 || other == 1.0 => 1.0,
            Self::Or => one + other,
        }
    }
}

#[inline]
fn finite_or_nan(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::NAN }
}

#[inline]
fn condition_or_nan(one: f64, other: f64, holds: bool) -> f64 {
    if one.is_nan() || other.is_nan() { f64::NAN } else { f64::from(u8::from(holds)) }
}

#[inline]
fn pick_or_nan(one: f64, other: f64, picks_one: bool) -> f64 {
    if one.is_nan() || other.is_nan() {
        f64::NAN
    } else if picks_one {
        one
    } else {
        other
    }
}
