//! Limits of `[risk]` that may stand and are seldom meant as they are read.

use candlewick_engine::RiskSettings;

/// In the order of the settings.
pub(super) fn doubtful_limits(risk: &RiskSettings) -> Vec<String> {
    let mut notes = Vec::new();
    for (key, most) in [
        ("max_open_trades", risk.max_open_trades),
        ("max_open_trades_per_symbol", risk.max_open_trades_per_symbol),
    ] {
        if most == 0 {
            notes.push(format!("risk.{key} = 0 is no limit: any number of trades may be open at once"));
        }
    }
    let by_symbol = risk.min_payout_percent_by_symbol.iter();
    let by_symbol =
        by_symbol.map(|(symbol, least)| (format!("min_payout_percent_by_symbol.{symbol}"), *least));
    let least = std::iter::once(("min_payout_percent".to_owned(), risk.min_payout_percent));
    notes.extend(least.chain(by_symbol).filter_map(|(key, least)| high_floor(&key, least)));
    notes.extend(risk.hours.iter().filter(|hours| hours.timezone == "UTC").map(|hours| {
        format!(
            "risk.hours: {} to {} is UTC; another zone is timezone = \"Europe/London\" beside them",
            hours.from, hours.to
        )
    }));
    notes
}

/// A least payout that hardly any venue pays.
fn high_floor(key: &str, least: f64) -> Option<String> {
    (least > 100.0).then(|| {
        let meant = Some(least - 100.0).filter(|rest| *rest >= 20.0);
        let meant = meant.map(|rest| {
            format!("; if a win of 1.00 is to bring back {:.2}, stake included, write {rest}", least / 100.0)
        });
        format!(
            "risk.{key} = {least} is more than the stake, and few venues pay above 100 %: signals wait for what hardly comes{}",
            meant.unwrap_or_default()
        )
    })
}
