use super::*;
use crate::simulation::Dice;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Known {
    Opened(usize),
    Ended(usize, TradeOutcome, f64),
}

fn build_sequence(known: &[Known]) -> ConfidenceSequence {
    let (mut sequence, mut open) = (ConfidenceSequence::new(), BTreeMap::new());
    for one in known {
        match *one {
            Known::Opened(trade) => drop(open.insert(trade, sequence.on_open())),
            Known::Ended(trade, outcome, payout) => {
                sequence.on_settled(open.remove(&trade).unwrap(), outcome, payout);
            }
        }
    }
    sequence
}

/// Builds batches of simultaneous trades, whose wins become known before losses. Some are drawn or cancelled.
fn batches(dice: &mut Dice, size: usize, count: usize, win_rate: f64) -> Vec<Known> {
    let mut known = Vec::new();
    for batch in 0..count {
        let trades = || batch * size..(batch + 1) * size;
        known.extend(trades().map(Known::Opened));
        let mut ends: Vec<(u8, Known)> = trades()
            .map(|trade| {
                let (place, outcome) = match dice.uniform() {
                    low if low < 0.02 => (1, TradeOutcome::Draw),
                    low if low < 0.04 => (1, TradeOutcome::Cancelled),
                    _ if dice.random_bool(win_rate) => (0, TradeOutcome::Won),
                    _ => (2, TradeOutcome::Lost),
                };
                (place, Known::Ended(trade, outcome, [0.6, 0.85, 1.3][dice.index_below(3)]))
            })
            .collect();
        ends.sort_by_key(|(place, _)| *place);
        known.extend(ends.into_iter().map(|(_, end)| end));
    }
    known
}

fn inflations(known: &[Known]) -> BTreeMap<usize, f64> {
    let mut opened: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ended: Vec<(usize, usize, f64)> = Vec::new();
    let mut inflations = BTreeMap::new();
    for (time, one) in known.iter().enumerate() {
        match *one {
            Known::Opened(trade) => {
                let (mut pairs, mut squares) = (0.0, 0.0);
                for (place, (later, _, r)) in ended.iter().enumerate() {
                    squares += r * r;
                    let together = ended[..place].iter().filter(|(_, end, _)| *end > opened[later]);
                    pairs += together.map(|(.., other)| r * other).sum::<f64>();
                }
                opened.insert(trade, time);
                inflations.insert(trade, 1.0 + 2.0 * f64::max(pairs, 0.0) / (squares + 10.0));
            }
            Known::Ended(trade, outcome, payout) => ended.push((trade, time, outcome.unit_return(payout))),
        }
    }
    inflations
}

/// Computes by definition, bet by bet, the largest capital that was ever reached against this candidate.
fn largest_capital(
    (known, inflations): (&[Known], &BTreeMap<usize, f64>),
    side: BetSide,
    candidate: f64,
    is_rate: bool,
) -> f64 {
    let mut capitals = [1.0_f64; 8];
    let mut bets: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut largest: f64 = 1.0;
    let worst = 2.0;
    for one in known {
        match *one {
            Known::Opened(trade) => {
                let shares = (0..8).map(|j| 0.0025 * f64::from(1 << j) / inflations[&trade]);
                let placed: Vec<f64> = shares.zip(capitals).map(|(share, capital)| share * capital).collect();
                capitals.iter_mut().zip(&placed).for_each(|(capital, bet)| *capital -= bet * worst);
                bets.insert(trade, placed);
            }
            Known::Ended(trade, outcome, payout) => {
                let pays = if is_rate { 1.0 } else { payout };
                let is_out = outcome == TradeOutcome::Cancelled || is_rate && outcome == TradeOutcome::Draw;
                let gain = match side {
                    _ if is_out => 0.0,
                    BetSide::Above => outcome.unit_return(pays) - candidate,
                    BetSide::Below if pays <= 1.0 => candidate - outcome.unit_return(pays),
                    BetSide::Below => (candidate - outcome.unit_return(pays)) * 2.0 / (1.0 + pays),
                };
                for (capital, bet) in capitals.iter_mut().zip(&bets[&trade]) {
                    *capital += bet * (worst + gain);
                }
            }
        }
        largest = largest.max(capitals.iter().sum::<f64>() / 8.0);
    }
    largest
}

#[test]
fn refutes_candidates_by_the_definition() {
    let mut refuted = 0;
    for path in 0..6 {
        let mut dice = Dice::new(91, path);
        let known = batches(&mut dice, [1, 3, 7][path as usize % 3], 21, 0.35 + 0.1 * path as f64);
        let (sequence, inflations) = (build_sequence(&known), inflations(&known));
        let known = (&*known, &inflations);
        for confidence in [0.5, 0.95] {
            let goal = 2.0 / (1.0 - confidence);
            for step in -9..=9 {
                let candidate = f64::from(step) / 10.0;
                let expected = [BetSide::Above, BetSide::Below]
                    .map(|side| largest_capital(known, side, candidate, false) >= goal);
                refuted += expected.iter().filter(|is| **is).count();
                let found = sequence.excludes_edge(candidate, confidence).unwrap();
                assert_eq!(found, expected[0] || expected[1], "{candidate} at {confidence}, path {path}");
            }
        }
    }
    assert!(refuted > 50, "{refuted}");
}

#[test]
fn ends_lie_where_the_definition_crosses_its_goal() {
    let near = 2.0 / f64::from(INTERVAL_STEPS);
    for path in 0..4 {
        let known = batches(&mut Dice::new(92, path), [1, 4][path as usize % 2], 40, 0.8 - 0.2 * path as f64);
        let (sequence, inflations) = (build_sequence(&known), inflations(&known));
        let known = (&*known, &inflations);
        let (edge, rate) = (sequence.edge(0.9).unwrap(), sequence.win_rate(0.9).unwrap());
        let mut crossed = 0;
        let mut check = |side, end: f64, is_rate| {
            if end.abs() < 1.0 {
                crossed += 1;
                let outwards = if side == BetSide::Above { near } else { -near };
                assert!(largest_capital(known, side, end, is_rate) >= 20.0, "{side:?} {end}");
                assert!(largest_capital(known, side, end + outwards, is_rate) < 20.0, "{side:?} {end}");
            }
        };
        check(BetSide::Above, edge.lower, false);
        check(BetSide::Below, edge.upper, false);
        check(BetSide::Above, 2.0 * rate.lower - 1.0, true);
        check(BetSide::Below, 2.0 * rate.upper - 1.0, true);
        assert!(crossed >= 2, "{edge:?} {rate:?}");
    }
}

fn sequence_of_trades(outcomes: impl Iterator<Item = TradeOutcome>, payout: f64) -> ConfidenceSequence {
    let mut sequence = ConfidenceSequence::new();
    for outcome in outcomes {
        let open = sequence.on_open();
        sequence.on_settled(open, outcome, payout);
    }
    sequence
}

#[test]
fn interval_without_trades_is_unbounded() {
    let none = ConfidenceSequence::new();
    assert_eq!(none.edge(0.95), Ok(ConfidenceInterval { lower: -1.0, upper: 1.0 }));
    assert_eq!(none.win_rate(0.95), Ok(ConfidenceInterval { lower: 0.0, upper: 1.0 }));
    for confidence in [0.0, 1.0, f64::NAN, 95.0] {
        assert!(none.edge(confidence).is_err() && none.win_rate(confidence).is_err(), "{confidence}");
        assert!(none.excludes_edge(0.0, confidence).is_err() && WinRateLowerBound::new(confidence).is_err());
    }
    assert_eq!(sequence_of_trades((0..200).map(|_| TradeOutcome::Won), 3.0).edge(0.95).unwrap().lower, 1.0);
}

#[test]
fn cancelled_trades_do_not_count_and_payout_bounds_the_edge() {
    let mut sequence = ConfidenceSequence::new();
    for (outcome, payout, settled, upper) in [
        (TradeOutcome::Cancelled, 2.0, 0, 1.0),
        (TradeOutcome::Won, 0.85, 1, 1.0),
        (TradeOutcome::Draw, 1.3, 2, 1.3),
        (TradeOutcome::Lost, 0.9, 3, 1.3),
    ] {
        let open = sequence.on_open();
        sequence.on_settled(open, outcome, payout);
        let found = (sequence.settled(), sequence.edge(0.95).unwrap().upper);
        assert_eq!(found, (settled, upper), "{outcome:?} at {payout}");
    }
}

#[test]
fn an_edge_that_has_gone_lets_the_ends_cross() {
    let trades = |count: usize, every: usize| {
        (0..count).map(move |trade| if trade % every == 0 { TradeOutcome::Lost } else { TradeOutcome::Won })
    };
    let edge = sequence_of_trades(trades(600, 3).chain(trades(6_000, 2)), 0.85).edge(0.95).unwrap();
    assert!(edge.upper < edge.lower, "{edge:?}");
}

#[test]
fn running_bound_equals_sequence_on_its_grid() {
    let mut moved = 0;
    for (path, win_rate) in [(0, 0.62), (1, 0.7), (2, 0.99), (3, 0.4)] {
        let known = batches(&mut Dice::new(95, path), 3, 200, win_rate);
        let (mut sequence, mut running) = (ConfidenceSequence::new(), WinRateLowerBound::new(0.95).unwrap());
        let (mut open, mut bets) = (BTreeMap::new(), BTreeMap::new());
        for (place, one) in known.iter().enumerate() {
            match *one {
                Known::Opened(trade) => {
                    open.insert(trade, sequence.on_open());
                    bets.insert(trade, running.on_open());
                }
                Known::Ended(trade, outcome, _) => {
                    sequence.on_settled(open.remove(&trade).unwrap(), outcome, 1.0);
                    running.on_settled(bets.remove(&trade).unwrap(), outcome);
                }
            }
            if place % 199 == 0 {
                // The lower end is too low by at most one bisection step.
                let lower = sequence.win_rate(0.9).unwrap().lower;
                let on_grid = |end: f64| match ((end - 0.5) / 0.004).floor().min(63.0) {
                    steps if steps < 0.0 => 0.0,
                    steps => 0.5 + 0.004 * steps,
                };
                let (least, most) =
                    (on_grid(lower) - 1e-9, on_grid(lower + 1.0 / f64::from(INTERVAL_STEPS)) + 1e-9);
                assert!((least..=most).contains(&running.lower_bound()), "path {path} after {place}");
                moved += usize::from(least > 0.0);
            }
        }
    }
    assert!(moved > 8, "{moved}");
}
