//! Compilation of indicator lines and of values of longer candles.

use crate::RuleError;
use crate::catalog::{self, Function};
use crate::compile::{At, Compiler, Kind, Value};
use crate::graph::Op;
use crate::syntax::{Form, PartId, Tree};
use candlewick_sdk::{Interval, Resampler, suggest};
use std::ops::Range;

const MAX_LONGER: usize = 8;

impl Compiler<'_> {
    pub(crate) fn named_line(
        &mut self,
        at: At<'_>,
        of: PartId,
        name: &str,
        name_place: &Range<usize>,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let part = at.tree.part(of);
        let Some(function) = called(at.tree, of).filter(|function| !function.lines.is_empty()) else {
            if let Form::Call { name, name_place, .. } = &part.form
                && catalog::find(name).is_none()
                && catalog::find_pattern(name).is_none()
            {
                return Err(self.unknown(name, name_place));
            }
            let message = match &part.form {
                Form::Back { .. } | Form::At { .. } => {
                    format!("the line comes first, such as donchian(20).upper[1]: write .{name} before this")
                }
                _ => "only an indicator of several lines has a line behind a dot, such as macd(12, 26, 9).signal".to_owned(),
            };
            return Err(RuleError::new(name_place.clone(), message));
        };
        let Some(line) = function.lines.iter().position(|line| *line == name) else {
            let near = suggest(name, function.lines.iter().copied());
            let message = format!("`{}` has no line `{name}`; {near}", function.name);
            return Err(RuleError::new(name_place.clone(), message));
        };
        self.line(at, of, Some(line), place)
    }

    pub(crate) fn line(
        &mut self,
        at: At<'_>,
        call: PartId,
        line: Option<usize>,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let Form::Call { arguments, .. } = &at.tree.part(call).form else {
            return Err(self.unknown("", place));
        };
        let Some(function) = called(at.tree, call) else { return Err(self.unknown("", place)) };
        let Some(line) = line else {
            let all: Vec<String> = function.lines.iter().map(|line| format!(".{line}")).collect();
            let message = format!("`{}` has several lines: say which, {}", function.name, all.join(", "));
            return Err(RuleError::new(place.clone(), message));
        };
        let call_place = &at.tree.part(call).place;
        let (of, name) = self.indicator(at, function, arguments, call_place)?;
        let name =
            if function.main == Some(line) { name } else { format!("{name}.{}", function.lines[line]) };
        let warm = self.graph.node(of).warm_after;
        let id = self.graph.add(Op::Line(of, line), name, warm, at.candles);
        Ok(Value { id, kind: Kind::Number })
    }

    pub(crate) fn longer(
        &mut self,
        at: At<'_>,
        of: PartId,
        text: &str,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let wrong = |message: String| Err(RuleError::new(place.clone(), message));
        if at.candles != 0 {
            return wrong("an interval stands within another: name one of them".to_owned());
        }
        let interval: Interval = match text.parse() {
            Ok(interval) => interval,
            Err(error) => {
                let cure = error.meant().map_or_else(
                    || "use a whole number and s, m, h or d, such as @5m or @1h".to_owned(),
                    |meant| format!("did you mean @{}?", meant.replace(", or ", ", or @")),
                );
                return wrong(format!("`{text}` is no interval: {cure}"));
            }
        };
        let own = self.graph.intervals()[0];
        if interval == own {
            return self.value(at, of);
        }
        if Resampler::new(own, interval).is_err() || interval < own {
            return wrong(format!(
                "{interval} candles cannot be made of the bot's {own} candles: name a longer multiple of {own}"
            ));
        }
        let candles = self.graph.candles_of(interval);
        if candles > MAX_LONGER {
            return wrong(format!("a rule looks at no more than {MAX_LONGER} kinds of longer candles"));
        }
        let inner = self.value(At { candles, ..at }, of)?;
        if self.graph.constant(inner.id).is_some() {
            return Ok(inner);
        }
        // The first longer candle may be cut off, and the last is seen a candle after it has closed.
        let each = (interval.length().get() / own.length().get()) as usize;
        let warm = self.graph.node(inner.id).warm_after.saturating_add(1).saturating_mul(each);
        let name = format!("{}@{interval}", self.bracketed(inner.id));
        Ok(Value { id: self.graph.add(Op::Longer(inner.id), name, warm, 0), kind: inner.kind })
    }
}

fn called(tree: &Tree, id: PartId) -> Option<&'static Function> {
    match &tree.part(id).form {
        Form::Call { name, .. } => catalog::find(name),
        _ => None,
    }
}
