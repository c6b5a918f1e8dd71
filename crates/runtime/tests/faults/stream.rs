//! Unreliable price streams in some schedules, next to candles that must arrive exactly once.

use crate::prelude::*;
use crate::truth::price;
use candlewick_broker::PriceTick;
use candlewick_engine::SeriesId;

const STREAMING_ONE_IN: u64 = 4;

/// Whether strategies want prices, and how unreliable they are. A separate draw keeps other schedules unchanged.
fn is_on(seed: u64) -> bool {
    mix([seed, 2_003, 1]).is_multiple_of(STREAMING_ONE_IN)
}

pub(crate) fn priced(plan: &Plan) -> Vec<Symbol> {
    if is_on(plan.seed) { plan.bots.iter().map(|bot| bot.symbol).collect() } else { Vec::new() }
}

pub(crate) fn name_of(plan: &Plan, id: SymbolId) -> Option<Symbol> {
    let mut known: Vec<Symbol> = Vec::new();
    for bot in &plan.bots {
        if !known.contains(&bot.symbol) {
            known.push(bot.symbol);
        }
    }
    known.get(id.index()).copied()
}

pub(crate) fn subscribed(world: &World, symbol: Symbol) -> Result<StreamSupport, BrokerError> {
    let letters = symbol.as_str().bytes().fold(0_u64, |key, byte| key.wrapping_mul(31) + u64::from(byte));
    match mix([world.plan.seed, 2_003, mix([letters, world.time.now().get() as u64, 3])]) % 10 {
        0..=6 => Ok(StreamSupport::Yes),
        7 | 8 => Err(BrokerError::Unavailable { text: "no stream now".to_owned() }),
        _ if mix([world.plan.seed, 2_003, 2]).is_multiple_of(3) => Ok(StreamSupport::No),
        _ => Err(BrokerError::NotFound { text: "no such pair".to_owned() }),
    }
}

pub(crate) struct Flow {
    dice: Dice,
    odd: i64,
}

impl Flow {
    pub(crate) fn new(seed: u64, run: u64) -> Self {
        let mut dice = Dice::new(mix([seed, 2_003, run]));
        Self { odd: dice.pick(&[0, 50, 300, 800]), dice }
    }

    pub(crate) fn next(&mut self, world: &World, symbol: Symbol) -> Option<(Vec<PriceTick>, Millis)> {
        let dice = &mut self.dice;
        let now = world.time.now();
        let second = now.floor_to(Millis::SECOND);
        let tick =
            |at: Millis| PriceTick { time: at - Millis::new(1), price: price(world.plan.seed, symbol, at) };
        let pause = Millis::new(dice.between(900, 1_100));
        if !dice.per_mille(self.odd) {
            return Some((vec![tick(second)], pause));
        }
        let back = Millis::from_seconds(dice.between(1, 90));
        match dice.between(0, 8) {
            0 => Some((Vec::new(), pause)),
            1 => Some((vec![tick(second); 3], pause)),
            2 => Some((vec![tick(second), tick(second - Millis::SECOND)], pause)),
            3 => Some((vec![tick(second - back)], pause)),
            4 => Some((vec![PriceTick { time: now + back * 40, ..tick(second) }], pause)),
            5 => {
                let price = dice.pick(&[f64::NAN, f64::INFINITY, 0.0, -1.0]);
                Some((vec![PriceTick { price, ..tick(second) }], pause))
            }
            6 => {
                let time = Millis::new(dice.pick(&[i64::MIN, i64::MAX, 0, -1]));
                Some((vec![PriceTick { time, ..tick(second) }], pause))
            }
            7 => Some((Vec::new(), Millis::from_seconds(dice.between(2, 40)))),
            _ => None,
        }
    }
}

#[derive(Default)]
pub(crate) struct DeliveredCandles {
    candles: BTreeMap<SeriesId, Millis>,
}

impl DeliveredCandles {
    pub(crate) fn check(&mut self, world: &World, kind: &EventKind) {
        match kind {
            EventKind::Candle { series, candle, .. } => {
                let length = interval_of(world, *series);
                let Some(last) = self.candles.insert(*series, candle.time()) else { return };
                world.require(candle.time() > last, || format!("{series:?}: candle {} twice", candle.time()));
                // A clock that is minutes ahead accepts the forming candle as closed before the previous one has come.
                let habits = &world.plan.habits;
                let is_whole = habits.gaps == 0 && !habits.has_wild_clocks && habits.clock_jumps == 0;
                let next = length.map(|length| last + length);
                let is_next = !is_whole || next.is_none_or(|next| next == candle.time());
                world.require(is_next, || format!("{series:?}: {candle:?} came, not {next:?}"));
            }
            EventKind::Price { price, .. } => {
                let most = if world.plan.habits.odd_prices > 0 { f64::MAX } else { 106.0 };
                let is_price = price.value > 0.0 && price.value <= most;
                world.require(is_price, || format!("{price:?} is not a valid price"));
            }
            _ => {}
        }
    }
}

fn interval_of(world: &World, id: SeriesId) -> Option<Millis> {
    let mut known: Vec<_> = Vec::new();
    for bot in &world.plan.bots {
        if !known.contains(&bot.series()) {
            known.push(bot.series());
        }
    }
    known.get(id.index()).map(|series| series.interval.length())
}
