//! Compiler for function calls, indicator lines and values of longer candles.

use crate::catalog::{Argument, Function};
use crate::compile::{Compiler, Scope, Value};
use crate::graph::{BinaryOp, Field, Id, Op, TimePart};
use crate::indicator::Indicator;
use crate::syntax::{Form, PartId, Tree};
use crate::{RuleError, catalog};
use candlewick_engine::{EngineError, Hours, LocalClock, TradingWindow};
use candlewick_sdk::{Interval, Millis, Resampler, suggest};
use std::ops::Range;

const DEFAULT_SINCE_CANDLES: usize = 500;
const MAX_PERIOD: usize = 100_000;
const MAX_COUNTED_CANDLES: usize = 10_000;

impl Compiler<'_> {
    pub(crate) fn compile_call(
        &mut self,
        at: Scope<'_>,
        function: &'static Function,
        arguments: &[PartId],
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        check_arity(function, arguments, place)?;
        let number = |id| Ok(Value::number(id));
        match function.name {
            "abs" => {
                let of = self.compile_number(at, arguments[0], "`abs`")?;
                if let Some(constant) = self.graph.constant(of) {
                    return Ok(self.add_constant(constant.abs()));
                }
                let name = format!("abs({})", self.name(of));
                number(self.add(Op::Abs(of), name, &[of]))
            }
            "min" => self.add_min_max(at, BinaryOp::Min, arguments),
            "max" => self.add_min_max(at, BinaryOp::Max, arguments),
            "change" => {
                let of = self.compile_number(at, arguments[0], "`change`")?;
                let by = self.period_or_default(at, arguments.get(1), 1)?;
                let before = self.add_lookback(of, by, at.interval_index);
                let name = self.call_name("change", of, (by != 1).then_some(by));
                number(self.add(Op::Binary(BinaryOp::Subtract, of, before), name, &[of, before]))
            }
            "body" => Ok(self.add_field(at, Field::Body, "body()")),
            "range" => Ok(self.add_field(at, Field::Range, "range()")),
            "upper_wick" => Ok(self.add_field(at, Field::UpperWick, "upper_wick()")),
            "lower_wick" => Ok(self.add_field(at, Field::LowerWick, "lower_wick()")),
            "crosses_above" => self.add_crossing(at, true, arguments),
            "crosses_below" => self.add_crossing(at, false, arguments),
            "rising" | "falling" => self.add_trend(at, function.name, arguments),
            "since" => {
                let of = self.compile_condition(at, arguments[0], "`since`")?;
                let within = self.period_or_default(at, arguments.get(1), DEFAULT_SINCE_CANDLES)?;
                let name = self.call_name("since", of, (arguments.len() > 1).then_some(within));
                let warm = self.graph.node(of).warmup_candles.max(1) + within;
                number(self.graph.add(Op::Since { of, within }, name, warm, at.interval_index))
            }
            "count" => {
                let of = self.compile_condition(at, arguments[0], "`count`")?;
                let among = self.period_or_default(at, arguments.get(1), 1)?;
                number(self.add_count(of, among, at.interval_index))
            }
            "hour" => number(self.add_time(at, TimePart::Hour, "hour", arguments)?),
            "minute" => number(self.add_time(at, TimePart::Minute, "minute", arguments)?),
            "weekday" => number(self.add_time(at, TimePart::Weekday, "weekday", arguments)?),
            "between" => self.add_between(at, arguments, place),
            _ => number(self.compile_indicator(at, function, arguments, place)?.0),
        }
    }

    fn add_between(
        &mut self,
        at: Scope<'_>,
        parts: &[PartId],
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let (from, to) = (parse_time(at, parts[0])?, parse_time(at, parts[1])?);
        if from == to {
            let message = "both times are the same: use two different times";
            return Err(RuleError::new(place.clone(), message));
        }
        if self.is_explaining {
            let zone = parts.get(2..).unwrap_or_default();
            let hour = self.add_time(at, TimePart::Hour, "hour", zone)?;
            let minute = self.add_time(at, TimePart::Minute, "minute", zone)?;
            self.record_numbers_read(&[hour, minute]);
        }
        let times = format!("\"{}\", \"{}\"", format_time(from), format_time(to));
        let (op, name) = match parts.get(2) {
            None => (Op::Between(from, to), format!("between({times})")),
            Some(zone) => {
                let (window, zone) = parse_window(at, (from, to), *zone)?;
                (Op::InHours(Box::new(window)), format!("between({times}, \"{zone}\")"))
            }
        };
        Ok(Value::condition(self.graph.add(op, name, 1, at.interval_index)))
    }

    pub(crate) fn compile_indicator(
        &mut self,
        at: Scope<'_>,
        function: &'static Function,
        arguments: &[PartId],
        place: &Range<usize>,
    ) -> Result<(Id, String), RuleError> {
        check_arity(function, arguments, place)?;
        let (mut settings, mut words, mut of) = (Vec::new(), Vec::new(), None);
        for (kind, argument) in function.arguments.iter().zip(arguments) {
            match kind {
                Argument::Period => {
                    let period = match self.whole_number(at, *argument, (1, MAX_PERIOD), "the period") {
                        Ok(period) => period,
                        Err(error) => {
                            return Err(self.swap_error(at, function, arguments, place).unwrap_or(error));
                        }
                    };
                    settings.push(period as f64);
                    words.push(period.to_string());
                }
                Argument::Time => {
                    let time = parse_time(at, *argument)?;
                    settings.push(time as f64);
                    words.push(format!("\"{}\"", format_time(time)));
                }
                Argument::Source => {
                    let source = self.compile_number(at, *argument, &format!("`{}`", function.name))?;
                    if let Some(number) = self.graph.constant(source) {
                        return Err(self.constant_error(function, number, &at.tree.part(*argument).span));
                    }
                    of = Some(source);
                    words.extend((self.name(source) != "close").then(|| self.name(source)));
                }
                _ => {
                    let number =
                        self.fixed_number(at, *argument, &format!("a setting of `{}`", function.name))?;
                    settings.push(number);
                    words.push(number.to_string());
                }
            }
        }
        let name = format!("{}({})", function.name, words.join(", "));
        let made = Indicator::new(function.name, &settings);
        let made = made.map_err(|error| RuleError::new(place.clone(), error.to_string()))?;
        let Some(indicator) = made else { return Err(self.unknown_name_error(function.name, place)) };
        if function.arguments.contains(&Argument::Source) && of.is_none() {
            of = Some(self.graph.add(Op::Field(Field::Close), "close".to_owned(), 1, at.interval_index));
        }
        let source_warm = of.map_or(1, |of| self.graph.node(of).warmup_candles.max(1));
        let warm = source_warm - 1 + indicator.warmup(self.graph.intervals()[at.interval_index]);
        // This name must differ from the name of the main line.
        let own = if indicator.line_count() == 1 { name.clone() } else { format!("{name}.*") };
        let op = Op::Indicator { indicator: Box::new(indicator), of };
        Ok((self.graph.add(op, own, warm, at.interval_index), name))
    }

    /// Builds the error for swapped arguments, such as `rsi(close, 7)`. `None` if the arguments are not swapped.
    fn swap_error(
        &mut self,
        at: Scope<'_>,
        function: &Function,
        arguments: &[PartId],
        place: &Range<usize>,
    ) -> Option<RuleError> {
        let ([of, period], [Argument::Period, Argument::Source]) = (arguments, function.arguments) else {
            return None;
        };
        let value = self.compile_number(at, *of, "").ok()?;
        let number = self.fixed_number(at, *period, "").ok()?;
        self.graph.constant(value).is_none().then(|| {
            let period = match &at.tree.part(*period).form {
                Form::Name(name) => name.clone(),
                _ => number.to_string(),
            };
            let of = Some(self.name(value)).filter(|name| name != "close");
            let of = of.map_or(String::new(), |of| format!(", {of}"));
            let message = format!("the period comes first: write {}({period}{of})", function.name);
            RuleError::new(place.clone(), message)
        })
    }

    /// Builds the error for a constant where a series is required, such as `ema(100, 60)`.
    fn constant_error(&self, function: &Function, number: f64, place: &Range<usize>) -> RuleError {
        let own = self.graph.intervals()[0];
        let minutes = Interval::from_seconds((number * 60.0) as i64).ok().filter(|longer| *longer > own);
        let longer = minutes.map_or("1h".to_owned(), |longer| longer.to_string());
        let message = format!(
            "`{}` takes a series such as high, not {number}: omit {number} to use the close, and append @{longer} \
             to use {longer} candles",
            function.name
        );
        RuleError::new(place.clone(), message)
    }

    fn add_min_max(&mut self, at: Scope<'_>, binary: BinaryOp, parts: &[PartId]) -> Result<Value, RuleError> {
        let word = if binary == BinaryOp::Min { "min" } else { "max" };
        let of = format!("`{word}`");
        let (one, other) = (self.compile_number(at, parts[0], &of)?, self.compile_number(at, parts[1], &of)?);
        if let (Some(x), Some(y)) = (self.graph.constant(one), self.graph.constant(other)) {
            return Ok(self.add_constant(binary.apply(x, y)));
        }
        let name = format!("{word}({}, {})", self.name(one), self.name(other));
        Ok(Value::number(self.add(Op::Binary(binary, one, other), name, &[one, other])))
    }

    fn add_crossing(&mut self, at: Scope<'_>, is_above: bool, parts: &[PartId]) -> Result<Value, RuleError> {
        let word = if is_above { "crosses_above" } else { "crosses_below" };
        let of = format!("`{word}`");
        let (one, other) = (self.compile_number(at, parts[0], &of)?, self.compile_number(at, parts[1], &of)?);
        self.record_compared_numbers(at, &[one, other]);
        let name = format!("{word}({}, {})", self.name(one), self.name(other));
        let warm = self.graph.node(one).warmup_candles.max(self.graph.node(other).warmup_candles).max(1) + 1;
        // This name cannot equal another name, because it is not a valid expression.
        let order = format!("comparison of {} with {}", self.name(one), self.name(other));
        let order = self.graph.add(Op::TrackedComparison(one, other), order, warm, at.interval_index);
        let op = Op::Crosses { is_above, order };
        Ok(Value::condition(self.graph.add(op, name, warm, at.interval_index)))
    }

    fn add_trend(&mut self, at: Scope<'_>, word: &str, arguments: &[PartId]) -> Result<Value, RuleError> {
        let of = self.compile_number(at, arguments[0], &format!("`{word}`"))?;
        let among = self.period_or_default(at, arguments.get(1), 1)?;
        let before = self.add_lookback(of, 1, at.interval_index);
        self.record_numbers_read(&[of, before]);
        let ((less, more), sign) = if word == "rising" { ((before, of), ">") } else { ((of, before), "<") };
        let name = format!("{} {sign} {}", self.bracketed_name(of), self.bracketed_name(before));
        let step = self.add_comparison(BinaryOp::Less, (less, more), name, at.interval_index);
        let count = self.add_count(step, among, at.interval_index);
        let all = self.add_constant(among as f64).id;
        let name = self.call_name(word, of, Some(among));
        let id = self.add(Op::Binary(BinaryOp::Equal, count, all), name, &[count]);
        Ok(Value::condition(id))
    }

    fn add_count(&mut self, of: Id, among: usize, interval_index: usize) -> Id {
        let name = self.call_name("count", of, Some(among));
        let warm = self.graph.node(of).warmup_candles.max(1) + among - 1;
        self.graph.add(Op::Count { of, among }, name, warm, interval_index)
    }

    fn add_time(
        &mut self,
        at: Scope<'_>,
        part: TimePart,
        name: &str,
        zone: &[PartId],
    ) -> Result<Id, RuleError> {
        let (op, name) = match zone.first() {
            None => (Op::Clock(part), format!("{name}()")),
            Some(zone) => {
                let (zone, place) = parse_zone(at, *zone)?;
                let local = LocalClock::new(zone, name).map_err(|error| time_setting_error(error, place))?;
                (Op::LocalClock(part, local), format!("{name}(\"{zone}\")"))
            }
        };
        Ok(self.graph.add(op, name, 1, at.interval_index))
    }

    fn period_or_default(
        &mut self,
        at: Scope<'_>,
        argument: Option<&PartId>,
        otherwise: usize,
    ) -> Result<usize, RuleError> {
        argument.map_or(Ok(otherwise), |argument| {
            self.whole_number(at, *argument, (1, MAX_COUNTED_CANDLES), "the number of candles")
        })
    }

    fn name(&self, id: Id) -> String {
        self.graph.node(id).name.clone()
    }

    fn call_name(&self, function: &str, of: Id, count: Option<usize>) -> String {
        let count = count.map_or_else(String::new, |count| format!(", {count}"));
        format!("{function}({}{count})", self.name(of))
    }
}

fn check_arity(function: &Function, arguments: &[PartId], place: &Range<usize>) -> Result<(), RuleError> {
    let most = function.arguments.len();
    let least = most - function.optional_count;
    if (least..=most).contains(&arguments.len()) {
        return Ok(());
    }
    let count = match (least, most) {
        (_, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{most} arguments"),
        (least, most) => format!("{least} or {most} arguments"),
    };
    let message =
        format!("`{}` takes {count}, not {}: write {}", function.name, arguments.len(), function.usage);
    Err(RuleError::new(place.clone(), message))
}

/// Parses the time `"HH:MM"` or `"H:MM"` into milliseconds since midnight.
fn parse_time(at: Scope<'_>, id: PartId) -> Result<i64, RuleError> {
    let part = at.tree.part(id);
    let wrong =
        || RuleError::new(part.span.clone(), "write the time of day as 'HH:MM', such as '08:00' or '17:30'");
    let Form::Text(text) = &part.form else { return Err(wrong()) };
    let digits = |digits: &str, least: usize| {
        let are_digits = digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse::<i64>().ok();
        number.filter(|_| are_digits && (least..=2).contains(&digits.len()))
    };
    // As in the trading hours of the `[risk]` section, 8:00 means 08:00.
    let (hours, minutes) = text.split_once(':').ok_or_else(wrong)?;
    let (hours, minutes) = digits(hours, 1).zip(digits(minutes, 2)).ok_or_else(wrong)?;
    let time = hours * Millis::HOUR.get() + minutes * Millis::MINUTE.get();
    if minutes < 60 && time <= Millis::DAY.get() { Ok(time) } else { Err(wrong()) }
}

fn parse_window(
    at: Scope<'_>,
    (from, to): (i64, i64),
    zone: PartId,
) -> Result<(TradingWindow, String), RuleError> {
    let (zone, place) = parse_zone(at, zone)?;
    // The end of a day is written as midnight of the next day.
    let clock = |time: i64| format_time(time % Millis::DAY.get());
    let hours = Hours { days: Vec::new(), from: clock(from), to: clock(to), timezone: zone.to_owned() };
    let window = TradingWindow::new(&hours, "between").map_err(|error| time_setting_error(error, place))?;
    Ok((window, hours.timezone))
}

fn parse_zone(at: Scope<'_>, zone: PartId) -> Result<(&str, &Range<usize>), RuleError> {
    let part = at.tree.part(zone);
    let Form::Text(zone) = &part.form else {
        let message = "write the time zone in quotes as an IANA name, such as \"Europe/London\"";
        return Err(RuleError::new(part.span.clone(), message));
    };
    Ok((zone, &part.span))
}

fn time_setting_error(error: EngineError, place: &Range<usize>) -> RuleError {
    let problem = match error {
        EngineError::Setting { problem, .. } => problem,
        other => other.to_string(),
    };
    RuleError::new(place.clone(), problem)
}

fn format_time(time: i64) -> String {
    let minutes = time / Millis::MINUTE.get();
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

const MAX_LONGER_INTERVALS: usize = 8;

impl Compiler<'_> {
    pub(crate) fn compile_named_line(
        &mut self,
        at: Scope<'_>,
        of: PartId,
        name: &str,
        name_place: &Range<usize>,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let part = at.tree.part(of);
        let Some(function) = callee(at.tree, of).filter(|function| !function.lines.is_empty()) else {
            if let Form::Call { name, name_place, .. } = &part.form
                && catalog::find_function(name).is_none()
                && catalog::find_pattern(name).is_none()
            {
                return Err(self.unknown_name_error(name, name_place));
            }
            let message = match &part.form {
                Form::Back { .. } | Form::At { .. } => {
                    format!("write .{name} directly after the indicator, as in donchian(20).upper[1]")
                }
                _ => "a dot can only follow an indicator with several lines, such as macd(12, 26, 9).signal"
                    .to_owned(),
            };
            return Err(RuleError::new(name_place.clone(), message));
        };
        let Some(line) = function.lines.iter().position(|line| *line == name) else {
            let near = suggest(name, function.lines.iter().copied());
            let message = format!("`{}` has no line `{name}`; {near}", function.name);
            return Err(RuleError::new(name_place.clone(), message));
        };
        self.compile_line(at, of, Some(line), place)
    }

    pub(crate) fn compile_line(
        &mut self,
        at: Scope<'_>,
        call: PartId,
        line: Option<usize>,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let Form::Call { arguments, .. } = &at.tree.part(call).form else {
            return Err(self.unknown_name_error("", place));
        };
        let Some(function) = callee(at.tree, call) else { return Err(self.unknown_name_error("", place)) };
        let Some(line) = line else {
            let all: Vec<String> = function.lines.iter().map(|line| format!(".{line}")).collect();
            let message = format!("`{}` has several lines: add one of {}", function.name, all.join(", "));
            return Err(RuleError::new(place.clone(), message));
        };
        let call_place = &at.tree.part(call).span;
        let (of, name) = self.compile_indicator(at, function, arguments, call_place)?;
        let name =
            if function.main_line == Some(line) { name } else { format!("{name}.{}", function.lines[line]) };
        let warm = self.graph.node(of).warmup_candles;
        let id = self.graph.add(Op::Line(of, line), name, warm, at.interval_index);
        Ok(Value::number(id))
    }

    pub(crate) fn compile_at_interval(
        &mut self,
        at: Scope<'_>,
        of: PartId,
        text: &str,
        place: &Range<usize>,
    ) -> Result<Value, RuleError> {
        let wrong = |message: String| Err(RuleError::new(place.clone(), message));
        if at.interval_index != 0 {
            return wrong("intervals cannot be nested: remove one interval".to_owned());
        }
        let interval: Interval = match text.parse() {
            Ok(interval) => interval,
            Err(error) => {
                let hint = error.suggestion().map_or_else(
                    || "use a whole number and s, m, h or d, such as @5m or @1h".to_owned(),
                    |meant| format!("did you mean @{}?", meant.replace(", or ", ", or @")),
                );
                return wrong(format!("`{text}` is not an interval: {hint}"));
            }
        };
        let own = self.graph.intervals()[0];
        if interval == own {
            return self.compile_value(at, of);
        }
        if Resampler::new(own, interval).is_err() || interval < own {
            return wrong(format!(
                "cannot build {interval} candles from the bot's {own} candles: use a longer multiple of {own}"
            ));
        }
        let interval_index = self.graph.find_or_add_interval(interval);
        if interval_index > MAX_LONGER_INTERVALS {
            return wrong(format!("too many longer intervals: use at most {MAX_LONGER_INTERVALS}"));
        }
        let inner = self.compile_value(Scope { interval_index, ..at }, of)?;
        if self.graph.constant(inner.id).is_some() {
            return Ok(inner);
        }
        // One more longer candle: the first may be partial, and the last is visible on the candle after its close.
        let each = (interval.length().get() / own.length().get()) as usize;
        let warm = self.graph.node(inner.id).warmup_candles.saturating_add(1).saturating_mul(each);
        let name = format!("{}@{interval}", self.bracketed_name(inner.id));
        Ok(Value { id: self.graph.add(Op::Longer(inner.id), name, warm, 0), kind: inner.kind })
    }
}

fn callee(tree: &Tree, id: PartId) -> Option<&'static Function> {
    match &tree.part(id).form {
        Form::Call { name, .. } => catalog::find_function(name),
        _ => None,
    }
}
