//! One step of a program, computed for a batch of candles.

use crate::columns::Columns;
use crate::graph::{Binary, Clock};
use crate::instruction::crosses;
use crate::program::{Few, Place};
use crate::step::{Action, Step, count, is_in_hours, replace_oldest};
use candlewick_sdk::{Candle, Interval, MOST_TOGETHER, Millis};

impl Step {
    pub(crate) fn take_together(
        &mut self,
        candles: &[Candle],
        interval: Interval,
        columns: &mut Columns,
        values: &mut Few,
    ) {
        let out = self.out;
        let mut binary =
            |binary, one: &Place, other: &Place| columns.binary(binary, (*one, *other), out, values);
        match &mut self.action {
            Action::Less(one, other) => binary(Binary::Less, one, other),
            Action::Add(one, other) => binary(Binary::Add, one, other),
            Action::Subtract(one, other) => binary(Binary::Subtract, one, other),
            Action::Multiply(one, other) => binary(Binary::Multiply, one, other),
            Action::Divide(one, other) => binary(Binary::Divide, one, other),
            Action::Binary(which, one, other) => binary(*which, one, other),
            Action::Not(of) => columns.each(*of, out, values, |of| 1.0 - of),
            Action::Negate(of) => columns.each(*of, out, values, |of| -of),
            Action::Abs(of) => columns.each(*of, out, values, f64::abs),
            Action::Rsi(rsi, of) => columns.by_number(&mut **rsi, *of, out, values),
            Action::Ema(ema, of) => columns.by_number(&mut **ema, *of, out, values),
            Action::Sma(sma, of) => columns.by_number(&mut **sma, *of, out, values),
            Action::Macd(macd, of) => columns.by_number(&mut **macd, *of, out, values),
            Action::Bollinger(bands, of) => columns.by_number(&mut **bands, *of, out, values),
            Action::OfNumber(indicator, of) => indicator.columns_by_number(*of, out, columns, values),
            Action::OfCandle(indicator) => indicator.columns_by_candle(candles, out, columns, values),
            Action::Field(field) => columns.of_candles(candles, out, values, |candle| field.of(candle)),
            Action::Clock(clock) => {
                let mut day = Day::default();
                columns.of_candles(candles, out, values, |candle| day.clock(*clock, candle, interval));
            }
            Action::LocalClock(clock, zone) => columns
                .of_candles(candles, out, values, |candle| clock.of(zone.shown(candle.close_time(interval)))),
            Action::Between(from, to) => {
                let (from, to, mut day) = (*from, *to, Day::default());
                columns.of_candles(candles, out, values, |candle| {
                    let time = day.time(candle, interval);
                    let holds = if from < to { from <= time && time < to } else { time >= from || time < to };
                    f64::from(u8::from(holds))
                });
            }
            Action::InHours(window) => {
                columns.of_candles(candles, out, values, |candle| is_in_hours(candle, interval, window));
            }
            Action::Last { of, last } => *last = columns.back(*of, *last, out, values),
            Action::Back { of, last, next } => {
                columns.in_turn(*of, out, values, |of| replace_oldest(last, next, of));
            }
            Action::Compared(one, other) => columns.compared((*one, *other), out, values),
            Action::Order(order) => columns.order(order.numbers(), out, values),
            Action::Crosses { to, order } => {
                columns.both((*order, *order + 1), out, values, |now, before| crosses(now, before, *to));
            }
            Action::Since { of, within, age } => columns.in_turn(*of, out, values, |of| {
                *age = if of == 1.0 { Some(0) } else { age.map(|age| age + 1).filter(|age| age <= within) };
                age.map_or(f64::NAN, |age| age as f64)
            }),
            Action::Count { of, last, next, held, unknown } if last.len() <= MOST_TOGETHER => {
                // Those of before in their order; they leave the count one by one, and then those that came to it here.
                last.rotate_left(*next);
                *next = 0;
                columns.count(*of, last, out, values);
                *held = last.iter().filter(|condition| **condition == 1.0).count();
                *unknown = last.iter().filter(|condition| condition.is_nan()).count();
            }
            Action::Count { of, last, next, held, unknown } => columns
                .in_turn(*of, out, values, |new| count(new, replace_oldest(last, next, new), held, unknown)),
        }
    }
}

/// Start of the last candle's day, cached because consecutive candles mostly share it.
#[derive(Default)]
struct Day {
    start: i64,
}

impl Day {
    #[inline]
    fn time(&mut self, candle: &Candle, interval: Interval) -> i64 {
        let time = candle.close_time(interval).get();
        if !(self.start..self.start.saturating_add(Millis::DAY.get())).contains(&time) {
            self.start = time - time.rem_euclid(Millis::DAY.get());
        }
        time - self.start
    }

    #[inline]
    fn clock(&mut self, clock: Clock, candle: &Candle, interval: Interval) -> f64 {
        let time = self.time(candle, interval);
        let part = match clock {
            Clock::Hour => time / Millis::HOUR.get(),
            Clock::Minute => time % Millis::HOUR.get() / Millis::MINUTE.get(),
            // 1970 began on a Thursday.
            Clock::Weekday => (self.start.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7) + 1,
        };
        part as f64
    }
}
