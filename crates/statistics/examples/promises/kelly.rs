//! Results of Kelly stakes with the anytime-valid lower bound and with Wilson's.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::measured::{SEED, Scale, each};
use candlewick_statistics::{
    StatisticsError, StreamDependence, StreamEvent, TradeOutcome, TradeStream, WinRate, WinRateLowerBound,
    kelly_fraction, wilson_interval,
};
use std::ops::ControlFlow;

const PAYOUT: f64 = 0.85;
const FLOOR_TRADES: u64 = 200;
const TRADES: u64 = 5_000;
const BALANCE: f64 = 1_000.0;
const MINIMUM: f64 = 1.0;

/// Final state of a bot.
#[derive(Clone, Copy, Debug)]
struct Ended {
    /// Logarithm of the growth factor of the balance.
    growth: f64,
    /// Whether the bot no longer stakes anything although its balance would allow it.
    is_stuck: bool,
    is_ruined: bool,
}

/// Prints results for half Kelly after 200 trades at the minimum stake, which is 1 of 1,000.
pub(crate) fn print(scale: Scale) -> Result<(), StatisticsError> {
    let paths = (scale.trials / 20).max(10);
    println!(
        "\n| half Kelly, {TRADES} trades | stopped for good | ruined | median of the end balance from 1,000 | mean growth |"
    );
    println!("|---|---|---|---|---|");
    for points in [0.0, 2.0, 5.0, 8.0] {
        let stream = TradeStream::new(StreamDependence::Independent, &[PAYOUT], points, 0.0)?;
        for (name, is_running) in [("Wilson's, nothing below", false), ("sequence, the smallest below", true)]
        {
            let mut ended = each(paths, |path| follow(&stream, path, is_running))?;
            let share = |is: fn(&Ended) -> bool| {
                100.0 * ended.iter().filter(|one| is(one)).count() as f64 / ended.len() as f64
            };
            let (stuck, ruined) = (share(|one| one.is_stuck), share(|one| one.is_ruined));
            let mean = ended.iter().map(|one| one.growth).sum::<f64>() / ended.len() as f64;
            ended.sort_by(|a, b| a.growth.total_cmp(&b.growth));
            let median = BALANCE * ended[ended.len() / 2].growth.exp();
            println!(
                "| {points:+} points: {name} | {stuck:.1} % | {ruined:.1} % | {median:.0} | {mean:+.2} |"
            );
        }
    }
    Ok(())
}

fn follow(stream: &TradeStream, path: u64, is_running: bool) -> Result<Ended, StatisticsError> {
    let mut running = WinRateLowerBound::new(0.95)?;
    let (mut won, mut lost, mut balance, mut stake, mut bets) = (0, 0, BALANCE, 0.0, None);
    let mut failed = None;
    let mut next = |won: u64, lost: u64, balance: f64, lower_end: f64| {
        if won + lost < FLOOR_TRADES {
            return MINIMUM;
        }
        let lower = if is_running {
            Ok(lower_end)
        } else {
            WinRate::new(won, lost)
                .and_then(|rate| wilson_interval(rate, 0.90))
                .map(|interval| interval.lower)
        };
        match lower.and_then(|lower| kelly_fraction(lower, PAYOUT)) {
            Ok(kelly) if is_running => (balance * kelly / 2.0).max(MINIMUM),
            Ok(kelly) => balance * kelly / 2.0,
            Err(error) => {
                failed = Some(error);
                0.0
            }
        }
    };
    stream.play(SEED, path, TRADES, |event| {
        match event {
            StreamEvent::Opened { .. } => {
                stake = next(won, lost, balance, running.lower_bound());
                if stake < MINIMUM || stake > balance {
                    return ControlFlow::Break(());
                }
                bets = Some(running.on_open());
            }
            StreamEvent::Settled { outcome, .. } => {
                let is_won = outcome == TradeOutcome::Won;
                (won, lost) = (won + u64::from(is_won), lost + u64::from(!is_won));
                balance += stake * outcome.unit_return(PAYOUT);
                if let Some(bets) = bets.take() {
                    running.on_settled(bets, outcome);
                }
            }
        }
        ControlFlow::Continue(())
    });
    failed.map_or_else(
        || {
            let is_ruined = balance < MINIMUM;
            let is_stuck = !is_ruined && won + lost < TRADES;
            Ok(Ended { growth: (balance / BALANCE).max(1e-6).ln(), is_stuck, is_ruined })
        },
        Err,
    )
}
