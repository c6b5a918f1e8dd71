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
    notes.extend(best_below_its_least(risk));
    notes.extend(risk.hours.iter().filter(|hours| hours.timezone == "UTC").map(|hours| {
        format!(
            "risk.hours: {} to {} is UTC; another zone is timezone = \"Europe/London\" beside them",
            hours.from, hours.to
        )
    }));
    notes
}

/// Symbols of the choice by payout that may pay best and less than they need, while another would pay enough.
fn best_below_its_least(risk: &RiskSettings) -> Option<String> {
    let least = |symbol: &str| {
        risk.min_payout_percent_by_symbol.get(symbol).copied().unwrap_or(risk.min_payout_percent)
    };
    let lowest = risk.best_payout_of.iter().min_by(|one, other| least(one).total_cmp(&least(other)))?;
    let above = risk.best_payout_of.iter().filter(|symbol| least(symbol) > least(lowest));
    let above: Vec<String> = above.map(|symbol| format!("{symbol} ({} %)", least(symbol))).collect();
    let needs =
        if least(lowest) > 0.0 { format!("{} %", least(lowest)) } else { "no least payout".to_owned() };
    (!above.is_empty()).then(|| {
        format!(
            "risk.best_payout_of: {} may pay best and yet less than needed, while {lowest} needs {needs}: then the one is refused as it pays too \
             little, the other as it is not the best, and none trades; the same least payout for all of the choice prevents that",
            above.join(" or ")
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_whose_least_payouts_differ_is_noted() {
        let noted = |least: f64, by_symbol: &[(&str, f64)]| {
            let own = by_symbol.iter().map(|(symbol, least)| ((*symbol).to_owned(), *least)).collect();
            let risk = RiskSettings {
                min_payout_percent: least,
                min_payout_percent_by_symbol: own,
                best_payout_of: vec!["EURUSD".to_owned(), "GBPUSD".to_owned()],
                ..RiskSettings::default()
            };
            best_below_its_least(&risk)
        };
        // Of a GBPUSD that pays 90 and a EURUSD that pays 80 neither trades.
        let words = noted(0.0, &[("EURUSD", 75.0), ("GBPUSD", 91.0)]).unwrap();
        assert!(
            words.contains("GBPUSD (91 %) may pay best") && words.contains("EURUSD needs 75 %"),
            "{words}"
        );
        assert!(noted(80.0, &[("EURUSD", 85.0)]).unwrap().contains("EURUSD (85 %) may pay best"));
        let words = noted(0.0, &[("GBPUSD", 91.0)]).unwrap();
        assert!(words.contains("while EURUSD needs no least payout: then"), "{words}");
        assert_eq!(noted(80.0, &[("EURUSD", 80.0), ("BTCUSDT", 90.0)]), None);
        assert_eq!(noted(0.0, &[]), None);
    }
}
