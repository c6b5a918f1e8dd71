//! A book with dropped rows agrees with the complete one and equals it once they are restored.

use crate::snapshots::{Step, World, carry_out, header, session, settings};
use candlewick_engine::{IntentId, TradeBook};
use candlewick_sdk::serde_json::to_string;
use proptest::prelude::*;

fn kept(book: &TradeBook, intent: IntentId) -> Option<String> {
    book.stored_row(intent).map(|row| to_string(&row).unwrap())
}

fn intents(book: &TradeBook) -> Vec<IntentId> {
    book.rows().iter().map(|row| row.approved.intent()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn book_without_finished_rows_continues_like_a_complete_one(
        drawn in prop::collection::vec(any::<(u8, u8)>(), 2..900),
        every in 1_usize..60,
        spared in 1_u64..5,
        first in 1_u64..40,
    ) {
        let (mut world, mut session) = (World::new(), session(&settings(9)));
        session.begin_run(&header(&settings(9), 0));
        let (mut whole, mut few, mut dropped) = (TradeBook::default(), TradeBook::default(), 0);
        for (place, (byte, detail)) in drawn.iter().enumerate() {
            let step = world.step(*byte, *detail);
            let actions = carry_out(&mut session, &step);
            for book in [&mut whole, &mut few] {
                if let Step::Event(event) = &step {
                    book.record_event(event);
                }
                for action in &actions {
                    book.record_action(action);
                }
            }
            world.see(&actions);
            if place % every == 0 {
                let last = intents(&few).last().copied();
                let is_spared = |intent: IntentId| intent.number().is_multiple_of(spared) || Some(intent) == last;
                dropped += few.retain_rows(|row| !row.is_finished() || is_spared(row.approved.intent()));
            }
        }
        prop_assert_eq!(intents(&whole).len(), intents(&few).len() + dropped);
        prop_assert_eq!(few.stored_counts(), whole.stored_counts());
        for row in whole.rows() {
            let intent = row.approved.intent();
            match kept(&few, intent) {
                None => prop_assert!(row.is_finished(), "{:?}", row),
                known => prop_assert_eq!(known, kept(&whole, intent)),
            }
        }
        let first = IntentId::new(first);
        let filled = few.with_restored_rows(&whole, first);
        let expected: Vec<IntentId> =
            intents(&whole).into_iter().filter(|intent| *intent >= first || few.row(*intent).is_some()).collect();
        prop_assert_eq!(intents(&filled), expected);
        for intent in intents(&filled) {
            prop_assert_eq!(kept(&filled, intent), kept(&whole, intent));
        }
        prop_assert_eq!(filled.stored_counts(), whole.stored_counts());
    }
}
