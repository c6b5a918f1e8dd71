use super::model::{Habits, Owner, Requested, Run, name};
use crate::resolver::{EscalationReason, Resolution};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const HOUR: Millis = Millis::HOUR;

fn habits(fails_one_in: u64) -> impl Strategy<Value = Habits> {
    (prop::bool::weighted(0.67), any::<bool>(), 0_u64..5, 0..=fails_one_in, 0_i64..20_000, any::<u64>())
        .prop_map(|(says_length, shuffles, repeats_one_in, fails, wallet_lag, seed)| Habits {
            says_length,
            shuffles,
            // A venue that fails or repeats rows on every page never has a complete list.
            repeats_one_in: if repeats_one_in < 2 { 0 } else { repeats_one_in + 2 },
            fails_one_in: if fails < 6 { 0 } else { fails },
            wallet_lag,
            seed,
        })
}

/// Requests that take up to 20 s, arrive up to 30 s later, and are listed within 100 s.
fn requested(owners: &[Owner]) -> impl Strategy<Value = Requested> + use<> {
    let owner = prop::sample::select(owners.to_vec());
    let direction = prop::sample::select(vec![Direction::Buy, Direction::Sell]);
    let accepted = prop::option::weighted(0.6, (0.0_f64..1.0, 0_i64..100_000));
    (owner, direction, 1_i64..3, 0_i64..300_000, 1_i64..20_000, accepted).prop_map(
        |(owner, direction, stake, sent, takes, accepted)| {
            let longest = match owner {
                Owner::Doubted => takes + 30_000,
                Owner::Answered => takes,
                Owner::Stranger | Owner::Hand | Owner::RealMoney => 0,
            };
            let accepted = accepted.map(|(part, lag)| ((part * longest as f64) as i64, lag));
            let stake = stake * 1_000;
            Requested { owner, is_departure: false, stake, direction, sent, takes, accepted }
        },
    )
}

/// Requests whose orders all differ, and whose stakes have different sums in every combination.
fn distinct(owners: &[Owner]) -> impl Strategy<Value = Vec<Requested>> + use<> {
    prop::collection::vec(requested(owners), 1..10).prop_map(|mut all| {
        for (place, requested) in all.iter_mut().enumerate() {
            requested.stake = 100 << place;
        }
        all
    })
}

fn adopted(run: &Run) -> Vec<(IntentId, String)> {
    let adoption = |(_, resolution): &(Millis, Resolution)| match resolution {
        Resolution::Adopt { intent, report } | Resolution::AdoptLate { intent, report } => {
            Some((*intent, report.id.clone()))
        }
        _ => None,
    };
    run.resolutions.iter().filter_map(adoption).collect()
}

fn found_of(run: &Run, place: usize) -> Vec<&'static str> {
    let own = |id: &str, word| Some(if id == name(place) { word } else { "another's" });
    let word = |(_, resolution): &(Millis, Resolution)| match resolution {
        Resolution::Adopt { intent: of, report } if *of == intent(place) => own(&report.id, "adopted"),
        Resolution::AdoptLate { intent: of, report } if *of == intent(place) => own(&report.id, "late"),
        Resolution::NotOpened { intent: of, .. } if *of == intent(place) => Some("nothing"),
        Resolution::Escalate { intent: of, .. } if *of == intent(place) => Some("asked"),
        _ => None,
    };
    run.resolutions.iter().filter_map(word).collect()
}

const fn intent(place: usize) -> IntentId {
    IntentId::new(place as u64 + 1)
}

fn check_invariants(all: &[Requested], run: &Run) -> Result<(), TestCaseError> {
    let mut owned: BTreeSet<String> = BTreeSet::new();
    let is_known = |one: &Requested| one.owner == Owner::Answered && one.accepted.is_some();
    owned.extend(all.iter().enumerate().filter(|(_, one)| is_known(one)).map(|(place, _)| name(place)));
    for (intent, id) in adopted(run) {
        prop_assert!(owned.insert(id.clone()), "{id} was given twice");
        let place = intent.number() as usize - 1;
        let (asked, found) = (&all[place], all.iter().enumerate().find(|(other, _)| name(*other) == id));
        let found = found.expect("only trades that exist are listed").1;
        let is_as_asked = (found.stake, found.direction) == (asked.stake, asked.direction);
        let is_absent = asked.accepted.is_none() && found.owner == Owner::Stranger;
        prop_assert!(is_as_asked || is_absent, "{id} is not what {intent} asked for");
        prop_assert!(!matches!(found.owner, Owner::Hand | Owner::RealMoney | Owner::Answered));
        let at = found.sent + found.accepted.unwrap_or_default().0;
        prop_assert!(at >= asked.sent - 1_000, "{id} was requested before its intent was sent");
    }
    let mut outcomes: BTreeMap<IntentId, usize> = BTreeMap::new();
    let mut asked: BTreeMap<IntentId, BTreeSet<String>> = BTreeMap::new();
    let mut unexplained = BTreeSet::new();
    for (_, resolution) in &run.resolutions {
        match resolution {
            Resolution::Adopt { intent, .. } => *outcomes.entry(*intent).or_default() += 1,
            Resolution::NotOpened { intent, .. } => {
                *outcomes.entry(*intent).or_default() += 1;
                let place = intent.number() as usize - 1;
                prop_assert!(all[place].accepted.is_none(), "{intent} was opened");
                asked.remove(intent);
            }
            Resolution::Escalate { intent, why } => {
                let is_first = !asked.contains_key(intent);
                let named = asked.entry(*intent).or_default();
                let known = named.len();
                named.extend(why.venue_ids().iter().cloned());
                prop_assert!(is_first || named.len() > known, "asked twice of the same trades");
            }
            Resolution::AdoptLate { .. } => {}
            Resolution::Unexplained { report } => prop_assert!(unexplained.insert(report.id.clone())),
            Resolution::Reinstate { .. } => prop_assert!(false, "no request was refused"),
        }
    }
    let doubted = all.iter().enumerate().filter(|(_, requested)| requested.owner == Owner::Doubted);
    for (place, _) in doubted {
        let ended = outcomes.get(&intent(place)).copied().unwrap_or_default();
        let is_asked = asked.contains_key(&intent(place));
        prop_assert!(ended == 1 || (ended == 0 && is_asked), "intent {} ended {ended} times", place + 1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_doubt_is_resolved_wrongly(
        all in prop::collection::vec(
            requested(&[Owner::Doubted, Owner::Doubted, Owner::Answered, Owner::Stranger, Owner::Hand, Owner::RealMoney]),
            1..12,
        ),
        habits in habits(9),
    ) {
        let run = Run::new(all.clone(), habits, HOUR);
        check_invariants(&all, &run)?;
    }

    #[test]
    fn own_trades_are_never_unexplained(
        all in prop::collection::vec(requested(&[Owner::Doubted, Owner::Answered, Owner::Hand]), 1..12),
        habits in habits(9),
    ) {
        let run = Run::new(all.clone(), habits, HOUR);
        check_invariants(&all, &run)?;
        let is_report = |resolution: &Resolution| matches!(resolution, Resolution::Unexplained { .. });
        prop_assert!(!run.resolutions.iter().any(|(_, resolution)| is_report(resolution)));
    }

    #[test]
    fn resolves_distinguishable_trades(
        all in distinct(&[Owner::Doubted, Owner::Answered, Owner::RealMoney]),
        habits in habits(0),
    ) {
        let run = Run::new(all.clone(), habits, HOUR);
        check_invariants(&all, &run)?;
        let expected: BTreeMap<IntentId, String> = all
            .iter()
            .enumerate()
            .filter(|(_, requested)| requested.owner == Owner::Doubted && requested.accepted.is_some())
            .map(|(place, _)| (intent(place), name(place)))
            .collect();
        prop_assert_eq!(adopted(&run).into_iter().collect::<BTreeMap<_, _>>(), expected);
        let asks: Vec<&EscalationReason> = run.resolutions.iter().filter_map(|(_, resolution)| match resolution {
            Resolution::Escalate { why, .. } => Some(why),
            _ => None,
        }).collect();
        prop_assert!(habits.repeats_one_in > 0 || asks.is_empty(), "{asks:?}");
    }

    #[test]
    fn adopts_trades_with_changed_terms(
        mut all in distinct(&[Owner::Answered, Owner::Hand, Owner::RealMoney]),
        sent in 0_i64..300_000,
        (takes, lag) in (1_i64..20_000, 0_i64..100_000),
        part in 0.0_f64..1.0,
        habits in habits(0),
    ) {
        let accepted = Some(((part * (takes + 30_000) as f64) as i64, lag));
        let (owner, direction) = (Owner::Doubted, Direction::Buy);
        all.push(Requested { owner, is_departure: true, stake: 100 << all.len(), direction, sent, takes, accepted });
        let habits = Habits { says_length: true, repeats_one_in: 0, ..habits };
        let run = Run::new(all.clone(), habits, HOUR);
        check_invariants(&all, &run)?;
        let place = all.len() - 1;
        prop_assert_eq!(adopted(&run), [(intent(place), name(place))]);
    }

    #[test]
    fn twins_get_their_own_trades(
        requests in prop::collection::vec((0_i64..40_000, 1_i64..20_000, 0_i64..30_000, 0_i64..100_000), 1..6),
        habits in habits(0),
    ) {
        let (mut sent, mut arrival) = (0, 0);
        let mut all = Vec::new();
        for (pause, takes, arrives_after, lag) in requests {
            sent += pause;
            arrival = (sent + arrives_after.min(takes)).max(arrival + 1);
            let accepted = Some((arrival - sent, lag));
            let (owner, direction) = (Owner::Doubted, Direction::Buy);
            all.push(Requested { owner, is_departure: false, stake: 1_000, direction, sent, takes: takes.max(arrival - sent), accepted });
        }
        let run = Run::new(all.clone(), habits, HOUR);
        check_invariants(&all, &run)?;
        for (intent, id) in adopted(&run) {
            prop_assert_eq!(name(intent.number() as usize - 1), id);
        }
        prop_assert!(habits.repeats_one_in > 0 || adopted(&run).len() == all.len());
    }

    #[test]
    fn adopts_trades_that_appear_within_a_day(
        mut all in distinct(&[Owner::Doubted]),
        lag in 400_000_i64..4_000_000,
        habits in habits(0),
    ) {
        for requested in &mut all {
            requested.accepted = requested.accepted.map(|(arrived_after, _)| (arrived_after, lag));
        }
        let habits = Habits { wallet_lag: lag, says_length: true, repeats_one_in: 0, ..habits };
        let run = Run::new(all.clone(), habits, HOUR * 3);
        let mut late = 0;
        for (place, requested) in all.iter().enumerate() {
            let found = found_of(&run, place);
            late += usize::from(found == ["nothing", "late"]);
            let expected: &[&[&str]] = match requested.accepted {
                Some(_) => &[&["nothing", "late"], &["adopted"]],
                None => &[&["nothing"]],
            };
            prop_assert!(expected.contains(&found.as_slice()), "intent {}: {found:?}", place + 1);
        }
        prop_assert!(late > 0 || all.iter().all(|requested| requested.accepted.is_none()));
    }
}
