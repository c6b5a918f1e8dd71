//! Stake and risk rules for the trials.

use crate::fixtures::{MONDAY, no_limits};
use serde_json::{Value, json};

fn with(more: &Value) -> Value {
    let mut rules = no_limits();
    rules.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rules
}

pub(crate) fn rules() -> Vec<(Value, Value)> {
    let fixed = json!({ "kind": "fixed", "amount": 10.0 });
    let usual = (fixed.clone(), json!({}));
    let rows = limits().into_iter().map(|more| (fixed.clone(), more)).chain(stakes());
    [usual].into_iter().chain(rows.map(|(stake, more)| (stake, with(&more)))).collect()
}

fn limits() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "max_open_trades": 5, "max_open_trades_per_symbol": 4, "allow_opposite": true }),
        json!({
            "max_open_trades": 0, "max_open_trades_per_symbol": 0, "allow_opposite": true, "allow_duplicate": true,
            "max_trades_per_hour": 9
        }),
        json!({ "cooldown_after_loss_s": 400, "cooldown_scope": "symbol" }),
        json!({ "cooldown_after_losses": 3, "cooldown_after_losses_s": 7_200, "max_trades_per_day": 20 }),
        json!({ "daily_loss_limit": 60, "daily_profit_target": 25, "day_start": "07:30" }),
        json!({ "hours": [{ "from": "08:00", "to": "16:30" }], "max_loss_streak": 9, "enforce_verdict": true }),
        json!({
            "max_open_trades": 5, "max_open_trades_per_symbol": 4, "allow_opposite": true,
            "bots": { "btc": { "max_open_trades": 2, "max_trades_per_day": 60, "daily_loss_limit": 45 } }
        }),
        json!({
            "blackouts": { "file": "news.csv", "hash": "ab", "spans": [
                { "from": MONDAY + 3_600_000, "to": MONDAY + 9_000_000 },
                { "from": MONDAY + 86_400_000, "to": MONDAY + 90_000_001, "symbols": ["BTCUSDT"] }
            ] },
            "bots": { "btc": { "daily_profit_target": 25, "max_loss_streak": 9 } }
        }),
        json!({
            "hours": [{ "from": "06:00", "to": "11:00" }, { "from": "13:00", "to": "05:00" }],
            "session": { "of": "hours", "loss_limit": 35, "profit_target_percent": 0.25 },
            "daily_loss_limit_percent": 0.6, "daily_profit_target_percent": 0.4,
            "pauses": [
                { "after": 2, "of": "wins", "for_s": 1_800 },
                { "after": 3, "of": "losses", "scope": "bot" },
                { "after": 7, "of": "trades", "for_s": 2_400, "scope": "symbol" }
            ]
        }),
        json!({
            "max_open_trades": 5, "max_open_trades_per_symbol": 4, "allow_opposite": true,
            "pauses": [{ "after": 2, "of": "losses", "for_s": 700 }, { "after": 5, "of": "trades", "for_s": 61 }],
            "min_payout_percent": 99.0, "min_payout_percent_by_symbol": { "BTCUSDT": 70.0 }, "payout_max_age_s": 900,
            "bots": { "btc": { "daily_loss_limit_percent": 0.5, "daily_profit_target_percent": 0.3 } }
        }),
        json!({
            "hours": [{ "from": "06:00", "to": "05:59" }], "session": { "of": "hours" },
            "bots": { "btc": { "session_loss_limit": 35, "session_profit_target_percent": 0.25 } }
        }),
        json!({ "max_drawdown_percent": 1.5, "min_payout_percent": 70.0, "payout_max_age_s": 900 }),
    ]
}

fn stakes() -> Vec<(Value, Value)> {
    let soros = |amount: f64| json!({ "kind": "soros", "amount": amount, "wins": 3 });
    let share = json!({ "kind": "share", "percent": 9.0 });
    let ladder = |levels: u32| {
        let mut ladder = json!({ "kind": "martingale", "amount": 5.0, "factor": 2.2, "levels": levels });
        if levels < 5 {
            ladder["entry"] = json!("next_candle");
        }
        ladder
    };
    let reset = |mut stake: Value| {
        stake["if_refused"] = json!("reset");
        stake
    };
    vec![
        (soros(7.0), json!({ "daily_loss_limit": 80 })),
        (share.clone(), json!({ "max_stake_percent": 8.99, "stake_step": 0.5 })),
        (soros(7.3), json!({ "max_stake": 20.2, "stake_step": 0.5, "cap_stakes": true })),
        (reset(soros(7.3)), json!({ "max_stake": 20.2, "stake_step": 0.5 })),
        (share, json!({ "max_stake_percent": 4.0, "stake_step": 0.5, "cap_stakes": true })),
        (json!({ "kind": "kelly", "fraction": 0.5, "kelly_floor_trades": 20 }), json!({})),
        (ladder(5), json!({ "max_stake": 60 })),
        (ladder(4), json!({})),
        (
            reset(ladder(3)),
            json!({
                "max_stake": 20, "max_open_trades": 5, "max_open_trades_per_symbol": 4, "allow_opposite": true,
                "cooldown_after_losses": 2, "cooldown_after_losses_s": 300
            }),
        ),
    ]
}
