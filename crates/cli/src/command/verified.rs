//! Verification of the sets that a search chose, before any of them is shown or written.

use crate::failure::{Failure, FailureKind};
use candlewick_app::search::PreparedSearch;
use candlewick_app::validation::verify_best;
use candlewick_report::walk_forward::VerifiedSets;
use candlewick_sdk::testkit::Subject;
use candlewick_search::sweep::Candidate;
use candlewick_search::walk_forward::WindowResult;

/// A walk may choose one set per window, and each takes several runs over all candles.
const MOST_VERIFIED: usize = 5;

/// Verifies a set candle by candle, here and in a process of its own. Before that it is not a
/// result.
pub(super) fn verify_set(prepared: &PreparedSearch<'_>, candidate: &Candidate) -> Result<(), Failure> {
    let PreparedSearch { entry, space, sweep, candles, .. } = prepared;
    let bot = space.bot(candidate);
    let Some(own) = candles.series.iter().find(|own| own.series() == bot.series()) else { return Ok(()) };
    let context = bot.context(prepared.settings.session.longer_share_percent);
    let subject = Subject { entry: entry.clone().into_owned(), params: bot.params, bot: context };
    let seed = sweep.search.seed;
    let verified = verify_best(&super::strategy::itself()?, &subject, own.candles(), seed);
    let help = format!("see what else there is: candlewick strategy check {}", subject.entry.name);
    verified.map_err(|error| Failure::new(FailureKind::Check, error).help(help))
}

/// Verifies each set that a walk chose: that of the hold-out first, then the most frequent ones.
pub(super) fn verify_chosen<'a>(
    prepared: &PreparedSearch<'_>,
    windows: &'a [WindowResult],
    hold_out: Option<&'a WindowResult>,
) -> Result<VerifiedSets, Failure> {
    let candidate = |step: &'a WindowResult| Some(&step.chosen.as_ref()?.candidate);
    let own = hold_out.and_then(candidate);
    let mut chosen: Vec<(&Candidate, usize)> = own.map(|own| (own, usize::MAX)).into_iter().collect();
    for candidate in windows.iter().filter_map(candidate) {
        match chosen.iter_mut().find(|(known, _)| *known == candidate) {
            Some((_, times)) => *times = times.saturating_add(1),
            None => chosen.push((candidate, 1)),
        }
    }
    chosen.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let verified = chosen.iter().take(MOST_VERIFIED);
    verified.clone().try_for_each(|(candidate, _)| verify_set(prepared, candidate))?;
    Ok(VerifiedSets { verified: verified.len(), chosen: chosen.len() })
}
