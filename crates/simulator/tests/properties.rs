//! Properties that hold for random orders and candles.

#![allow(clippy::unwrap_used, reason = "the helpers of a test are tests")]

use candlewick_sdk::{
    Candle, CandleSeries, CloseType, Direction, ExpirationType, Expiry, Interval, Millis, Money, Ohlcv,
    Outcome, Series, Symbol,
};
use candlewick_simulator::{
    AnswerKind, DrawRule, Market, OpenRounding, Order, SimulationSettings, Simulator, VenueEvent,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const START: i64 = 1_641_038_400_000;
const MINUTES: i64 = 60;
const BALANCE: Money = Money::from_minor(3_000);

fn symbol() -> Symbol {
    Symbol::new("BTCUSDT").unwrap()
}

fn price_of(time: Millis) -> f64 {
    1_000.0 + (time.get() - START) as f64 / 1_000.0
}

fn moment_of(price: f64) -> Millis {
    Millis::new(START + ((price - 1_000.0) * 1_000.0).round() as i64)
}

fn market(minutes: &[i64]) -> Market {
    let candle = |minute: &i64| {
        let time = Millis::new(START) + Millis::MINUTE * *minute;
        let (open, close) = (price_of(time), price_of(time + Millis::MINUTE));
        let numbers = Ohlcv { open, high: close, low: open, close, volume: 0.0 };
        Candle::new(time, Interval::MINUTE, numbers).unwrap()
    };
    let series = Series { symbol: symbol(), interval: Interval::MINUTE };
    let candles: Vec<_> = minutes.iter().map(candle).collect();
    Market { prices: CandleSeries::new(series, candles).unwrap(), detail: Vec::new() }
}

fn minutes() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop::bool::weighted(0.85), MINUTES as usize).prop_map(|kept| {
        let rest = kept.into_iter().zip(0..).filter(|(kept, minute)| *kept || *minute == 0);
        rest.map(|(_, minute)| minute).collect()
    })
}

fn settings() -> impl Strategy<Value = SimulationSettings> {
    let rounding = prop::sample::select(vec![OpenRounding::SecondEnd, OpenRounding::None]);
    let draw = prop::sample::select(vec![DrawRule::Refund, DrawRule::Loss]);
    let latency = prop::sample::select(vec![0_i64, 1, 999, 1_500, 2_000, 59_500, 61_000]);
    (rounding, draw, latency, 0_i64..6_000).prop_map(|(open_rounding, draw, latency, delay)| {
        let (latency_ms, settle_delay_ms) = (Millis::new(latency), Millis::new(delay));
        SimulationSettings {
            open_rounding,
            draw,
            latency_ms,
            settle_delay_ms,
            ..SimulationSettings::default()
        }
    })
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let kind = prop::sample::select(vec![
        ExpirationType::Unstated,
        ExpirationType::TimeFixed,
        ExpirationType::CandleClose,
        ExpirationType::NextCandle,
    ]);
    let seconds = prop::sample::select(vec![5_i64, 30, 60, 120, 300]);
    let direction = prop::sample::select(vec![Direction::Buy, Direction::Sell]);
    let time = prop_oneof![3 => (0..MINUTES).prop_map(|minute| minute * 60_000), 1 => 0..MINUTES * 60_000];
    let order = (kind, seconds, direction, time, 1_i64..900);
    prop::collection::vec(order, 1..60).prop_map(|mut orders| {
        orders.sort_by_key(|(_, _, _, time, _)| *time);
        let numbered = orders.into_iter().zip(1..);
        numbered
            .map(|((expiration_type, seconds, direction, time, stake), number)| Order {
                number,
                symbol: symbol(),
                direction,
                stake: Money::from_minor(stake),
                expiry: Expiry {
                    close_type: CloseType::new(Millis::from_seconds(seconds)).unwrap(),
                    expiration_type,
                },
                time: Millis::new(START + time),
            })
            .collect()
    })
}

struct Step {
    event: VenueEvent,
    balance: Money,
    open_stakes: Money,
}

fn run(settings: SimulationSettings, minutes: &[i64], orders: &[Order]) -> (Simulator, Vec<Step>) {
    let mut venue = Simulator::new(settings, BALANCE, vec![market(minutes)]).unwrap();
    let mut steps = Vec::new();
    let mut pop_all = |venue: &mut Simulator, now: Millis| {
        while let Some(due) = venue.next_due().filter(|due| *due <= now) {
            let event = venue.pop_due(now).unwrap();
            assert_eq!(event.time(), due);
            steps.push(Step { event, balance: venue.balance(), open_stakes: venue.open_stakes() });
        }
        assert_eq!(venue.pop_due(now), None);
    };
    for order in orders {
        pop_all(&mut venue, order.time);
        venue.submit(order);
    }
    pop_all(&mut venue, Millis::MAX);
    (venue, steps)
}

proptest! {
    #[test]
    fn wallet_changes_only_by_profits_and_stakes_and_events_are_ordered(
        settings in settings(), minutes in minutes(), orders in orders(),
    ) {
        let (venue, steps) = run(settings, &minutes, &orders);
        let mut earned = Money::ZERO;
        for step in &steps {
            if let VenueEvent::Settled(trade) = step.event {
                earned += trade.profit;
            }
            prop_assert_eq!(step.balance + step.open_stakes, BALANCE + earned);
            prop_assert!(step.balance >= Money::ZERO);
        }
        prop_assert_eq!(venue.open_stakes(), venue.unsettled().iter().map(|trade| trade.stake).sum::<Money>());
        let rank = |step: &Step| match step.event {
            VenueEvent::Settled(trade) => (trade.known_at, 0, trade.close_time, trade.number),
            VenueEvent::Answered(answer) => (answer.at, 1, Millis::ZERO, answer.number),
        };
        prop_assert!(steps.windows(2).all(|pair| rank(&pair[0]) < rank(&pair[1])));
    }

    #[test]
    fn every_order_has_one_reply_and_every_trade_one_end(
        settings in settings(), minutes in minutes(), orders in orders(),
    ) {
        let (venue, steps) = run(settings, &minutes, &orders);
        let mut answers = BTreeMap::new();
        let mut ends = BTreeMap::new();
        for step in &steps {
            match step.event {
                VenueEvent::Answered(answer) => prop_assert!(answers.insert(answer.number, answer).is_none()),
                VenueEvent::Settled(trade) => {
                    prop_assert!(answers.contains_key(&trade.number), "settled before it was answered");
                    prop_assert!(ends.insert(trade.number, trade.outcome).is_none());
                }
            }
        }
        for order in &orders {
            let stays_open = venue.unsettled().iter().any(|trade| trade.number == order.number);
            let answer = answers.get(&order.number).map(|answer| answer.kind);
            let settled = ends.contains_key(&order.number);
            let sound = match answer {
                Some(AnswerKind::Opened(_)) => settled != stays_open,
                Some(AnswerKind::Refused(_)) => !settled && !stays_open,
                None => false,
            };
            prop_assert!(sound, "order {}: {answer:?}, open {stays_open}, settled {settled}", order.number);
        }
    }

    #[test]
    fn prices_match_their_times_and_are_not_older_than_the_arrival(
        settings in settings(), minutes in minutes(), orders in orders(),
    ) {
        let (latency, delay) = (settings.latency_ms, settings.settle_delay_ms);
        let drawn = match settings.draw {
            DrawRule::Refund => Outcome::Draw,
            DrawRule::Loss => Outcome::Lost,
        };
        let (_, steps) = run(settings, &minutes, &orders);
        for step in &steps {
            let VenueEvent::Settled(trade) = step.event else { continue };
            let order = orders[trade.number as usize - 1];
            let (arrival, duration) = (order.time + latency, order.expiry.close_type.duration());
            prop_assert!(trade.open_time >= arrival && trade.close_time > trade.open_time);
            prop_assert_eq!(trade.known_at, trade.close_time + delay);
            if let Some(price) = trade.open_price {
                let priced = moment_of(price);
                prop_assert!(priced >= arrival, "priced at {priced}, arrived at {arrival}");
                prop_assert!(priced == trade.open_time || priced == trade.open_time + Millis::new(1));
            }
            if let Some(price) = trade.close_price {
                let priced = moment_of(price);
                prop_assert!(priced == trade.close_time || priced == trade.close_time + Millis::new(1));
            }
            let aligned = trade.close_time.is_aligned_to(duration);
            match order.expiry.expiration_type {
                ExpirationType::CandleClose | ExpirationType::NextCandle => prop_assert!(aligned),
                ExpirationType::Unstated | ExpirationType::TimeFixed => {
                    prop_assert_eq!(trade.close_time - trade.open_time, duration);
                }
            }
            let expected = match (trade.open_price, trade.close_price, order.direction) {
                (Some(open), Some(close), _) if open == close => drawn,
                (Some(_), Some(_), Direction::Buy) => Outcome::Won,
                (Some(_), Some(_), Direction::Sell) => Outcome::Lost,
                _ => Outcome::Cancelled,
            };
            prop_assert_eq!(trade.outcome, expected);
        }
    }

    #[test]
    fn later_candles_do_not_change_earlier_results(
        settings in settings(), minutes in minutes(), orders in orders(), kept in 1_usize..60,
    ) {
        let prefix = &minutes[..kept.min(minutes.len())];
        let end = market(prefix).prices.end();
        let orders: Vec<_> = orders.into_iter().filter(|order| order.time < end).collect();
        let known = |steps: Vec<Step>| {
            let events = steps.into_iter().map(|step| step.event);
            events.filter(|event| event.time() <= end - Millis::SECOND).collect::<Vec<_>>()
        };
        let (_, whole) = run(settings.clone(), &minutes, &orders);
        let (_, part) = run(settings, prefix, &orders);
        prop_assert_eq!(known(part), known(whole));
    }
}
