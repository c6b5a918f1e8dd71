//! Judges a run by the record of the venue and by the visible output of the program.

use crate::scenarios::{Expectation, Scenario};
use crate::trader::Output;
use crate::venue::Venue;
use crate::world::{DEMO_CENTS, World};
use serde_json::Value;
use std::collections::BTreeMap;

const CANDLE_MS: i64 = 5000;
const IN_FLIGHT_MS: i64 = 1000;
const MIN_TRADES: usize = 6;
const MAX_REFUSED: usize = 4;
const HALTED: i32 = 6;
const UNRESOLVED: i32 = 4;

/// Maximum loss beyond a loss limit before a lie is noticed: two rounds of all bots, in cents.
const MAX_UNNOTICED_LOSS: i64 = 12_000;

const INTERNAL_REASONS: [&str; 8] =
    ["minor unit", "Some(", "None)", "Ok(", "Err(", "panicked at", "unwrap()", "VenueTradeId"];
const NAMES_IN_HALTS: [&str; 7] = ["trade #", "trade 0", "wallet", "account", "order #", "order of", "user"];

pub(crate) struct Judgement {
    pub(crate) faults: Vec<String>,
    pub(crate) line: String,
}

fn cents(value: &Value) -> Option<i64> {
    value.as_f64().map(|amount| (amount * 100.0).round() as i64)
}

fn repeated_orders(world: &World) -> Vec<String> {
    let mut counts: BTreeMap<(&str, i64), usize> = BTreeMap::new();
    for order in &world.orders {
        *counts.entry((order.pair, order.at.div_euclid(CANDLE_MS))).or_default() += 1;
    }
    let repeated = counts.into_iter().filter(|(_, count)| *count > 1);
    repeated.map(|((pair, candle), count)| format!("{count} orders of {pair} on candle {candle}")).collect()
}

fn booking_faults(world: &World, shown: &Output) -> Vec<String> {
    let mut faults = Vec::new();
    for row in shown.trades.iter().filter(|row| row["state"] == "settled") {
        let trade = world.trades.iter().find(|trade| row["venue_id"] == trade.id.as_str());
        let moved = trade.map(|trade| trade.moved(shown.ended_at));
        if moved != cents(&row["pnl"]) {
            faults.push(format!("trade {} moved {moved:?} cents, booked {}", row["venue_id"], row["pnl"]));
        }
    }
    faults
}

fn ledger_faults(world: &World, shown: &Output) -> Vec<String> {
    let mut faults = booking_faults(world, shown);
    let (balance, wallet) = (cents(&shown.status["balance"]), world.wallet(shown.ended_at));
    if balance != Some(wallet) {
        faults.push(format!("the ledger has {balance:?} cents, the venue {wallet}"));
    }
    let rows = &shown.trades;
    let is_over = |id: &str| rows.iter().any(|row| row["venue_id"] == id && row["state"] == "settled");
    for trade in world.trades.iter().filter(|trade| trade.order.is_some() && !is_over(&trade.id)) {
        faults.push(format!("trade {} is not settled", trade.id));
    }
    faults
}

fn owed_faults(world: &World, shown: &Output) -> Vec<String> {
    let mut faults = booking_faults(world, shown);
    let is_pending = |name: &str| shown.status[name].as_array().is_some_and(|numbers| !numbers.is_empty());
    if !is_pending("open") && !is_pending("in_doubt") {
        faults.push("exit code 4, and nothing is open or in doubt".to_owned());
    }
    faults
}

const NOT_COMPARED: [&str; 2] = [
    "error: the venue shows no demo wallet: its balance is unknown",
    "error: the demo wallet could not be read after the last trades: its balance is unknown",
];

fn names_wallet_trouble(shown: &Output) -> bool {
    if NOT_COMPARED.iter().any(|error| shown.printed.contains(error)) {
        return true;
    }
    let ended = shown.events.iter().rev().find(|event| event["event"] == "ended");
    let difference = ended.and_then(|event| event["wallet_difference"].as_f64()).unwrap_or_default();
    difference != 0.0 && shown.printed.contains("than the trades explain")
}

fn reason_faults(shown: &Output, world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    let halts = shown.halts();
    if halts.is_empty() && names_wallet_trouble(shown) {
        return faults;
    }
    match halts.first() {
        None => faults.push("halted without a reason among the events".to_owned()),
        Some((at, reason)) => {
            if !NAMES_IN_HALTS.iter().any(|word| reason.to_lowercase().contains(word)) {
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

fn common_faults(world: &World, venue: &Venue, shown: &Output) -> Vec<String> {
    let mut faults = repeated_orders(world);
    faults.extend(world.complaints.iter().cloned());
    if world.orders.len() > shown.trades.len() {
        faults.push(format!("{} orders, {} intents", world.orders.len(), shown.trades.len()));
    }
    for word in INTERNAL_REASONS {
        if let Some(line) = shown.printed.lines().find(|line| line.contains(word)) {
            faults.push(format!("prints {word:?}: {}", line.chars().take(300).collect::<String>()));
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

fn pause_faults(world: &World, first_refused: usize) -> Vec<String> {
    let mut faults = Vec::new();
    for pair in crate::market::PAIRS {
        let refused = world.orders.iter().skip(first_refused).filter(|order| order.pair == pair.name);
        let times: Vec<i64> = refused.map(|order| order.at).collect();
        let gaps: Vec<i64> = times.windows(2).map(|two| two[1] - two[0]).collect();
        if gaps.len() >= MAX_REFUSED {
            faults.push(format!("{} is asked for {} times: gaps {gaps:?}", pair.name, gaps.len() + 1));
        }
        // Orders leave on candles, so a longer pause may show as the same gap.
        if gaps.windows(2).any(|two| two[1] + CANDLE_MS <= two[0]) {
            faults.push(format!("pauses of {} shrink: {gaps:?}", pair.name));
        }
    }
    faults
}

fn has_reported(shown: &Output) -> bool {
    let of_kind = |event: &&Value| event["event"] == "alarm" || event["event"] == "warning";
    let texts = shown.events.iter().filter(of_kind).filter_map(|event| event["text"].as_str());
    texts.filter(|text| !text.contains("something unknown")).count() > 0
}

fn expectation_faults(scenario: &Scenario, world: &World, shown: &Output) -> Vec<String> {
    let mut faults = Vec::new();
    let code = shown.code.unwrap_or(-1);
    match scenario.must {
        Expectation::Trade => {
            if code != 0 {
                faults.push(format!("an honest venue ends with {code}: {:?}", shown.halts()));
            }
            if world.trades.len() < MIN_TRADES {
                faults.push(format!("only {} trades", world.trades.len()));
            }
        }
        Expectation::Report if code == 0 && !has_reported(shown) => {
            faults.push("neither alarm nor warning".to_owned());
        }
        Expectation::Halt if code == 0 => faults.push("exit code 0".to_owned()),
        Expectation::Pause => faults.extend(pause_faults(world, scenario.lies[0].from)),
        Expectation::NotAfterBan => {
            let first = scenario.lies[0].from;
            // Orders of other pairs may be in flight when the first is refused; at a start the profile reports it.
            let in_flight = if first == 0 { 0 } else { crate::market::PAIRS.len() };
            if world.orders.len() > first + in_flight {
                faults.push(format!("{} orders, banned from number {first} on", world.orders.len()));
            }
        }
        Expectation::NotTrade if world.orders.len() > crate::market::PAIRS.len() => {
            faults.push(format!("{} orders on data of another time or interval", world.orders.len()));
        }
        Expectation::Halt | Expectation::Equal | Expectation::Report | Expectation::NotTrade => {}
    }
    if scenario.must != Expectation::Trade && world.lie_counts.iter().all(|count| *count == 0) {
        faults.push("the venue never lied".to_owned());
    }
    faults
}

pub(crate) fn judge(scenario: &Scenario, venue: &Venue, shown: &Output) -> Judgement {
    let world = venue.world();
    let mut faults = common_faults(&world, venue, shown);
    match shown.code {
        Some(0) => faults.extend(ledger_faults(&world, shown)),
        Some(HALTED) => faults.extend(reason_faults(shown, &world)),
        Some(UNRESOLVED) => faults.extend(owed_faults(&world, shown)),
        Some(code) => faults.push(format!("exit code {code}")),
        None => faults.push("does not end".to_owned()),
    }
    faults.extend(expectation_faults(scenario, &world, shown));
    let lost = DEMO_CENTS - world.wallet(shown.ended_at);
    if scenario.loss_limit > 0 && lost > scenario.loss_limit * 100 + MAX_UNNOTICED_LOSS {
        faults.push(format!("{lost} cents are lost under a limit of {}.00", scenario.loss_limit));
    }
    let reason = shown.halts().into_iter().next().map(|(_, reason)| reason).unwrap_or_default();
    let line = format!(
        "code {}, {} orders, {} trades, lies {:?}, ledger {}, venue {:.2} {reason}",
        shown.code.map_or("none".to_owned(), |code| code.to_string()),
        world.orders.len(),
        world.trades.len(),
        world.lie_counts,
        shown.status["balance"],
        world.wallet(shown.ended_at) as f64 / 100.0,
    );
    Judgement { faults, line }
}
