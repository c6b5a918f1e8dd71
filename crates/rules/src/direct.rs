//! Rules with indicators compiled into the loop over candles, as in a strategy in Rust.
//!
//! A generic step costs as much as an indicator itself. Most rules use one or two indicators of the candle: these
//! are monomorphized into the loop, and only the rest remains a list of steps.

use crate::columns::Columns;
use crate::indicator::{ByCandle, ByNumber, Indicator};
use crate::instruction;
use crate::instruction::{Instruction, Instructions};
use crate::program::{Few, Place, Slots};
use crate::step::{Action, Order, Step};
use crate::strategy::Answers;
use candlewick_sdk::indicator::{Adx, Atr, Bollinger, Donchian, Ema, Macd, Rsi, Sma, Stochastic, ZScore};
use candlewick_sdk::{AnswersTogether, Candle, CandleAnswers, Expiry, Interval, Signal, Strategy, Together};

struct Direct<H> {
    head: H,
    tail: Tail,
    values: Few,
    columns: Columns,
    reached: Box<[u64]>,
    /// Result of [`Decision::needed`](crate::condition::Decision::needed).
    needed: Option<[(u8, u8); 2]>,
    interval: Interval,
    answers: Answers,
}

/// Indicators that are computed first, inlined into the loop.
trait Head: Send {
    fn take(&mut self, candle: &Candle, values: &mut Few);

    fn take_together(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut Few);
}

enum Tail {
    Nothing,
    Order(Order, Place),
    Instructions(Box<[Instruction]>),
    Parts(Box<[Part]>),
}

enum Part {
    Instructions(Box<[Instruction]>),
    Step(Step),
}

struct OfPrice<I> {
    indicator: I,
    of: u8,
    out: u8,
}

struct OfCandle<I> {
    indicator: I,
    out: u8,
}

struct TwoAverages {
    one: OfPrice<Ema>,
    other: OfPrice<Ema>,
}

impl Head for () {
    #[inline]
    fn take(&mut self, _: &Candle, _: &mut Few) {}

    fn take_together(&mut self, _: &[Candle], _: &mut Columns, _: &mut Few) {}
}

impl<I: ByNumber + Send> Head for OfPrice<I> {
    #[inline]
    fn take(&mut self, _: &Candle, values: &mut Few) {
        let lines = self.indicator.lines(values.of(self.of));
        put_all(values, self.out, lines.as_ref());
    }

    fn take_together(&mut self, _: &[Candle], columns: &mut Columns, values: &mut Few) {
        columns.by_number(&mut self.indicator, Place::from(self.of), Place::from(self.out), values);
    }
}

impl<I: ByCandle + Send> Head for OfCandle<I> {
    #[inline]
    fn take(&mut self, candle: &Candle, values: &mut Few) {
        let lines = self.indicator.lines(candle);
        put_all(values, self.out, lines.as_ref());
    }

    fn take_together(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut Few) {
        columns.by_candle(&mut self.indicator, candles, Place::from(self.out), values);
    }
}

impl<One: Head, Other: Head> Head for (One, Other) {
    #[inline]
    fn take(&mut self, candle: &Candle, values: &mut Few) {
        self.0.take(candle, values);
        self.1.take(candle, values);
    }

    fn take_together(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut Few) {
        self.0.take_together(candles, columns, values);
        self.1.take_together(candles, columns, values);
    }
}

impl Head for TwoAverages {
    #[inline]
    fn take(&mut self, candle: &Candle, values: &mut Few) {
        self.one.take(candle, values);
        self.other.take(candle, values);
    }

    fn take_together(&mut self, _: &[Candle], columns: &mut Columns, values: &mut Few) {
        let Self { one, other } = self;
        let outs = [one.out, other.out].map(Place::from);
        columns.two_averages([&mut one.indicator, &mut other.indicator], Place::from(one.of), outs, values);
    }
}

#[inline]
fn put_all(values: &mut Few, out: u8, lines: &[f64]) {
    lines.iter().enumerate().for_each(|(line, value)| values.put(Place::from(out) + line, *value));
}

impl Tail {
    /// Values that no step uses store the state of plain instructions.
    fn of(steps: Vec<Step>, values: &mut Few) -> Self {
        if let [Step { action: Action::Order(order), out }] = steps[..] {
            return Self::Order(order, out);
        }
        let mut parts = Vec::new();
        let mut plain = Instructions::new(values);
        let ended = |made: &mut Vec<Instruction>| Part::Instructions(std::mem::take(made).into());
        for step in steps {
            if !plain.add(&step) {
                if !plain.made.is_empty() {
                    parts.push(ended(&mut plain.made));
                }
                parts.push(Part::Step(step));
            }
        }
        let last = plain.made;
        match (parts.is_empty(), last.is_empty()) {
            (true, true) => Self::Nothing,
            (true, false) => Self::Instructions(last.into()),
            (false, true) => Self::Parts(parts.into()),
            (false, false) => {
                Self::Parts(parts.into_iter().chain([Part::Instructions(last.into())]).collect())
            }
        }
    }

    #[inline]
    fn take(&mut self, candle: &Candle, interval: Interval, values: &mut Few) {
        match self {
            Self::Nothing => {}
            Self::Order(order, out) => order.take(candle, *out, values),
            Self::Instructions(instructions) => instruction::run(instructions, values),
            Self::Parts(parts) => take_all(parts, candle, interval, values),
        }
    }

    fn take_together(
        &mut self,
        candles: &[Candle],
        interval: Interval,
        columns: &mut Columns,
        values: &mut Few,
    ) {
        match self {
            Self::Nothing => {}
            Self::Order(order, out) => columns.order(order.numbers(), *out, values),
            Self::Instructions(instructions) => instruction::run_together(instructions, columns, values),
            Self::Parts(parts) => {
                for part in parts {
                    match part {
                        Part::Instructions(made) => instruction::run_together(made, columns, values),
                        Part::Step(step) => step.take_together(candles, interval, columns, values),
                    }
                }
            }
        }
    }
}

/// A separate function, shared by all heads.
#[inline(never)]
fn take_all(parts: &mut [Part], candle: &Candle, interval: Interval, values: &mut Few) {
    for part in parts {
        match part {
            Part::Instructions(instructions) => instruction::run(instructions, values),
            Part::Step(step) => step.take(candle, interval, values),
        }
    }
}

impl<H: Head> Strategy for Direct<H> {
    fn warmup(&self) -> usize {
        self.answers.warmup
    }

    // The body of the loop over candles: see docs/performance.md.
    #[allow(clippy::inline_always, reason = "left to itself the compiler calls it for each candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let values = &mut self.values;
        values.begin(candle);
        self.head.take(candle, values);
        self.tail.take(candle, self.interval, values);
        if let Some([(one, than), (other, than_other)]) = self.needed
            && !(values.of(one) < values.of(than) || values.of(other) < values.of(than_other))
        {
            return None;
        }
        self.answers.at(values.all())
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![self.answers.expiry]
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.answers.shown(self.values.all())
    }
}

#[expect(
    unsafe_code,
    reason = "a value at a candle is made of those at this candle and before it alone: tests/quickest.rs"
)]
// SAFETY: each step fills a column in the order of the candles, from places of other columns that are not behind the one it fills.
unsafe impl<H: Head> AnswersTogether for Direct<H> {
    fn answer_together(&mut self, candles: &[Candle], answers: &mut CandleAnswers) {
        let Self { head, tail, values, columns, reached, interval, answers: own, .. } = self;
        columns.begin(candles);
        head.take_together(candles, columns, values);
        tail.take_together(candles, *interval, columns, values);
        if let Some(last) = candles.last() {
            values.begin(last);
        }
        own.together(candles, columns, reached, answers);
    }
}

enum Taken {
    Rsi(OfPrice<Rsi>),
    Ema(OfPrice<Ema>),
    Sma(OfPrice<Sma>),
    ZScore(OfPrice<ZScore>),
    Macd(OfPrice<Macd>),
    Bollinger(OfPrice<Bollinger>),
    Donchian(OfCandle<Donchian>),
    Stochastic(OfCandle<Stochastic>),
    Adx(OfCandle<Adx>),
    Atr(OfCandle<Atr>),
}

impl Taken {
    /// Removes the first such step, which depends only on the candle and so may run before all others.
    fn first(steps: &mut Vec<Step>) -> Option<Self> {
        let place = steps.iter().position(|step| Self::of(step).is_some())?;
        Self::of(&steps.remove(place))
    }

    fn of(step: &Step) -> Option<Self> {
        let out = step.out as u8;
        Some(match &step.action {
            Action::Rsi(rsi, of) => Self::Rsi(OfPrice::of(&**rsi, *of, out)?),
            Action::Ema(ema, of) => Self::Ema(OfPrice::of(&**ema, *of, out)?),
            Action::Sma(sma, of) => Self::Sma(OfPrice::of(&**sma, *of, out)?),
            Action::Macd(macd, of) => Self::Macd(OfPrice::of(&**macd, *of, out)?),
            Action::Bollinger(bands, of) => Self::Bollinger(OfPrice::of(&**bands, *of, out)?),
            Action::OfNumber(indicator, of) => match &**indicator {
                Indicator::ZScore(score) => Self::ZScore(OfPrice::of(score, *of, out)?),
                _ => return None,
            },
            Action::OfCandle(indicator) => match &**indicator {
                Indicator::Donchian(donchian) => {
                    Self::Donchian(OfCandle { indicator: donchian.clone(), out })
                }
                Indicator::Stochastic(lines) => Self::Stochastic(OfCandle { indicator: lines.clone(), out }),
                Indicator::Adx(adx) => Self::Adx(OfCandle { indicator: adx.clone(), out }),
                Indicator::Atr(atr) => Self::Atr(OfCandle { indicator: atr.clone(), out }),
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl<I: Clone> OfPrice<I> {
    fn of(indicator: &I, of: Place, out: u8) -> Option<Self> {
        Few::is_price(of).then(|| Self { indicator: indicator.clone(), of: of as u8, out })
    }
}

pub(crate) fn strategy(
    interval: Interval,
    mut steps: Vec<Step>,
    values: Few,
    answers: Answers,
) -> Box<dyn Strategy> {
    let one = Taken::first(&mut steps);
    let mut rest = steps.clone();
    let other = Taken::first(&mut rest);
    let alone = Rest { steps, values, interval, answers };
    let both = |alone: Rest| Rest { steps: rest, ..alone };
    match (one, other) {
        (None, _) => alone.with(()),
        (Some(Taken::Ema(one)), Some(Taken::Ema(other))) if one.of == other.of => {
            both(alone).with(TwoAverages { one, other })
        }
        (Some(Taken::Ema(one)), Some(Taken::Ema(other))) => both(alone).with((one, other)),
        (Some(Taken::Sma(one)), Some(Taken::Sma(other))) => both(alone).with((one, other)),
        (Some(Taken::Rsi(one)), Some(Taken::Sma(other))) => both(alone).with((one, other)),
        (Some(Taken::Rsi(one)), Some(Taken::Ema(other))) => both(alone).with((one, other)),
        (Some(Taken::Stochastic(one)), Some(Taken::Adx(other))) => both(alone).with((one, other)),
        (Some(Taken::Rsi(one)), _) => alone.with(one),
        (Some(Taken::Ema(one)), _) => alone.with(one),
        (Some(Taken::Sma(one)), _) => alone.with(one),
        (Some(Taken::ZScore(one)), _) => alone.with(one),
        (Some(Taken::Macd(one)), _) => alone.with(one),
        (Some(Taken::Bollinger(one)), _) => alone.with(one),
        (Some(Taken::Donchian(one)), _) => alone.with(one),
        (Some(Taken::Stochastic(one)), _) => alone.with(one),
        (Some(Taken::Adx(one)), _) => alone.with(one),
        (Some(Taken::Atr(one)), _) => alone.with(one),
    }
}

struct Rest {
    steps: Vec<Step>,
    values: Few,
    interval: Interval,
    answers: Answers,
}

impl Rest {
    fn with<H: Head + 'static>(self, head: H) -> Box<dyn Strategy> {
        let Self { steps, mut values, interval, answers } = self;
        // Places of few values.
        let needed = answers.decision.needed();
        let needed = needed.map(|needed| needed.map(|(one, than)| (one as u8, than as u8)));
        let tail = Tail::of(steps, &mut values);
        let (columns, reached) = (Columns::of(&values), vec![0; answers.decision.places()].into());
        Box::new(Together::new(Direct { head, tail, values, columns, reached, needed, interval, answers }))
    }
}
