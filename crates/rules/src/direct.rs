//! Fast form of rules. Indicators are inlined into the loop over candles, as in a strategy written in Rust.
//!
//! Dispatching a step costs as much as computing an indicator. Most rules use one or two indicators of candle prices.
//! Such indicators are monomorphized into the loop. All other steps stay in a list.

use crate::columns::Columns;
use crate::indicator::{CandleIndicator, Indicator, NumberIndicator};
use crate::instruction;
use crate::instruction::{Instruction, Instructions};
use crate::program::{InlineSlots, Slot, Slots};
use crate::step::{Action, Step, TrackedComparison};
use crate::strategy::RuleSet;
use candlewick_sdk::indicator::{Adx, Atr, Bollinger, Donchian, Ema, Macd, Rsi, Sma, Stochastic, ZScore};
use candlewick_sdk::{
    BatchAdapter, BatchStrategy, Candle, CandleAnswers, Expiry, Interval, Signal, Strategy,
};

struct InlinedRule<H> {
    head: H,
    tail: RemainingSteps,
    values: InlineSlots,
    columns: Columns,
    reached: Box<[u64]>,
    prefilter: Option<[(u8, u8); 2]>,
    interval: Interval,
    answers: RuleSet,
}

/// Indicators that are inlined into the loop over candles. They are computed before all other steps.
trait Head: Send {
    fn update(&mut self, candle: &Candle, values: &mut InlineSlots);

    fn update_batch(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut InlineSlots);
}

enum RemainingSteps {
    Nothing,
    TrackedComparison(TrackedComparison, Slot),
    Instructions(Box<[Instruction]>),
    Parts(Box<[TailPart]>),
}

enum TailPart {
    Instructions(Box<[Instruction]>),
    Step(Step),
}

struct PriceHead<I> {
    indicator: I,
    of: u8,
    out: u8,
}

struct CandleHead<I> {
    indicator: I,
    out: u8,
}

struct EmaPair {
    one: PriceHead<Ema>,
    other: PriceHead<Ema>,
}

impl Head for () {
    #[inline]
    fn update(&mut self, _: &Candle, _: &mut InlineSlots) {}

    fn update_batch(&mut self, _: &[Candle], _: &mut Columns, _: &mut InlineSlots) {}
}

impl<I: NumberIndicator + Send> Head for PriceHead<I> {
    #[inline]
    fn update(&mut self, _: &Candle, values: &mut InlineSlots) {
        let lines = self.indicator.update_lines(values.get(self.of));
        store_lines(values, self.out, lines.as_ref());
    }

    fn update_batch(&mut self, _: &[Candle], columns: &mut Columns, values: &mut InlineSlots) {
        columns.update_with_number(&mut self.indicator, Slot::from(self.of), Slot::from(self.out), values);
    }
}

impl<I: CandleIndicator + Send> Head for CandleHead<I> {
    #[inline]
    fn update(&mut self, candle: &Candle, values: &mut InlineSlots) {
        let lines = self.indicator.update_lines(candle);
        store_lines(values, self.out, lines.as_ref());
    }

    fn update_batch(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut InlineSlots) {
        columns.update_with_candle(&mut self.indicator, candles, Slot::from(self.out), values);
    }
}

impl<One: Head, Other: Head> Head for (One, Other) {
    #[inline]
    fn update(&mut self, candle: &Candle, values: &mut InlineSlots) {
        self.0.update(candle, values);
        self.1.update(candle, values);
    }

    fn update_batch(&mut self, candles: &[Candle], columns: &mut Columns, values: &mut InlineSlots) {
        self.0.update_batch(candles, columns, values);
        self.1.update_batch(candles, columns, values);
    }
}

impl Head for EmaPair {
    #[inline]
    fn update(&mut self, candle: &Candle, values: &mut InlineSlots) {
        self.one.update(candle, values);
        self.other.update(candle, values);
    }

    fn update_batch(&mut self, _: &[Candle], columns: &mut Columns, values: &mut InlineSlots) {
        let Self { one, other } = self;
        let outs = [one.out, other.out].map(Slot::from);
        columns.update_emas([&mut one.indicator, &mut other.indicator], Slot::from(one.of), outs, values);
    }
}

#[inline]
fn store_lines(values: &mut InlineSlots, out: u8, lines: &[f64]) {
    lines.iter().enumerate().for_each(|(line, value)| values.put(Slot::from(out) + line, *value));
}

impl RemainingSteps {
    /// Compiles the steps that are not inlined. Free slots of `values` store the state of instructions.
    fn build(steps: Vec<Step>, values: &mut InlineSlots) -> Self {
        if let [Step { action: Action::TrackedComparison(order), out }] = steps[..] {
            return Self::TrackedComparison(order, out);
        }
        let mut parts = Vec::new();
        let mut plain = Instructions::new(values);
        let ended = |made: &mut Vec<Instruction>| TailPart::Instructions(std::mem::take(made).into());
        for step in steps {
            if !plain.add(&step) {
                if !plain.instructions.is_empty() {
                    parts.push(ended(&mut plain.instructions));
                }
                parts.push(TailPart::Step(step));
            }
        }
        let last = plain.instructions;
        match (parts.is_empty(), last.is_empty()) {
            (true, true) => Self::Nothing,
            (true, false) => Self::Instructions(last.into()),
            (false, true) => Self::Parts(parts.into()),
            (false, false) => {
                Self::Parts(parts.into_iter().chain([TailPart::Instructions(last.into())]).collect())
            }
        }
    }

    #[inline]
    fn update(&mut self, candle: &Candle, interval: Interval, values: &mut InlineSlots) {
        match self {
            Self::Nothing => {}
            Self::TrackedComparison(order, out) => order.write(candle, *out, values),
            Self::Instructions(instructions) => instruction::run(instructions, values),
            Self::Parts(parts) => run_parts(parts, candle, interval, values),
        }
    }

    fn update_batch(
        &mut self,
        candles: &[Candle],
        interval: Interval,
        columns: &mut Columns,
        values: &mut InlineSlots,
    ) {
        match self {
            Self::Nothing => {}
            Self::TrackedComparison(order, out) => columns.compare_and_track(order.operands(), *out, values),
            Self::Instructions(instructions) => instruction::run_batch(instructions, columns, values),
            Self::Parts(parts) => {
                for part in parts {
                    match part {
                        TailPart::Instructions(made) => instruction::run_batch(made, columns, values),
                        TailPart::Step(step) => step.run_batch(candles, interval, columns, values),
                    }
                }
            }
        }
    }
}

/// Runs the parts in order. Not generic over the head, so that it is compiled only once.
#[inline(never)]
fn run_parts(parts: &mut [TailPart], candle: &Candle, interval: Interval, values: &mut InlineSlots) {
    for part in parts {
        match part {
            TailPart::Instructions(instructions) => instruction::run(instructions, values),
            TailPart::Step(step) => step.run(candle, interval, values),
        }
    }
}

impl<H: Head> Strategy for InlinedRule<H> {
    fn warmup(&self) -> usize {
        self.answers.warmup
    }

    // This is the body of the loop over candles (see docs/performance.md).
    #[allow(clippy::inline_always, reason = "the compiler would not inline it")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let values = &mut self.values;
        values.load_prices(candle);
        self.head.update(candle, values);
        self.tail.update(candle, self.interval, values);
        if let Some([(one, than), (other, than_other)]) = self.prefilter
            && !(values.get(one) < values.get(than) || values.get(other) < values.get(than_other))
        {
            return None;
        }
        self.answers.signal_at(values.as_slice())
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![self.answers.expiry]
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.answers.displayed_values(self.values.as_slice())
    }
}

#[expect(unsafe_code, reason = "a value depends only on its candle and earlier ones: tests/quickest.rs")]
// SAFETY: each step fills its column in candle order. It reads other columns only up to the current candle.
unsafe impl<H: Head> BatchStrategy for InlinedRule<H> {
    fn answer_batch(&mut self, candles: &[Candle], answers: &mut CandleAnswers) {
        let Self { head, tail, values, columns, reached, interval, answers: own, .. } = self;
        columns.load_prices(candles);
        head.update_batch(candles, columns, values);
        tail.update_batch(candles, *interval, columns, values);
        if let Some(last) = candles.last() {
            values.load_prices(last);
        }
        own.answer_batch(candles, columns, reached, answers);
    }
}

enum InlineHead {
    Rsi(PriceHead<Rsi>),
    Ema(PriceHead<Ema>),
    Sma(PriceHead<Sma>),
    ZScore(PriceHead<ZScore>),
    Macd(PriceHead<Macd>),
    Bollinger(PriceHead<Bollinger>),
    Donchian(CandleHead<Donchian>),
    Stochastic(CandleHead<Stochastic>),
    Adx(CandleHead<Adx>),
    Atr(CandleHead<Atr>),
}

impl InlineHead {
    /// Removes the first step that can be inlined. Such a step reads only the candle, so it can run before all others.
    fn take_first_inlinable(steps: &mut Vec<Step>) -> Option<Self> {
        let place = steps.iter().position(|step| Self::from_step(step).is_some())?;
        Self::from_step(&steps.remove(place))
    }

    fn from_step(step: &Step) -> Option<Self> {
        let out = step.out as u8;
        Some(match &step.action {
            Action::Rsi(rsi, of) => Self::Rsi(PriceHead::from_step(&**rsi, *of, out)?),
            Action::Ema(ema, of) => Self::Ema(PriceHead::from_step(&**ema, *of, out)?),
            Action::Sma(sma, of) => Self::Sma(PriceHead::from_step(&**sma, *of, out)?),
            Action::Macd(macd, of) => Self::Macd(PriceHead::from_step(&**macd, *of, out)?),
            Action::Bollinger(bands, of) => Self::Bollinger(PriceHead::from_step(&**bands, *of, out)?),
            Action::OfNumber(indicator, of) => match &**indicator {
                Indicator::ZScore(score) => Self::ZScore(PriceHead::from_step(score, *of, out)?),
                _ => return None,
            },
            Action::OfCandle(indicator) => match &**indicator {
                Indicator::Donchian(donchian) => {
                    Self::Donchian(CandleHead { indicator: donchian.clone(), out })
                }
                Indicator::Stochastic(lines) => {
                    Self::Stochastic(CandleHead { indicator: lines.clone(), out })
                }
                Indicator::Adx(adx) => Self::Adx(CandleHead { indicator: adx.clone(), out }),
                Indicator::Atr(atr) => Self::Atr(CandleHead { indicator: atr.clone(), out }),
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl<I: Clone> PriceHead<I> {
    fn from_step(indicator: &I, of: Slot, out: u8) -> Option<Self> {
        InlineSlots::is_price_slot(of).then(|| Self { indicator: indicator.clone(), of: of as u8, out })
    }
}

pub(crate) fn build_strategy(
    interval: Interval,
    mut steps: Vec<Step>,
    values: InlineSlots,
    answers: RuleSet,
) -> Box<dyn Strategy> {
    let one = InlineHead::take_first_inlinable(&mut steps);
    let mut rest = steps.clone();
    let other = InlineHead::take_first_inlinable(&mut rest);
    let alone = StrategyBuilder { steps, values, interval, answers };
    let both = |alone: StrategyBuilder| StrategyBuilder { steps: rest, ..alone };
    match (one, other) {
        (None, _) => alone.build(()),
        (Some(InlineHead::Ema(one)), Some(InlineHead::Ema(other))) if one.of == other.of => {
            both(alone).build(EmaPair { one, other })
        }
        (Some(InlineHead::Ema(one)), Some(InlineHead::Ema(other))) => both(alone).build((one, other)),
        (Some(InlineHead::Sma(one)), Some(InlineHead::Sma(other))) => both(alone).build((one, other)),
        (Some(InlineHead::Rsi(one)), Some(InlineHead::Sma(other))) => both(alone).build((one, other)),
        (Some(InlineHead::Rsi(one)), Some(InlineHead::Ema(other))) => both(alone).build((one, other)),
        (Some(InlineHead::Stochastic(one)), Some(InlineHead::Adx(other))) => both(alone).build((one, other)),
        (Some(InlineHead::Rsi(one)), _) => alone.build(one),
        (Some(InlineHead::Ema(one)), _) => alone.build(one),
        (Some(InlineHead::Sma(one)), _) => alone.build(one),
        (Some(InlineHead::ZScore(one)), _) => alone.build(one),
        (Some(InlineHead::Macd(one)), _) => alone.build(one),
        (Some(InlineHead::Bollinger(one)), _) => alone.build(one),
        (Some(InlineHead::Donchian(one)), _) => alone.build(one),
        (Some(InlineHead::Stochastic(one)), _) => alone.build(one),
        (Some(InlineHead::Adx(one)), _) => alone.build(one),
        (Some(InlineHead::Atr(one)), _) => alone.build(one),
    }
}

struct StrategyBuilder {
    steps: Vec<Step>,
    values: InlineSlots,
    interval: Interval,
    answers: RuleSet,
}

impl StrategyBuilder {
    fn build<H: Head + 'static>(self, head: H) -> Box<dyn Strategy> {
        let Self { steps, mut values, interval, answers } = self;
        let prefilter = answers.decision.prefilter();
        let prefilter = prefilter.map(|prefilter| prefilter.map(|(one, than)| (one as u8, than as u8)));
        let tail = RemainingSteps::build(steps, &mut values);
        let (columns, reached) = (Columns::new(&values), vec![0; answers.decision.scratch_len()].into());
        Box::new(BatchAdapter::new(InlinedRule {
            head,
            tail,
            values,
            columns,
            reached,
            prefilter,
            interval,
            answers,
        }))
    }
}
