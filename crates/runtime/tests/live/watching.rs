//! Polling of wallets, prices and clocks.

use crate::prelude::*;

#[tokio::test(start_paused = true)]
async fn polls_and_reports_wallets_at_their_interval() {
    let mut stage = Stage::paused().await.bot(btc(), &[]);
    stage.settings.wallet_every_s = 30;
    let stage = stage.balances(&[(0, 900), (60_000, 950)]);
    let stage = stage.trouble_during(Which::Balances, (115_000, 125_000), Trouble::Fail(unavailable()));
    let ran = stage.run_for(130_000).await;
    let handled = ran.picked(|kind| match kind {
        EventKind::Balance { amount } => Some(amount.minor()),
        _ => None,
    });
    // A difference is read again after 11 s and booked then. At the end the wallet agrees, which causes no event.
    let expected = [(0, 100_000), (30, 90_000), (41, 90_000), (71, 95_000), (82, 95_000), (112, 95_000)];
    assert_eq!(handled, expected.map(|(second, minor)| (second * 1_000, second * 1_000, minor)));
    let (wallet, free) = (ran.finished().wallet, ran.finished().free);
    assert_eq!((wallet, free.minor()), (Some(free), 95_000));
    // A hanging request is not repeated in the meantime.
    let stage = Stage::paused().await.bot(btc(), &[]).hang(Which::Balances, (0, 15_000));
    let ran = stage.with(|stage| stage.settings.wallet_every_s = 10).run_for(95_000).await;
    assert_eq!(ran.request_times(&Ask::Balances), [10_000, 80_000, 90_000, 95_000]);
}

#[tokio::test(start_paused = true)]
async fn polls_prices_at_multiples_of_the_interval_one_at_a_time() {
    let mut stage = Stage::paused().await.bot(btc(), &[]);
    (stage.wants_prices, stage.settings.price_every_ms) = (true, 5_000);
    let ran = stage.slow(Which::Prices, (10_000, 10_001), 7_000).run_for(31_000).await;
    let asked = [5_000, 10_000, 20_000, 25_000, 30_000];
    assert_eq!(ran.request_times(&Ask::Price(btc())), asked);
    let handled = ran.picked(|kind| matches!(kind, EventKind::Price { .. }).then_some(()));
    let moments: Vec<_> = handled.iter().map(|(at, received, ())| (*at, *received)).collect();
    assert_eq!(moments, asked.map(|at| (at, if at == 10_000 { 17_000 } else { at })));
}

/// The venue's `Date` is this far ahead from each moment on. Expected are the handled offsets (ours minus theirs), and
/// whether the signals of minutes 1 to 4 are rejected as skewed.
async fn check_skew(ahead: &[(i64, i64)], spells: &[(i64, i64)], handled: &[(i64, i64)], refused: &[i64]) {
    let signals = [MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE];
    let mut stage = Stage::paused().await.bot(btc(), &signals);
    stage.script.ahead = ahead.iter().map(|(from, ms)| (stage.at(*from), Millis::new(*ms))).collect();
    for _ in signals {
        stage = stage.failed_open(not_sent());
    }
    for (from, ms) in spells {
        stage = stage.slow(Which::Candles(btc()), (*from, from + 1), *ms);
    }
    let ran = stage.run_for(4 * MINUTE + 20_000).await;
    let offsets = ran.picked(|kind| match kind {
        EventKind::Skew { offset } => Some(offset.get()),
        _ => None,
    });
    assert_eq!(offsets.into_iter().map(|(at, _, offset)| (at, offset)).collect::<Vec<_>>(), handled);
    let expected: Vec<_> = refused.iter().map(|minute| (minute * MINUTE, Rule::ClockSkew)).collect();
    assert_eq!(ran.refused(), expected);
}

#[tokio::test(start_paused = true)]
async fn reports_a_clock_difference_and_rejects_signals_until_it_ends() {
    // Candles are answered at full seconds: a date is exact, and up to 999 ms more is possible.
    check_skew(&[(0, 0)], &[], &[], &[]).await;
    check_skew(&[(1, 900)], &[], &[], &[]).await;
    check_skew(&[(1, 2_000)], &[], &[(MINUTE, -2_000)], &[]).await;
    let healed = [(1, 3_000), (2 * MINUTE + 1, 0)];
    check_skew(&healed, &[], &[(MINUTE, -3_000), (4 * MINUTE, 0)], &[1, 2, 3]).await;
    let leapt = [(1, 0), (2 * MINUTE + 1, -60_000)];
    check_skew(&leapt, &[], &[(3 * MINUTE, 59_001)], &[3, 4]).await;
    // Behind by 4 s: 3,001 ms are certain, because the date may have been a second old.
    check_skew(&[(1, -4_000)], &[], &[(MINUTE, 3_001)], &[1, 2, 3, 4]).await;
    // A slow answer that proves nothing does not revoke earlier proof.
    check_skew(&[(1, 3_000)], &[(2 * MINUTE, 4_500)], &[(MINUTE, -3_000)], &[1, 2, 3, 4]).await;
}
