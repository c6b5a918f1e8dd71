//! Values that may stand and are seldom meant: payouts above 100 % or below the least, a ladder of one level or cut in its middle, a
//! share where percent was meant.

use super::cut_ladders::cut_ladders;
use crate::configuration::{Config, Loaded};
use candlewick_engine::{BotSettings, StakeSettings};
use candlewick_sdk::{Millis, Payout, Symbol};

/// A true range of so much of the price in a candle is rare, as a share of it.
const RARE_RANGE: f64 = 0.05;
/// Of candles that are at most so long.
const LONGEST: Millis = Millis::from_seconds(3_600);

/// In the order of the bots.
pub(super) fn doubtful_values(loaded: &Loaded) -> Vec<String> {
    let config = &loaded.config;
    let mut notes = Vec::new();
    let mut symbols: Vec<Symbol> = Vec::new();
    for bot in &config.bots {
        if !symbols.contains(&bot.symbol) {
            symbols.push(bot.symbol);
            notes.extend(high_payout(bot.symbol, config.simulation.payout_of(bot.symbol)));
        }
        notes.extend(ladder_of_one(bot));
        notes.extend(wide_ranges(bot));
        notes.extend(pays_too_little(bot, config));
        let pays = config.simulation.payout_of(bot.symbol).to_percent();
        notes.extend(gate_of_another_payout(bot, pays));
    }
    notes.extend(cut_ladders(loaded));
    notes
}

/// Venues of fixed-time trades pay less than the stake.
fn high_payout(symbol: Symbol, payout: Payout) -> Option<String> {
    let percent = payout.to_percent();
    (percent > 100.0).then(|| {
        let enough = 100.0 / (1.0 + percent / 100.0);
        let meant = Some(percent - 100.0).filter(|rest| *rest >= 20.0);
        let meant = meant.map(|rest| format!("; if a win of 1.00 brings back {:.2}, stake included, write {rest}", percent / 100.0));
        format!(
            "{symbol}: a payout of {percent} % is more than the stake, with which {enough:.2} % of wins break even: few venues pay above \
             100 %{}",
            meant.unwrap_or_default()
        )
    })
}

fn ladder_of_one(bot: &BotSettings) -> Option<String> {
    matches!(bot.stake, StakeSettings::Martingale { levels: 1, .. }).then(|| {
        format!(
            "bot \"{}\": a ladder of levels = 1 is its first stake alone, and no gale: the first stake counts, so one gale is levels = 2",
            bot.name
        )
    })
}

/// A filter of volatility whose bound is a share that no candle has, because percent were meant.
fn wide_ranges(bot: &BotSettings) -> Vec<String> {
    let filters = bot.params.get("filters").and_then(|filters| filters.as_array());
    let words = |(place, filter): (usize, &serde_json::Value)| {
        let bounds = filter.get("volatility")?;
        let (key, bound) = ["min", "max"].iter().find_map(|key| {
            let bound = bounds.get(*key)?.as_f64()?;
            (bound >= RARE_RANGE).then_some((key, bound))
        })?;
        let percent = (bound * 1e6).round() / 1e4;
        let share = (bound * 1e6).round() / 1e8;
        Some(format!(
            "bot \"{}\": filters[{place}].volatility.{key} = {bound} is {percent} % of the price in a candle of {}, which hardly any \
             candle has: it is a share, and {bound} % is {key} = {share}",
            bot.name, bot.interval
        ))
    };
    let is_short = bot.interval.length() <= LONGEST;
    filters.into_iter().flatten().enumerate().filter(|_| is_short).filter_map(words).collect()
}

/// A symbol that pays less than its bot asks for, by what a backtest and the sandbox are told.
fn pays_too_little(bot: &BotSettings, config: &Config) -> Option<String> {
    let Config { risk, simulation, .. } = config;
    let own = risk.min_payout_percent_by_symbol.get(bot.symbol.as_str());
    let (least, key) = own.map_or((risk.min_payout_percent, "risk.min_payout_percent"), |least| {
        (*least, "risk.min_payout_percent_by_symbol")
    });
    let pays = simulation.payout_of(bot.symbol).to_percent();
    (pays < least).then(|| {
        format!(
            "bot \"{}\": {} pays {pays} % by [simulation], less than the {least} % of {key}: a backtest and the sandbox open nothing but trades \
             at the smallest stake, which find out the payout",
            bot.name, bot.symbol
        )
    })
}

/// A gate that waits for an edge at a payout that the symbol does not pay.
fn gate_of_another_payout(bot: &BotSettings, pays: f64) -> Option<String> {
    let asked = bot.params.get("gate")?.get("payout")?.as_f64()?;
    (asked > pays).then(|| {
        let enough = |percent: f64| 100.0 / (1.0 + percent / 100.0);
        format!(
            "bot \"{}\": its gate opens for an edge at a payout of {asked} %, with which {:.2} % of wins break even; {} pays {pays} % by \
             [simulation], with which {:.2} % do: what opens it may lose there, so write payout = {pays}",
            bot.name,
            enough(asked),
            bot.symbol,
            enough(pays)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 / 2.85.
    #[test]
    fn a_payout_above_the_stake_is_noted_with_its_break_even() {
        let symbol = Symbol::new("EURUSD").unwrap();
        let noted =
            |percent: &str| high_payout(symbol, Payout::from_percent(percent.parse().unwrap()).unwrap());
        assert_eq!(noted("100"), None);
        let words = noted("185").unwrap();
        assert!(
            words.contains("35.09 % of wins break even")
                && words.ends_with("brings back 1.85, stake included, write 85"),
            "{words}"
        );
        assert!(noted("110").unwrap().ends_with("100 %"), "10 % is nobody's payout");
    }

    #[test]
    fn a_gate_for_more_than_the_symbol_pays_is_noted_with_both_rates() {
        let bot = |payout: f64| -> BotSettings {
            serde_json::from_value(serde_json::json!({
                "name": "gated", "symbol": "EURUSD", "interval": "1m", "strategy": "combine", "close_type": "01:00",
                "params": { "gate": { "verdict": "shown", "payout": payout } },
            }))
            .unwrap()
        };
        // 100 / 2.8 and 100 / 1.82.
        let words = gate_of_another_payout(&bot(180.0), 82.0).unwrap();
        assert!(
            words.contains("with which 35.71 % of wins") && words.contains("with which 54.95 % do"),
            "{words}"
        );
        assert_eq!(gate_of_another_payout(&bot(82.0), 82.0), None);
        assert_eq!(gate_of_another_payout(&bot(80.0), 82.0), None);
    }
}
