//! `selftest` as a user runs it, on few paths.

use crate::candlewick::candlewick;
use serde_json::Value;

fn worlds(seed: &str) -> Value {
    candlewick(&["selftest", "--paths", "3", "--seed", seed, "--json"]).json()["worlds"].clone()
}

#[test]
fn seed_gives_the_same_paths_again_and_another_seed_others() {
    let first = worlds("5");
    assert_eq!(first, worlds("5"));
    assert_ne!(first, worlds("6"));
}
