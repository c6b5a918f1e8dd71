//! What a trader should know of a configuration that is sound: how bots stand in each other's way, and what they wait for.

use super::doubtful_limits::doubtful_limits;
use super::doubtful_symbols::{doubtful_asset_type, doubtful_symbol};
use super::doubtful_values::doubtful_values;
use super::hours::{hours_that_never_meet, split_hours};
use super::idle_blackouts::idle_blackouts;
use super::lengths::lengths;
use crate::bots::simulated_for_nobody;
use crate::candles::bots_without_candles;
use crate::configuration::{Config, Loaded};
use crate::signals::{refused_of_list, unbound_signals};
use crate::traded_symbols::TradedSymbols;
use crate::warm_up::long_warm_ups;
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::BotSettings;
use candlewick_sdk::{Registry, Symbol};

/// In the order of the bots.
pub fn notes_of(loaded: &Loaded, registry: &Registry) -> Vec<String> {
    let bots = &loaded.config.bots;
    let most = loaded.config.risk.max_open_trades_per_symbol;
    let mut notes = Vec::new();
    let mut symbols: Vec<Symbol> = Vec::new();
    for bot in bots {
        if symbols.contains(&bot.symbol) {
            continue;
        }
        symbols.push(bot.symbol);
        let own: Vec<&BotSettings> = bots.iter().filter(|other| other.symbol == bot.symbol).collect();
        notes.extend(doubtful_symbol(bot.symbol));
        notes.extend(side_by_side(&own, most));
    }
    notes.extend(bots.iter().filter_map(doubtful_asset_type));
    notes.extend(bots.iter().flat_map(|bot| lengths(bot, &loaded.config.simulation)));
    notes.extend(doubtful_values(loaded));
    notes.extend(doubtful_limits(&loaded.config.risk));
    notes.extend(split_hours(&loaded.config));
    notes.extend(hours_that_never_meet(&loaded.config));
    notes.extend(settings_of_other_symbols(loaded));
    notes.extend(idle_blackouts(loaded, SystemClock::new().now()));
    notes.extend(bots_without_candles(loaded));
    notes.extend(without_a_door(loaded));
    notes.extend(refused_of_list(loaded));
    notes.extend(unbound_signals(loaded));
    let waits = long_warm_ups(bots, registry).into_iter();
    notes.extend(waits.map(|words| {
        format!("before the first signal, {words}: live asks the venue for them at its start, a backtest trades none of them")
    }));
    notes
}

/// Warns about payouts and price steps of the simulation for symbols that no bot trades.
fn settings_of_other_symbols(loaded: &Loaded) -> Vec<String> {
    let traded = TradedSymbols::new(&loaded.config.bots);
    let note = |(name, key): (String, String)| {
        format!(
            "{key}: only other programs at `candlewick sandbox` use it: {}",
            traded.describe_unknown(&name)
        )
    };
    simulated_for_nobody(loaded).into_iter().map(note).collect()
}

/// Bots that never signal, where nobody else can but by hand.
fn without_a_door(loaded: &Loaded) -> Vec<String> {
    let Config { signals, bots, .. } = &loaded.config;
    if signals.list.is_some() || signals.listen.is_some() || signals.stdin {
        return Vec::new();
    }
    let silent = bots.iter().filter(|bot| bot.strategy == "none");
    let words = |bot: &BotSettings| {
        format!(
            "bot \"{}\" has the strategy \"none\", which never signals, and no door for signals from outside is open: it trades what \
             `candlewick signal {}` sends, and nothing else, unless signals.list, signals.listen or signals.stdin is set",
            bot.name, bot.name
        )
    };
    silent.map(words).collect()
}

/// Several bots on one symbol, where its limit lets fewer trades be open.
fn side_by_side(bots: &[&BotSettings], most: u32) -> Option<String> {
    let [first, _, ..] = bots else { return None };
    (most > 0 && (most as usize) < bots.len()).then(|| {
        let names: Vec<String> = bots.iter().map(|bot| format!("\"{}\"", bot.name)).collect();
        format!(
            "bots {} all trade {}, of which risk.max_open_trades_per_symbol = {most} may be open: the signal of one is refused while a \
             trade of another is open",
            names.join(", "),
            first.symbol
        )
    })
}
