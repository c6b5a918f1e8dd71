//! Error rates of tests that assume independent trades, which is why they do not decide.
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::measured::{SEED, Scale, each};
use crate::verdict::NULLS;
use candlewick_statistics::{
    Sprt, SprtDecision, StatisticsError, StreamEvent, TradeOutcome, TradeStream, WinRate, binomial_p_value,
    break_even,
};
use std::ops::ControlFlow;

/// Prints the error rates of these tests on the nulls of the verdict.
pub(crate) fn print(scale: Scale) -> Result<(), StatisticsError> {
    println!(
        "\nWhy figures that assume independent trades do not decide: the same paths, nominal error 5 %\n"
    );
    println!("| trades that win exactly p* | SPRT | binomial test after every trade |\n|---|---|---|");
    let naive = Naive::new(scale)?;
    for (name, dependence, payouts, draws) in NULLS {
        let (sprt, binomial) = naive.errors(&TradeStream::new(dependence, payouts, 0.0, draws)?, scale)?;
        println!("| {name} | {:.1} % | {:.1} % |", 100.0 * sprt, 100.0 * binomial);
    }
    Ok(())
}

/// Tests that assume independent trades.
struct Naive {
    /// Minimum number of wins with a one-sided p-value of at most 5 %, by number of decided trades.
    critical: Vec<u64>,
}

impl Naive {
    fn new(scale: Scale) -> Result<Self, StatisticsError> {
        let null = break_even(0.85)?;
        let (mut critical, mut won) = (vec![u64::MAX], 0);
        for decided in 1..=scale.trades {
            // Even if all trades are won, the p-value may be above 5 %. Then no count is enough.
            while won <= decided && binomial_p_value(WinRate::new(won, decided - won)?, null)? > 0.05 {
                won += 1;
            }
            critical.push(won);
        }
        Ok(Self { critical })
    }

    /// Returns the shares of paths on which the SPRT and the binomial test, repeated after every trade,
    /// claim an edge.
    fn errors(&self, stream: &TradeStream, scale: Scale) -> Result<(f64, f64), StatisticsError> {
        let claims = each(scale.trials, |path| self.follow(stream, path, scale))?;
        let share = |is: fn(&(bool, bool)) -> bool| {
            claims.iter().filter(|one| is(one)).count() as f64 / scale.trials as f64
        };
        Ok((share(|(by_sprt, _)| *by_sprt), share(|(_, by_binomial)| *by_binomial)))
    }

    /// Returns whether the SPRT and the binomial test claim an edge on this path. With mixed payouts, the
    /// binomial test uses the break-even of payout 85, shifted by the mean of the trades' break-evens.
    fn follow(&self, stream: &TradeStream, path: u64, scale: Scale) -> Result<(bool, bool), StatisticsError> {
        let mut sprt = Sprt::new(scale.plan);
        let (mut won, mut decided, mut shift, mut is_shown) = (0_u64, 0_usize, 0.0, false);
        let mut failed = None;
        stream.play(SEED, path, scale.trades, |event| {
            let StreamEvent::Settled { payout_fraction: b, outcome, .. } = event else {
                return ControlFlow::Continue(());
            };
            let outcome_of = match outcome {
                TradeOutcome::Won => sprt.on_win(b),
                TradeOutcome::Lost => sprt.on_loss(b),
                TradeOutcome::Draw | TradeOutcome::Cancelled => return ControlFlow::Continue(()),
            };
            failed = outcome_of.err();
            won += u64::from(outcome == TradeOutcome::Won);
            decided += 1;
            shift += 1.0 / (1.0 + b) - 1.0 / 1.85;
            is_shown |= won as f64 - shift >= self.critical[decided] as f64;
            ControlFlow::Continue(())
        });
        failed.map_or(Ok((sprt.decision() == SprtDecision::Edge, is_shown)), Err)
    }
}
