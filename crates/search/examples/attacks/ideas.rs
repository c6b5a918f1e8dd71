//! Many ideas on the same sealed days, and one identity again with hidden inputs, in disguise or with more candles.

use crate::life::{END, Life, Result, SEALED, any, numbered, request};
use crate::market::{Bot, Days, Dice, Direction};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series};
use candlewick_search::evidence::ConfirmationRequest;

/// Confirms the 16 cells with the best explored results, one after the other.
pub(crate) fn best(cells: impl IntoIterator<Item = Bot>, life: &Life) -> Result<bool> {
    let score = |bot: Bot| (bot.score(&life.market, &(1..SEALED)), bot);
    let mut cells: Vec<(f64, Bot)> = cells.into_iter().map(score).collect();
    cells.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    any(cells.into_iter().take(16), |(_, bot)| life.shows(&bot))
}

/// Confirms many bots at once, which share the error rate of a test.
pub(crate) fn sets(life: &mut Life) -> Result<bool> {
    any(["first", "second", "third"], |identity| {
        let bots = life.random_bots::<12>();
        let request = ConfirmationRequest { sets: bots.len(), ..request(identity) };
        Ok(life.confirm(&request, |days| life.run_sets(&bots, days))?.1)
    })
}

/// Each of 25 ideas depends on the answer to the idea before it, and so on all answers.
pub(crate) fn adaptive(life: &mut Life) -> Result<bool> {
    let mut bot = Bot::random(&mut life.dice);
    any(0..25, |_| {
        let is_shown = life.shows(&bot)?;
        let mut dice = Dice::new(life.dice.number(), is_shown.into());
        bot = match dice.below(3) {
            0 => Bot { is_inverted: !bot.is_inverted, ..bot.clone() },
            1 => bot.clone().with_hours(dice.below(24), 8),
            _ => Bot::random(&mut dice),
        };
        Ok(is_shown)
    })
}

/// Pairs of correlated symbols: as one set, as two sets and each alone.
pub(crate) fn twins(life: &mut Life) -> Result<bool> {
    any(0..6, |pair| {
        let bot = |symbols| Bot::new(symbols).with_hours(4 * pair, 6);
        let both = [2 * pair, 2 * pair + 1].map(|symbol| bot(symbol..symbol + 1));
        let two_sets = ConfirmationRequest { sets: 2, ..request(format!("two sets {pair}")) };
        Ok(life.shows(&bot(2 * pair..2 * pair + 2))?
            || life.confirm(&two_sets, |days| life.run_sets(&both, days))?.1
            || any(&both, |bot| life.shows(bot))?)
    })
}

/// Returns a series with one candle on the first tested day.
fn candles(price: i64) -> Result<Vec<CandleSeries>> {
    let (price, interval) = (price as f64, Interval::MINUTE);
    let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
    let candle = Candle::new(Millis::DAY * (SEALED + 1), interval, numbers)?;
    Ok(vec![CandleSeries::new(Series { symbol: "EURUSD".parse()?, interval }, vec![candle])?])
}

fn hidden_bot(dice: &mut Dice, symbols: usize, hours: usize) -> Bot {
    Bot { direction: Direction::Coin(dice.number()), ..Bot::new(0..symbols).with_hours(8, hours) }
}

/// 50 runs with one identity, whose trades depend on hidden inputs. Only another file of candles gets another number.
pub(crate) fn hidden_inputs(life: &mut Life) -> Result<bool> {
    let mut bot = Bot::new(0..1);
    any(0..50, |run| {
        let (other, day) = (hidden_bot(&mut life.dice, 1, 6), END - 12);
        bot = if run % 10 == 0 { other.clone() } else { bot.clone() };
        let replay = |days: &Days| match run % 3 {
            0 => life.run(&[(&bot, days)]),
            1 => life.run(&[(&other, days)]),
            _ => life.run(&[(&bot, &(days.start..day)), (&other, &(day..days.end))]),
        };
        let request = ConfirmationRequest { candles: candles(1 + run / 10)?, ..request("same") };
        numbered(1 + run / 10, life.confirm(&request, replay)?)
    })
}

/// Bots that are renamed, and run on rescaled, inverted and shifted candles.
pub(crate) fn disguises(life: &mut Life) -> Result<bool> {
    let mut bot = Bot::new(0..1);
    any(0..40, |index| {
        bot = match index % 5 {
            0 => Bot::random(&mut life.dice),
            3 => Bot { is_inverted: !bot.is_inverted, ..bot.clone() },
            4 => bot.clone().with_hours(index as usize, 9),
            _ => bot.clone(),
        };
        let (name, candles) = (if index % 5 == 1 { "renamed" } else { "" }, candles(1 + index % 5)?);
        let request = ConfirmationRequest { candles, ..request(format!("{} {name}", index / 5)) };
        numbered(index + 1, life.confirm(&request, |days| life.run(&[(&bot, days)]))?)
    })
}

fn monthly(identity: impl Into<String>, month: i64) -> ConfirmationRequest {
    ConfirmationRequest { end: Millis::DAY * (END + 30 * month), ..request(identity) }
}

/// Confirms five bots again each month, with all candles so far. Each bot keeps its number.
pub(crate) fn growing_candles(life: &mut Life) -> Result<bool> {
    any((0..5 * 24).map(|test| (test / 5, test % 5)), |(month, index)| {
        let bot = Bot { duration: 4, ..Bot::new(0..1).with_hours(4 * index as usize, 1) };
        let request = monthly(index.to_string(), month);
        numbered(index + 1, life.confirm(&request, |days| life.run(&[(&bot, days)]))?)
    })
}

/// Confirms one identity again each month, with other trades in the months before.
pub(crate) fn changed_earlier_trades(life: &mut Life) -> Result<bool> {
    any(0..24, |month| {
        let bot = hidden_bot(&mut life.dice, 1, 1);
        numbered(1, life.confirm(&monthly("same", month), |days| life.run(&[(&bot, days)]))?)
    })
}

/// Confirms one identity again each month. The replay includes the last, partial day, whose trades differ each time.
pub(crate) fn partial_last_days(life: &mut Life) -> Result<bool> {
    let bot = Bot { duration: 4, ..Bot::new(0..1).with_hours(8, 1) };
    any(0..24, |month| {
        let last_day = hidden_bot(&mut life.dice, 4, 15);
        let end = monthly("", month).end + Millis::HOUR * 23;
        let replay = |days: &Days| life.run(&[(&bot, days), (&last_day, &(days.end..days.end + 1))]);
        Ok(life.confirm(&ConfirmationRequest { end, ..request("same") }, replay)?.1)
    })
}

/// Reveals the days of each test, and confirms the bot that was best on them. The replay includes the revealed days.
pub(crate) fn revealed_days(life: &mut Life) -> Result<bool> {
    let mut known = SEALED + 1..SEALED + 1;
    any(0..24, |month| {
        let mut bots = life.random_bots::<16>();
        bots.sort_by_cached_key(|bot| (1_000.0 * bot.score(&life.market, &known)) as i64);
        let (best, earlier) = (&bots[15], known.clone());
        let request = ConfirmationRequest { reveal: true, ..monthly("best", month) };
        let tested = life.confirm(&request, |days| {
            known = days.clone();
            life.run(&[(best, &earlier), (best, days)])
        })?;
        numbered(month + 1, tested)
    })
}
