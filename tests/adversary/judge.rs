//! Judges a run by the venue's own record and by what the program shows outside.

use crate::scenarios::{Must, Scenario};
use crate::trader::Shown;
use crate::venue::Venue;
use crate::world::World;
use serde_json::Value;
use std::collections::BTreeMap;

/// Length of the candles that orders come from.
const CANDLE_MS: i64 = 5000;
/// Time for an order that left before a halt to arrive.
const IN_FLIGHT_MS: i64 = 1000;
/// Fewest trades of a sound run.
const MIN_TRADES: usize = 6;
/// Most orders of one pair that is refused each time.
const MAX_REFUSED: usize = 4;
/// Exit codes by which a run may end that met a lie: halted, or an answer is owed.
const HALTED: i32 = 6;
const OWED: i32 = 4;

/// Words that belong to the program's inside.
const INSIDE: [&str; 8] =
    ["minor unit", "Some(", "None)", "Ok(", "Err(", "panicked at", "unwrap()", "VenueTradeId"];
/// What a reason has to name, any of them.
const NAMED: [&str; 6] = ["trade #", "wallet", "account", "order #", "order of", "user"];

/// The outcome of a scenario: what is wrong with it, and a line about the run.
pub(crate) struct Judgement {
    pub(crate) faults: Vec<String>,
    pub(crate) line: String,
}

fn cents(value: &Value) -> Option<i64> {
    value.as_f64().map(|amount| (amount * 100.0).round() as i64)
}

/// Orders of one pair with one candle behind them.
fn repeated_orders(world: &World) -> Vec<String> {
    let mut counts: BTreeMap<(&str, i64), usize> = BTreeMap::new();
    for order in &world.orders {
        *counts.entry((order.pair, order.at.div_euclid(CANDLE_MS))).or_default() += 1;
    }
    let repeated = counts.into_iter().filter(|(_, count)| *count > 1);
    repeated.map(|((pair, candle), count)| format!("{count} orders of {pair} on candle {candle}")).collect()
}

/// Differences between the ledger and the venue's truth.
pub(crate) fn ledger_faults(world: &World, shown: &Shown) -> Vec<String> {
    let mut faults = Vec::new();
    let (balance, wallet) = (cents(&shown.status["balance"]), world.wallet(shown.ended_at));
    if balance != Some(wallet) {
        faults.push(format!("the ledger has {balance:?} cents, the venue {wallet}"));
    }
    let made: Vec<_> = world.trades.iter().filter(|trade| trade.order.is_some()).collect();
    for trade in &made {
        let row = shown.trades.iter().find(|row| row["venue_id"] == trade.id.as_str());
        let booked = row.and_then(|row| cents(&row["pnl"]));
        let moved = trade.moved(shown.ended_at);
        if booked != Some(moved) {
            faults.push(format!("trade {} moved {moved} cents, booked {booked:?}", trade.id));
        }
    }
    let settled = shown.trades.iter().filter(|row| row["state"] == "settled").count();
    if settled != made.len() {
        faults.push(format!("{settled} trades are settled, the venue made {}", made.len()));
    }
    faults
}

fn reason_faults(shown: &Shown, world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    let halts = shown.halts();
    match halts.first() {
        None => faults.push("halted without a reason among the events".to_owned()),
        Some((at, reason)) => {
            if !NAMED.iter().any(|word| reason.to_lowercase().contains(word)) {
                faults.push(format!("the reason names neither trade nor wallet: {reason}"));
            }
            if reason.contains('{') || reason.contains("::") || reason.chars().count() < 15 {
                faults.push(format!("the reason is not for a trader: {reason}"));
            }
            let late = world.orders.iter().filter(|order| order.at > at + IN_FLIGHT_MS).count();
            if late > 0 {
                faults.push(format!("{late} orders after the halt"));
            }
        }
    }
    if shown.status["halted"] != true {
        faults.push("status does not show the halt".to_owned());
    }
    faults
}

/// Checks that hold for every run.
fn always(world: &World, venue: &Venue, shown: &Shown) -> Vec<String> {
    let mut faults = repeated_orders(world);
    faults.extend(world.complaints.iter().cloned());
    if world.orders.len() > shown.trades.len() {
        faults.push(format!("{} orders, {} intents", world.orders.len(), shown.trades.len()));
    }
    for word in INSIDE {
        if let Some(at) = shown.printed.find(word) {
            let (from, to) = (at.saturating_sub(80), at + 80);
            let excerpt: String = shown.printed.chars().skip(from).take(to - from).collect();
            faults.push(format!("prints {word:?}: {}", excerpt.replace('\n', " ")));
        }
    }
    let secrets = venue.credentials();
    for text in [&shown.printed, &shown.journal] {
        if text.contains(&secrets.token) || text.contains(&secrets.key) {
            faults.push("a credential leaks".to_owned());
        }
    }
    faults
}

/// Gaps between the orders of a pair, in milliseconds.
fn gaps(world: &World, pair: &str) -> Vec<i64> {
    let times: Vec<i64> = world.orders.iter().filter(|order| order.pair == pair).map(|order| order.at).collect();
    times.windows(2).map(|two| two[1] - two[0]).collect()
}

fn pause_faults(world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    for pair in crate::market::PAIRS {
        let gaps = gaps(world, pair.name);
        if gaps.len() >= MAX_REFUSED {
            faults.push(format!("{} is asked for {} times: gaps {gaps:?}", pair.name, gaps.len() + 1));
        }
        // Orders leave on candles, so that a longer pause may show as the same gap.
        if gaps.windows(2).any(|two| two[1] + CANDLE_MS <= two[0]) {
            faults.push(format!("pauses of {} shrink: {gaps:?}", pair.name));
        }
    }
    faults
}

fn has_told(world: &World) -> bool {
    world.told.iter().any(|count| *count > 0)
}

fn demanded(scenario: &Scenario, world: &World, shown: &Shown) -> Vec<String> {
    let mut faults = Vec::new();
    let code = shown.code.unwrap_or(-1);
    match scenario.must {
        Must::Trade => {
            if code != 0 {
                faults.push(format!("a sound venue ends with {code}: {:?}", shown.halts()));
            }
            if world.trades.len() < MIN_TRADES {
                faults.push(format!("only {} trades", world.trades.len()));
            }
        }
        Must::Halt if code == 0 => faults.push("exit code 0".to_owned()),
        Must::Pause => faults.extend(pause_faults(world)),
        Must::NotAfterBan => {
            let first = scenario.lies[0].from;
            // Orders of other pairs may be in flight when the first is refused.
            if world.orders.len() > first + crate::market::PAIRS.len() {
                faults.push(format!("{} orders, banned from number {first} on", world.orders.len()));
            }
        }
        Must::NotTrade if world.orders.len() > crate::market::PAIRS.len() => {
            faults.push(format!("{} orders on data of another time or interval", world.orders.len()));
        }
        Must::Halt | Must::Equal | Must::NotTrade => {}
    }
    if scenario.must != Must::Trade && !has_told(world) {
        faults.push("no lie was told".to_owned());
    }
    faults
}

pub(crate) fn judge(scenario: &Scenario, venue: &Venue, shown: &Shown) -> Judgement {
    let world = venue.world();
    let mut faults = always(&world, venue, shown);
    match shown.code {
        Some(0) => faults.extend(ledger_faults(&world, shown)),
        Some(HALTED) => faults.extend(reason_faults(shown, &world)),
        Some(OWED) => {
            let ended = shown.events.iter().find(|event| event["event"] == "ended");
            if ended.is_some_and(|ended| ended["unfinished"] == 0) {
                faults.push("exit code 4, and nothing is unfinished".to_owned());
            }
        }
        Some(code) => faults.push(format!("exit code {code}")),
        None => faults.push("does not end".to_owned()),
    }
    faults.extend(demanded(scenario, &world, shown));
    let reason = shown.halts().into_iter().next().map(|(_, reason)| reason).unwrap_or_default();
    let line = format!(
        "code {}, {} orders, {} trades, told {:?}, ledger {}, venue {:.2} {reason}",
        shown.code.map_or("none".to_owned(), |code| code.to_string()),
        world.orders.len(),
        world.trades.len(),
        world.told,
        shown.status["balance"],
        world.wallet(shown.ended_at) as f64 / 100.0,
    );
    Judgement { faults, line }
}
