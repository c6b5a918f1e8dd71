//! Text rendering of the drill report.

use super::{Drill, Scene};
use candlewick_records::table;
use std::fmt::Write as _;

pub(super) fn text(drill: &Drill) -> String {
    let mut text = String::new();
    for (number, scene) in drill.scenes.iter().enumerate() {
        let _ = writeln!(text, "{}. {}\n{}", number + 1, scene.happened, details(scene));
    }
    let mut scenes = table(["what happened", "what the bot did", "how it ended", ""]);
    for scene in &drill.scenes {
        let mark = if scene.held { "held" } else { "BROKEN" };
        scenes.add_row([scene.happened, scene.did, scene.ended.as_str(), mark]);
    }
    let mut promises = table(["promise", "found", ""]);
    for promise in &drill.promises {
        let mark = if promise.held { "held" } else { "BROKEN" };
        promises.add_row([promise.promise, promise.found.as_str(), mark]);
    }
    let _ = write!(text, "{}\n\n{}\n\n", scenes.trim_fmt(), promises.trim_fmt());
    let _ = write!(
        text,
        "{} trades of {} intents in {:.0} s of a person's time.",
        drill.trades, drill.intents, drill.took_s
    );
    text
}

fn details(scene: &Scene) -> String {
    let events = scene.events.iter().map(|(name, count)| format!("{name} {count}"));
    let metrics = scene.seen.metrics.iter().map(|(name, value)| format!("{name} {value}"));
    let [events, metrics] =
        [events.collect::<Vec<_>>(), metrics.collect()].map(|parts| match parts.join(", ") {
            none if none.is_empty() => "nothing".to_owned(),
            parts => parts,
        });
    format!(
        "   injected: {}\n   events:   {events}\n   status:   {}\n   metrics:  {metrics}\n",
        scene.injected, scene.seen.status
    )
}
