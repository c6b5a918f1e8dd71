//! Invariants of any sequence of trades: the wallet agrees with the list, and paging shows all rows.

use crate::harness::{NOON, Premises, block_on, body};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn cents(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 100.0).round() as i64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The balance is always the initial balance plus all net profits minus the stakes of open trades,
    /// even if settlements are delayed.
    #[test]
    fn wallet_agrees_with_the_list(
        steps in prop::collection::vec((0_i64..40_000, 0_usize..3, any::<bool>(), 1_i64..400_000), 1..25),
        late in any::<bool>(),
    ) {
        block_on(async {
            let venue = Premises::with_faults(if late { "late-settlement:0.5:20s" } else { "none" }).venue();
            let mut now = NOON;
            for (pause, symbol, up, stake) in steps {
                now += pause;
                venue.clock.set(now);
                let symbol = ["BTCUSDT", "ETHUSDT", "EURUSD"][symbol];
                let mut order = body(symbol, if up { "BUY" } else { "SELL" });
                order["amount"] = json!(stake as f64 / 100.0);
                let answer = venue.post("/token/trades/open", order).await;
                prop_assert!(answer.status == 200 || answer.status == 400, "{}", answer.text);
                let mut expected = 1_000_000;
                for row in venue.full_rows().await {
                    let over = row["status"] == "COMPLETED" || row["status"] == "CANCELLED";
                    let arrived = row["requestTime"].as_i64().unwrap() <= now;
                    prop_assert!(over || row["pnl"] == json!(0.0));
                    expected += cents(&row["pnl"]) - if arrived && !over { cents(&row["amount"]) } else { 0 };
                }
                prop_assert_eq!(cents(&json!(venue.balance().await)), expected);
                prop_assert!(expected >= 0, "a stake that the wallet does not cover is rejected");
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_way_of_paging_shows_all_rows(count in 0_usize..30, page_size in 1_usize..12, shuffled in any::<bool>()) {
        block_on(async {
            let venue = Premises::default().venue();
            let mut opened = BTreeSet::new();
            for _ in 0..count {
                opened.insert(venue.open("BTCUSDT", "BUY").await["id"].to_string());
            }
            venue.switchboard.set_profile(if shuffled { "shuffle" } else { "none" }.parse().unwrap());
            let (mut seen, mut page) = (Vec::new(), Some(1));
            while let Some(number) = page {
                let listed = venue.get(&format!("/token/trades?page={number}&pageSize={page_size}")).await.json();
                let rows = listed["data"].as_array().unwrap();
                page = listed["nextPage"].as_u64();
                prop_assert!(rows.len() == page_size || page.is_none(), "only the last page is short");
                prop_assert_eq!(rows.len() as u64, listed["count"].as_u64().unwrap());
                seen.extend(rows.iter().map(|row| row["id"].to_string()));
                prop_assert!(number <= 30, "the last page comes");
            }
            prop_assert!(shuffled || seen.len() == count);
            prop_assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), opened);
            Ok(())
        })?;
    }
}
