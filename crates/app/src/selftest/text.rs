//! What the worlds showed, for people and for machines.

use super::{Plan, Tried};
use candlewick_records::table;
use candlewick_statistics::VerdictPlan;
use serde_json::{Value, json};
use std::time::Duration;

/// A table of worlds, and one of promises.
pub fn text(tried: &[Tried], plan: Plan) -> String {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut worlds = table(["world", "planted", "won", "trades a path", "edge shown", "edge rejected"]);
    let mut promises = table(["world", "promise", "measured", "allowed", ""]);
    for Tried { world, counts, kept } in tried {
        worlds.add_row([
            world.name.to_owned(),
            percent(world.chance),
            percent(counts.win_rate()),
            (counts.decided / counts.paths.max(1)).to_string(),
            percent(counts.share(counts.shown)),
            percent(counts.share(counts.rejected)),
        ]);
        for kept in kept {
            let (least, most) = kept.allowed;
            let is_count = most == 0.0;
            let figure = |share| if is_count { format!("{share}") } else { percent(share) };
            promises.add_row([
                world.name.to_owned(),
                kept.promise.to_owned(),
                figure(kept.measured),
                if is_count { figure(least) } else { format!("{} to {}", figure(least), figure(most)) },
                if kept.is_kept() { "kept" } else { "BROKEN" }.to_owned(),
            ]);
        }
    }
    format!(
        "{} paths of each world, seed {}: candles, Session, simulator, verdict\n\n{}\n\n{}",
        plan.paths,
        plan.seed,
        worlds.trim_fmt(),
        promises.trim_fmt()
    )
}

/// One document.
pub fn document(tried: &[Tried], plan: Plan, took: Duration) -> Value {
    let verdict = VerdictPlan::default();
    let world = |Tried { world, counts, kept }: &Tried| {
        let promise = |kept: &super::Kept| {
            json!({
                "promise": kept.promise, "measured": kept.measured, "least": kept.allowed.0, "most": kept.allowed.1,
                "kept": kept.is_kept(),
            })
        };
        json!({
            "name": world.name,
            "planted": world.chance,
            "bots": world.bots,
            "paths": counts.paths,
            "trades": counts.decided,
            "win_rate": counts.win_rate(),
            "edge_shown": counts.share(counts.shown),
            "edge_rejected": counts.share(counts.rejected),
            "promises": kept.iter().map(promise).collect::<Vec<_>>(),
        })
    };
    json!({
        "seed": plan.seed,
        "alpha": verdict.alpha(),
        "beta": verdict.beta(),
        "delta": verdict.delta(),
        "worlds": tried.iter().map(world).collect::<Vec<_>>(),
        "passed": tried.iter().all(|tried| tried.kept.iter().all(super::Kept::is_kept)),
        "elapsed_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    })
}
