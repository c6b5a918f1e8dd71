//! Text and JSON rendering of self-test results.

use super::{MarketResult, SelftestPlan};
use candlewick_records::table;
use candlewick_statistics::EdgeTestPlan;
use serde_json::{Value, json};
use std::time::Duration;

const WORTH_NAMING: Duration = Duration::from_secs(1);

pub fn text(tried: &[MarketResult], plan: SelftestPlan, took: Duration) -> String {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut markets = table(["market", "planted", "won", "trades a path", "edge shown", "no edge"]);
    let mut promises = table(["market", "promise", "measured", "allowed", ""]);
    for MarketResult { market, counts, kept, .. } in tried {
        markets.add_row([
            market.name.to_owned(),
            percent(market.chance),
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
                market.name.to_owned(),
                kept.promise.to_owned(),
                figure(kept.measured),
                if is_count { figure(least) } else { format!("{} to {}", figure(least), figure(most)) },
                if kept.is_kept() { "kept" } else { "BROKEN" }.to_owned(),
            ]);
        }
    }
    format!(
        "{} paths of each market, seed {}: candles, Session, simulator, verdict\n\n{}\n\n{}\n\n{}",
        plan.paths,
        plan.seed,
        markets.trim_fmt(),
        promises.trim_fmt(),
        duration_words(tried.iter().map(|tried| (tried.market.name, tried.took)), took)
    )
}

fn duration_words<'a>(markets: impl Iterator<Item = (&'a str, Duration)>, took: Duration) -> String {
    let seconds = |span: Duration| format!("{:.1} s", span.as_secs_f64());
    let slow = markets.filter(|(_, took)| *took > WORTH_NAMING);
    let slow: Vec<String> = slow.map(|(name, took)| format!("{name} {}", seconds(took))).collect();
    let of = if slow.is_empty() { String::new() } else { format!(": {}", slow.join(", ")) };
    format!("It took {}{of}.", seconds(took))
}

pub fn document(tried: &[MarketResult], plan: SelftestPlan, took: Duration) -> Value {
    let verdict = EdgeTestPlan::default();
    let market = |MarketResult { market, counts, kept, .. }: &MarketResult| {
        let promise = |kept: &super::PromiseResult| {
            json!({
                "promise": kept.promise, "measured": kept.measured, "least": kept.allowed.0, "most": kept.allowed.1,
                "kept": kept.is_kept(),
            })
        };
        json!({
            "name": market.name,
            "planted": market.chance,
            "bots": market.bots,
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
        "worlds": tried.iter().map(market).collect::<Vec<_>>(),
        "passed": tried.iter().all(|tried| tried.kept.iter().all(super::PromiseResult::is_kept)),
        "elapsed_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_market_is_named_when_it_took_more_than_a_second() {
        let of = |millis: &[u64]| {
            let names = ["a walk", "an edge"];
            let spans = millis.iter().map(|span| Duration::from_millis(*span));
            duration_words(names.into_iter().zip(spans), Duration::from_millis(millis.iter().sum()))
        };
        assert_eq!(of(&[400, 1_000]), "It took 1.4 s.");
        assert_eq!(of(&[400, 1_100]), "It took 1.5 s: an edge 1.1 s.");
        assert_eq!(of(&[2_000, 61_050]), "It took 63.0 s: a walk 2.0 s, an edge 61.0 s.");
    }
}
