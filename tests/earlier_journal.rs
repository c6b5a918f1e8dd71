//! A journal from before entry delays. The golden case `journal-earlier` compares its documents.

use crate::candlewick::{Folder, repository};

/// The earlier program had one name for two limits. One trade was open then, on that symbol.
#[test]
fn refusal_under_the_shared_name_of_two_limits_names_the_limit_that_refused() {
    let fixture = repository().join("tests/fixtures/journal-before-delays/run.db");
    let folder = Folder::new();
    std::fs::copy(fixture, folder.path("run.db")).unwrap();
    let why = folder.run(&["why", "2026-01-05T00:37:00Z", "--journal", "run.db", "--json"]).json();
    let refusal = why["bots"][0]["refusal"].as_str().unwrap();
    assert!(refusal.contains("max_open_trades_per_symbol"), "{why}");
}
