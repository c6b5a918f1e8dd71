//! A configurable candle server for tests of paged downloads.

use crate::{CandleQuery, CandleRow, Candles, MockMarketData, Reply};
use candlewick_sdk::{Millis, Ohlcv};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Ascending,
    Descending,
    Shuffled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Oldest,
    Newest,
    Any,
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "the habits of a server are independent")]
pub(super) struct Server {
    pub(super) present: Vec<i64>,
    pub(super) now: i64,
    /// Advance of the caller's clock, in ms.
    pub(super) caller_ahead: i64,
    pub(super) is_dated: bool,
    pub(super) cap: usize,
    pub(super) order: Order,
    pub(super) cut: Cut,
    pub(super) includes_start: bool,
    pub(super) includes_end: bool,
    /// Minutes before and after the window from which rows are also returned.
    pub(super) overlap: i64,
    /// Maximum length of a window in minutes; longer ones are truncated like answers.
    pub(super) longest: i64,
    pub(super) copies: usize,
    pub(super) sends_forming: bool,
    pub(super) unsound: Vec<i64>,
    pub(super) seed: u64,
}

const MINUTE: i64 = 60_000;

type Question = (Millis, Millis);

const LIMIT: usize = 1_000;

impl Server {
    pub(super) fn row(&self, minute: i64) -> CandleRow {
        let is_forming = (minute + 1) * MINUTE > self.now;
        let high_price = if self.unsound.contains(&minute) { 0.1 } else { 9.0 };
        let close_price = if is_forming { 2.0 } else { 1.0 + (minute % 7) as f64 };
        let time = Millis::MINUTE * minute;
        let prices = Ohlcv { open: 1.0, high: high_price, low: 0.5, close: close_price, volume: 0.0 };
        CandleRow { time, prices }
    }

    fn answer(&self, (start, end): Question, dice: &mut Dice) -> Vec<CandleRow> {
        let (overlap, longest) = (self.overlap * MINUTE, self.longest.saturating_mul(MINUTE));
        let (mut from, mut to) = (start.get() - overlap, end.get() + overlap);
        match self.cut {
            Cut::Oldest | Cut::Any => to = to.min(from.saturating_add(longest)),
            Cut::Newest => from = from.max(to.saturating_sub(longest)),
        }
        let is_inside = |minute: &i64| {
            let time = minute * MINUTE;
            let after_start = time > from || (time == from && self.includes_start);
            let before_end = time < to || (time == to && self.includes_end);
            let has_begun = time <= self.now;
            let has_closed = time + MINUTE <= self.now;
            after_start && before_end && has_begun && (has_closed || self.sends_forming)
        };
        let mut rows: Vec<CandleRow> =
            self.present.iter().filter(|minute| is_inside(minute)).map(|minute| self.row(*minute)).collect();
        match self.cut {
            Cut::Oldest => {}
            Cut::Newest => rows.reverse(),
            Cut::Any => dice.shuffle(&mut rows),
        }
        let kept = rows.into_iter().take(self.cap.min(LIMIT));
        let mut page: Vec<CandleRow> = kept.flat_map(|row| std::iter::repeat_n(row, self.copies)).collect();
        match self.order {
            Order::Ascending => page.sort_by_key(|row| row.time),
            Order::Descending => page.sort_by_key(|row| -row.time.get()),
            Order::Shuffled => dice.shuffle(&mut page),
        }
        page
    }

    pub(super) fn market(self) -> (Arc<MockMarketData>, Arc<Mutex<Vec<Question>>>) {
        let mut mock = MockMarketData::new();
        let dice = Mutex::new(Dice(self.seed));
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&questions);
        mock.expect_candles().returning(move |query| {
            asked.lock().unwrap().push((query.start, query.end));
            let rows = self.answer(exact(query), &mut dice.lock().unwrap());
            let received = Millis::new(self.now + self.caller_ahead);
            let date = self.is_dated.then_some(Millis::new(self.now).floor_to(Millis::SECOND));
            let value = Candles::from_rows(&rows, query, received);
            Ok(Reply { value, date, sent: received, received })
        });
        (Arc::new(mock), questions)
    }
}

fn exact(query: &CandleQuery) -> Question {
    (query.start - Millis::new(1), query.end - Millis::new(1))
}

struct Dice(u64);

impl Dice {
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            items.swap(place, (self.0 >> 33) as usize % (place + 1));
        }
    }
}

pub(super) const FIRST_MINUTE: i64 = 1_000_000;
pub(super) const MINUTES: i64 = 60;

pub(super) fn any_server() -> impl Strategy<Value = Server> {
    let minutes = || prop::collection::vec(any::<bool>(), MINUTES as usize);
    let chosen = |chosen: Vec<bool>| {
        let minutes = chosen.into_iter().enumerate().filter(|(_, is_chosen)| *is_chosen);
        minutes.map(|(index, _)| FIRST_MINUTE + index as i64).collect::<Vec<_>>()
    };
    let dense = prop::collection::vec(prop::bool::weighted(0.95), MINUTES as usize);
    let present = prop_oneof![minutes(), dense].prop_map(chosen);
    let unsound = prop::collection::vec(prop::bool::weighted(0.03), MINUTES as usize).prop_map(chosen);
    let now = (FIRST_MINUTE * MINUTE..(FIRST_MINUTE + MINUTES + 20) * MINUTE, 0_i64..=90_000, any::<bool>());
    let order = prop::sample::select(vec![Order::Ascending, Order::Descending, Order::Shuffled]);
    let cut = prop::sample::select(vec![Cut::Oldest, Cut::Newest, Cut::Any]);
    let paging = (1_usize..25, order, cut);
    let ends = (any::<bool>(), any::<bool>(), 0_i64..4, 1_usize..3);
    (present, unsound, now, paging, ends, any::<bool>(), any::<u64>()).prop_map(
        |(present, unsound, now, paging, ends, sends_forming, seed)| {
            let (cap, order, cut) = paging;
            let (includes_start, includes_end, overlap, copies) = ends;
            // A page full of unrequested rows would hide all later rows.
            let cap = cap.max(2 * overlap as usize + 1);
            // A caller with a wrong clock learns the time only from a date.
            let (now, caller_ahead, is_dated) = now;
            let caller_ahead = if is_dated { caller_ahead } else { 0 };
            Server {
                present,
                now,
                caller_ahead,
                is_dated,
                cap,
                order,
                cut,
                includes_start,
                includes_end,
                overlap,
                longest: i64::MAX,
                copies,
                sends_forming,
                unsound,
                seed,
            }
        },
    )
}
