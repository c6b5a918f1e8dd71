//! Lies in the messages of the venue.

use crate::clock::now_ms;
use crate::lies::{Kind, MarketLie, Place, WalletLie};
use crate::records::{DEMO_WALLET, OTHER_USER, REAL_WALLET, merge, money};
use crate::world::World;
use serde_json::{Value, json};

pub(crate) const fn is_of_records(lie: MarketLie) -> bool {
    matches!(lie, MarketLie::RecordsMoved(_))
}

pub(crate) fn market_lie(world: &World, is_meant: impl Fn(MarketLie) -> bool) -> Option<(usize, MarketLie)> {
    world.lies_about(world.orders.len()).into_iter().find_map(|(index, kind)| match kind {
        Kind::Market(lie) if is_meant(lie) => Some((index, lie)),
        _ => None,
    })
}

pub(crate) fn apply_lies(world: &mut World, trade: usize, place: Place, record: &mut Value) {
    let is_over =
        place != Place::Reply && world.trades[trade].word(place == Place::Detail, now_ms()).is_some();
    let Some(order) = world.trades[trade].order else { return };
    let first_request = world.orders[0].at;
    for (index, kind) in world.lies_about(order) {
        let is_told = match kind {
            Kind::FirstWord { .. }
            | Kind::Revised { .. }
            | Kind::Settled { .. }
            | Kind::CancelledKept
            | Kind::WinUnpaid => is_over,
            Kind::HiddenFee(_) | Kind::TenantFee { .. } | Kind::WalletAmounts { .. } => true,
            Kind::FrozenRequestTime => place == Place::Reply,
            Kind::CloseTime { place: where_told, .. }
            | Kind::RealFlag(where_told)
            | Kind::RealWallet(where_told)
            | Kind::OppositeDirection(where_told)
            | Kind::OtherUser(where_told) => where_told == place || where_told == Place::Everywhere,
            _ => false,
        };
        if is_told {
            world.count(index);
            lie_in_record(kind, first_request, record);
        }
    }
}

pub(crate) fn write(world: &mut World, place: Place, message: &Value) -> String {
    let text = message.to_string();
    let lies = world.lies.iter();
    let twice = lies
        .map(|lie| lie.kind)
        .position(|kind| kind == Kind::TwiceWritten(place) || kind == Kind::TwiceWritten(Place::Everywhere));
    let Some(lie) = twice else { return text };
    let written = |name: &str, value: &str| format!("\"{name}\":{value}");
    let mut changed = text.clone();
    for (name, value, second) in
        [("result", "\"WON\"", "\"DRAW\""), ("result", "\"LOST\"", "\"WON\""), ("amount", "10.0", "60.0")]
    {
        let both = format!("{},{}", written(name, value), written(name, second));
        changed = changed.replace(&written(name, value), &both);
    }
    if changed != text {
        world.count(lie);
    }
    changed
}

fn lie_in_record(kind: Kind, first_request: i64, record: &mut Value) {
    match kind {
        Kind::FrozenRequestTime => record["requestTime"] = json!(first_request),
        Kind::TenantFee { cents, .. } => record["tenantFeeAmount"] = json!(money(cents)),
        Kind::CloseTime { shift_ms, .. } => {
            if let Some(time) = record["closeTime"].as_i64() {
                record["closeTime"] = json!(time + shift_ms);
            }
        }
        Kind::RealFlag(_) => record["isDemo"] = json!(false),
        Kind::RealWallet(_) => {
            if let Some(entry) = record.pointer_mut("/wallets/0") {
                merge(entry, json!({"id": REAL_WALLET, "type": "REAL"}));
            }
        }
        Kind::OppositeDirection(_) => {
            let other = if record["direction"] == "BUY" { "SELL" } else { "BUY" };
            record["direction"] = json!(other);
        }
        Kind::OtherUser(_) => record["userId"] = json!(OTHER_USER),
        Kind::WalletAmounts { percents, .. } => {
            let Some(entry) = record.pointer("/wallets/0").cloned() else { return };
            let amount = record["amount"].as_f64().unwrap_or_default();
            let entries = percents.iter().enumerate().map(|(number, percent)| {
                let mut entry = entry.clone();
                entry["amount"] = json!(amount * *percent as f64 / 100.0);
                if number > 0 {
                    merge(
                        &mut entry,
                        json!({"id": format!("01JWALLET00000000000BONUS{number}"), "type": "BONUS"}),
                    );
                }
                entry
            });
            record["wallets"] = Value::Array(entries.collect());
        }
        _ => {}
    }
}

pub(crate) fn lie_about_wallets(lie: WalletLie, wallets: &mut Value, demo: i64) -> String {
    match lie {
        WalletLie::Twice => {
            let mut second = wallets[0].clone();
            second["balance"] = json!(money(demo + 2_345_600));
            wallets.as_array_mut().expect("wallets are a list").push(second);
        }
        WalletLie::Swapped => {
            wallets[0]["type"] = json!("REAL");
            wallets[1]["type"] = json!("DEMO");
        }
        WalletLie::OtherCurrency => wallets[0]["currency"] = json!("BRL"),
        WalletLie::OtherUser => wallets[0]["userId"] = json!(OTHER_USER),
        WalletLie::OtherId => wallets[0]["id"] = json!(DEMO_WALLET.replace("42", "43")),
        WalletLie::DuplicateKeys => {
            let balance = format!("\"balance\":{}", wallets[0]["balance"]);
            return wallets.to_string().replacen(&balance, &format!("{balance},\"balance\":123456.0"), 1);
        }
        WalletLie::Jump => wallets[0]["balance"] = json!(123_456.0),
        WalletLie::Gone => {
            wallets.as_array_mut().expect("wallets are a list").remove(0);
        }
    }
    wallets.to_string()
}
