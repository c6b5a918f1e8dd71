//! A price API for tests that does with pages what the contract leaves open, as it is told.

use crate::model::{CandleQuery, CandleRow, CandleRows};
use crate::{MockVenue, Reply};
use candlewick_sdk::Millis;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// In which order a page's rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Ascending,
    Descending,
    Shuffled,
}

/// What a limit leaves of the rows that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The oldest, from which `skip` counts.
    Oldest,
    /// The newest, from which `skip` counts.
    Newest,
    /// Any, others each time.
    Any,
}

/// Whether a window's end belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Included,
    LeftOut,
}

/// A server, down to its habits. Times are in minutes.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Minutes that have a candle.
    pub(super) present: Vec<i64>,
    /// What time it is, in ms.
    pub(super) now: i64,
    /// How far the caller's clock is ahead of that, in ms.
    pub(super) caller_ahead: i64,
    /// Whether answers are dated.
    pub(super) is_dated: bool,
    /// The most rows of a page.
    pub(super) cap: usize,
    pub(super) heeds_skip: bool,
    pub(super) order: Order,
    pub(super) cut: Cut,
    pub(super) start: End,
    pub(super) end: End,
    /// Rows from so many minutes before and after the window come along.
    pub(super) overlap: i64,
    /// Of a longer window, so many minutes at the end that a limit leaves are read, and the rest is not.
    pub(super) longest: i64,
    /// Every row comes so many times.
    pub(super) copies: usize,
    pub(super) sends_forming: bool,
    /// Minutes whose row is no candle.
    pub(super) unsound: Vec<i64>,
    pub(super) seed: u64,
}

const MINUTE: i64 = 60_000;

/// From when to when, and how many skipped.
pub(super) type Question = (Millis, Millis, u64);

impl Server {
    /// The candle of a minute; while it forms, its close is another one.
    pub(super) fn row(&self, minute: i64) -> CandleRow {
        let is_forming = (minute + 1) * MINUTE > self.now;
        let high_price = if self.unsound.contains(&minute) { 0.1 } else { 9.0 };
        let close_price = if is_forming { 2.0 } else { 1.0 + (minute % 7) as f64 };
        let time = Millis::MINUTE * minute;
        CandleRow { volume: 0.0, open_price: 1.0, close_price, high_price, low_price: 0.5, time }
    }

    /// What comes for a question.
    pub(super) fn answer(&self, query: &CandleQuery, dice: &mut Dice) -> Vec<CandleRow> {
        let (overlap, longest) = (self.overlap * MINUTE, self.longest.saturating_mul(MINUTE));
        let (mut from, mut to) = (query.start_time.get() - overlap, query.end_time.get() + overlap);
        match self.cut {
            Cut::Oldest | Cut::Any => to = to.min(from.saturating_add(longest)),
            Cut::Newest => from = from.max(to.saturating_sub(longest)),
        }
        let is_inside = |minute: &i64| {
            let time = minute * MINUTE;
            let after_start = time > from || (time == from && self.start == End::Included);
            let before_end = time < to || (time == to && self.end == End::Included);
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
        let skip = if self.heeds_skip { query.skip as usize } else { 0 };
        let kept = rows.into_iter().skip(skip).take(self.cap.min(query.limit as usize));
        let mut page: Vec<CandleRow> = kept.flat_map(|row| std::iter::repeat_n(row, self.copies)).collect();
        match self.order {
            Order::Ascending => page.sort_by_key(|row| row.time),
            Order::Descending => page.sort_by_key(|row| -row.time.get()),
            Order::Shuffled => dice.shuffle(&mut page),
        }
        page
    }

    /// Behind the port. The list is of the questions that were asked.
    pub(super) fn venue(self) -> (Arc<MockVenue>, Arc<Mutex<Vec<Question>>>) {
        let mut mock = MockVenue::new();
        let dice = Mutex::new(Dice(self.seed));
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&questions);
        mock.expect_candles().returning(move |query| {
            asked.lock().unwrap().push((query.start_time, query.end_time, query.skip));
            let rows = self.answer(query, &mut dice.lock().unwrap());
            let received = Millis::new(self.now + self.caller_ahead);
            let date = self.is_dated.then_some(Millis::new(self.now).floor_to(Millis::SECOND));
            Ok(Reply { value: CandleRows { rows, unreadable: 0 }, date, sent: received, received })
        });
        (Arc::new(mock), questions)
    }
}

/// Numbers that look random, from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            items.swap(place, (self.0 >> 33) as usize % (place + 1));
        }
    }
}

/// The first minute that may have a candle, and how many there are.
pub(super) const FIRST: i64 = 1_000_000;
pub(super) const MINUTES: i64 = 60;

/// Any server over some of the minutes, its present among them or later.
pub(super) fn any_server() -> impl Strategy<Value = Server> {
    let minutes = || prop::collection::vec(any::<bool>(), MINUTES as usize);
    let chosen = |chosen: Vec<bool>| {
        let minutes = chosen.into_iter().enumerate().filter(|(_, is_chosen)| *is_chosen);
        minutes.map(|(index, _)| FIRST + index as i64).collect::<Vec<_>>()
    };
    let dense = prop::collection::vec(prop::bool::weighted(0.95), MINUTES as usize);
    let present = prop_oneof![minutes(), dense].prop_map(chosen);
    let unsound = prop::collection::vec(prop::bool::weighted(0.03), MINUTES as usize).prop_map(chosen);
    let now = (FIRST * MINUTE..(FIRST + MINUTES + 20) * MINUTE, 0_i64..=90_000, any::<bool>());
    let paging = (1_usize..25, any::<bool>(), order(), cut());
    let ends = (end(), end(), 0_i64..4, 1_usize..3);
    (present, unsound, now, paging, ends, any::<bool>(), any::<u64>()).prop_map(
        |(present, unsound, now, paging, ends, sends_forming, seed)| {
            let (cap, heeds_skip, order, cut) = paging;
            let (start, end, overlap, copies) = ends;
            // Without a skip that counts, a page of strangers alone hides what lies behind it from everybody.
            let is_seen_through = heeds_skip && cut != Cut::Any;
            let cap = if is_seen_through { cap } else { cap.max(2 * overlap as usize + 1) };
            // Only a date tells a caller whose clock is wrong what time it is.
            let (now, caller_ahead, is_dated) = now;
            let caller_ahead = if is_dated { caller_ahead } else { 0 };
            Server {
                present,
                now,
                caller_ahead,
                is_dated,
                cap,
                heeds_skip,
                order,
                cut,
                start,
                end,
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

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![Order::Ascending, Order::Descending, Order::Shuffled])
}

fn cut() -> impl Strategy<Value = Cut> {
    prop::sample::select(vec![Cut::Oldest, Cut::Newest, Cut::Any])
}

fn end() -> impl Strategy<Value = End> {
    prop::sample::select(vec![End::Included, End::LeftOut])
}
