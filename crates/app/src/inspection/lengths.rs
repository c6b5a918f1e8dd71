//! How long trades last, where a setting does not say it all: another length stands beside it, or the clock ends them.

use candlewick_engine::BotSettings;
use candlewick_sdk::{CloseType, ExpirationType, Millis};
use candlewick_simulator::SimulationSettings;
use std::fs;

/// An expiry of an hour and so many candles is seldom meant: somebody counted in seconds, or wrote one colon too many.
const MANY_CANDLES: i64 = 60;

/// Of one bot.
pub(super) fn lengths(bot: &BotSettings, simulation: &SimulationSettings) -> Vec<String> {
    let mut notes = Vec::new();
    let of_bot = bot.close_type;
    let of_rule = own_length(bot).filter(|own| *own != of_bot);
    notes.extend(of_rule.map(|own| {
        format!(
            "bot \"{}\": the expiry {own} of its strategy counts, and not close_type = \"{of_bot}\", which only signals from outside have",
            bot.name
        )
    }));
    let length = of_rule.unwrap_or(of_bot);
    notes.extend(beside_candles(bot, length));
    notes.extend(by_the_clock(bot, length, simulation.cutoff_of(length.duration())));
    notes
}

/// What the parameters say, or the file of a rule that they name.
fn own_length(bot: &BotSettings) -> Option<CloseType> {
    if !["rules", "combine"].contains(&bot.strategy.as_str()) {
        return None;
    }
    if let Some(own) = bot.params.get("expiry") {
        return own.as_str()?.parse().ok();
    }
    let file = bot.params.get("file")?.as_str()?;
    let rule: toml::Table = fs::read_to_string(file).ok()?.parse().ok()?;
    rule.get("expiry")?.as_str()?.parse().ok()
}

/// A length that a candle of the bot outlasts, or that is very many of them.
fn beside_candles(bot: &BotSettings, length: CloseType) -> Option<String> {
    let (name, interval) = (&bot.name, bot.interval);
    let (whole, candle) = (length.duration().get(), interval.length().get());
    if whole < candle {
        let minutes = CloseType::new(Millis::new(whole * 60)).ok().filter(|_| whole < Millis::MINUTE.get());
        let seconds = whole / Millis::SECOND.get();
        let meant = minutes.map(|code| format!("; {seconds} min are {code}")).unwrap_or_default();
        return Some(format!(
            "bot \"{name}\": an expiry of {length} is {}, shorter than its candles of {interval}: a backtest needs finer candles to price \
             it{meant}",
            words(whole)
        ));
    }
    (length.duration() >= Millis::HOUR && whole > MANY_CANDLES * candle).then(|| {
        format!(
            "bot \"{name}\": an expiry of {length} is {}, {} of its candles of {interval}",
            words(whole),
            whole / candle
        )
    })
}

/// A length that is counted from the clock's candles, and not from the open. What is left of one is at least `cutoff`.
fn by_the_clock(bot: &BotSettings, length: CloseType, cutoff: Millis) -> Option<String> {
    let (name, interval, whole) = (&bot.name, bot.interval, length.duration().get());
    match bot.expiration_type {
        ExpirationType::CandleClose if interval.length() < length.duration() => {
            let (candle, cutoff) = (interval.length().get(), cutoff.get());
            // Behind a candle of the bot there are so many left; the delay of the open makes them fewer.
            let (least, most) = if candle >= 2 * cutoff { (candle, whole) } else { (cutoff, whole + cutoff) };
            Some(format!(
                "bot \"{name}\": with CANDLE_CLOSE a trade ends with the clock's candle of {length} in which it opens: opened behind a candle \
                 of {interval} it lasts {} to {}, less the delay of its open; with TIME_FIXED always {length}",
                words(least),
                words(most)
            ))
        }
        ExpirationType::NextCandle => Some(format!(
            "bot \"{name}\": with NEXT_CANDLE a trade opens when the clock's next candle of {length} begins, up to {} behind its signal",
            words(whole)
        )),
        _ => None,
    }
}

/// In the largest unit that is whole.
fn words(milliseconds: i64) -> String {
    let seconds = milliseconds / 1_000;
    match (seconds % 3_600, seconds % 60) {
        (0, _) => format!("{} h", seconds / 3_600),
        (_, 0) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}
