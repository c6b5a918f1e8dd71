//! `bench`: what it compares makes the same trades, and every figure is there.

use crate::candlewick::candlewick;
use serde_json::Value;

#[test]
fn each_work_is_measured_beside_its_floor_and_so_is_the_whole_process() {
    let figures = candlewick(&["bench", "--candles", "20000", "--rounds", "1", "--json"]).json();
    let positive = |value: &Value| value.as_f64().is_some_and(|figure| figure > 0.0);
    let works = figures["works"].as_array().unwrap();
    let decisions: Vec<_> = works.iter().map(|work| work["decisions"].as_u64().unwrap()).collect();
    // One bot, one bot, ten bots on each of the ten symbols that share the candles, and one bot.
    assert_eq!(decisions, [20_000, 20_000, 200_000, 20_000]);
    for work in works {
        assert!(work["trades"].as_u64().unwrap() > 100, "{work}");
        for figure in ["/backtest_ns/median", "/by_hand_ns/minimum", "/ratio", "/ratio_of_minima"] {
            assert!(positive(work.pointer(figure).unwrap()), "{figure} of {work}");
        }
    }
    assert!(!figures["processor"]["model"].as_str().unwrap().is_empty(), "{figures}");
    // Fourteen days.
    assert_eq!(figures["process"]["candles"], 20_160);
    for figure in ["/backtest/median_ms", "/backtest/peak_mib", "/by_hand/minimum_ms", "/by_hand/peak_mib"] {
        assert!(positive(figures["process"].pointer(figure).unwrap()), "{figure} of {figures}");
    }
}
