//! Foreign trades on the account, as similar to ours as the rules of opening can still distinguish.

use crate::prelude::*;
use crate::truth::Twin;

const OTHER_SYMBOL: &str = "SOLUSDT";
const OTHER_DURATION: &str = "00:15";
const STRANGE_AMOUNT: Decimal = Decimal::from_parts(3, 0, 0, false, 0);
const CLEAR_BEFORE_S: i64 = 25;
const CLEAR_AFTER: Millis = Millis::from_seconds(5);
const SHORTEST_RESERVED: Millis = Millis::from_seconds(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    Symbol,
    Direction,
    Amount,
    Duration,
    Expiration,
    Account,
    Hand,
    Earlier,
    Twin,
    Two,
}

const DIFFERENCES: [Difference; 13] = [
    Difference::Symbol,
    Difference::Direction,
    Difference::Amount,
    Difference::Duration,
    Difference::Expiration,
    Difference::Account,
    Difference::Hand,
    Difference::Earlier,
    Difference::Twin,
    Difference::Twin,
    Difference::Twin,
    Difference::Two,
    Difference::Two,
];

/// Sends a foreign trade while the answer to one of our opens is lost; returns the twin that is to follow ours.
pub(crate) fn join(world: &World, intent: Option<u64>, order: &TradeOrder, is_lost: bool) -> Option<Twin> {
    let habits = &world.plan.habits;
    let (difference, is_joined) = {
        let mut dice = world.dice();
        (dice.pick(&DIFFERENCES), dice.per_mille(habits.company))
    };
    if !is_joined || (habits.has_wild_clocks && difference != Difference::Hand) {
        return None;
    }
    let mut request = Request::new(Sender::Program, order.clone());
    let is_alone = world.disk().unclear.keys().all(|other| Some(*other) == intent);
    match difference {
        Difference::Symbol => request.order.symbol = OTHER_SYMBOL.parse().unwrap(),
        Difference::Direction => request.order.direction = order.direction.opposite(),
        Difference::Amount => request.order.amount += Decimal::ONE,
        Difference::Duration => request.order.close_type = OTHER_DURATION.parse().unwrap(),
        Difference::Expiration => request.order.expiration_type = ExpirationType::NextCandle,
        Difference::Account => request.order.account = Account::Real,
        Difference::Hand => request.sender = Sender::Person,
        Difference::Earlier if is_alone => {
            request.stamped_ago = Millis::from_seconds(world.dice().between(CLEAR_BEFORE_S, 60));
        }
        Difference::Twin if !is_lost && is_alone => {
            let mut dice = world.dice();
            let mut draw = |most| Millis::new(dice.between(1, most));
            return Some(Twin { after: draw(1_000), listed_before: draw(4_000) });
        }
        Difference::Two if is_lost => send(world, request.clone()),
        Difference::Earlier | Difference::Twin | Difference::Two => return None,
    }
    // Unlike ours, but equal to the order of another intent that may still have a trade: indistinguishable.
    let is_anothers = |other: &u64| {
        Some(*other) != intent && world.truth().order_of(*other).as_ref() == Some(&request.order)
    };
    let is_by_terms = !matches!(difference, Difference::Hand | Difference::Earlier | Difference::Two);
    if is_by_terms && world.disk().unclear.keys().any(is_anothers) {
        return None;
    }
    world.log(|| format!("foreign order, different by {difference:?}: {request:?}"));
    send(world, request);
    None
}

/// Repeats an order that was taken as not opened from another program, once no bot signals any more.
pub(crate) fn follow(world: &World) {
    let Habits { company, has_wild_clocks, .. } = world.plan.habits;
    if has_wild_clocks || world.time.elapsed() < world.plan.trading + Millis::MINUTE {
        return;
    }
    if !world.dice().per_mille(company) {
        return;
    }
    let now = world.time.now() - CLEAR_AFTER;
    let unclear = world.disk().unclear.clone();
    let is_clear = |reserved: &Option<Millis>| reserved.is_some_and(|until| now > until - SHORTEST_RESERVED);
    for (intent, reserved) in &unclear {
        let Some(order) = world.truth().order_of(*intent) else { continue };
        let is_over = reserved.is_some_and(|until| now > until - order.close_type.duration() * 2);
        let is_alone = unclear.iter().all(|(other, reserved)| other == intent || is_clear(reserved));
        if is_over && is_alone && world.truth().followed.insert(*intent) {
            world.log(|| format!("foreign order equal to that of intent {intent}"));
            send(world, Request::new(Sender::Program, order));
        }
    }
}

pub(crate) fn trade_as_stranger(world: &World) {
    let plan = &world.plan;
    if !plan.habits.has_strangers || world.time.elapsed() > plan.trading || !world.dice().one_in(8) {
        return;
    }
    let bot = &plan.bots[0];
    let is_program = world.dice().one_in(2);
    let order = TradeOrder {
        symbol: bot.symbol,
        direction: candlewick_sdk::Direction::Buy,
        amount: if is_program { STRANGE_AMOUNT } else { Decimal::TEN },
        close_type: bot.close_type,
        expiration_type: bot.expiration_type,
        account: Account::Demo,
    };
    let sender = if is_program { Sender::Program } else { Sender::Person };
    let listed_from = world.time.now() + Millis::new(world.dice().between(0, plan.habits.list_lag_ms));
    send(world, Request { listed_from, ..Request::new(sender, order) });
}

fn send(world: &World, request: Request) {
    world.truth().send(world.time.now(), request, &world.plan.habits, &mut world.dice());
}
