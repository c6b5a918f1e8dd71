//! Intents that are over and of which nothing more can come are forgotten: the memory of a run does not grow with its trades. Whoever
//! wants them reads the journal.

use super::Coordinator;
use super::doubts::Doubts;
use crate::RuntimeSettings;
use crate::resolver::LONGEST_LIST_LAG;
use candlewick_sdk::Millis;

/// For how much longer than the venue's list may lag an intent is remembered at least: its answer may come late, and clocks differ.
const SLACK: Millis = Millis::from_seconds(120);

impl Coordinator {
    /// Forgets what is over for so long that a list which was asked for at `looked` has shown whatever the venue made of it. Nothing of
    /// the time in which something is in doubt: its trade is told from theirs.
    pub(super) fn forget_old(&mut self, looked: Millis) {
        let Some(remembered) = remembered(&self.settings, &self.doubts) else { return };
        let until = self.doubts.in_doubt_since().map_or(looked, |since| since.min(looked)) - remembered;
        let trades = &self.trades;
        for old in self.session.forget(until, |intent| trades.find(intent).is_some()) {
            self.doubts.forget(&old);
        }
    }
}

/// For how long an intent that is over is remembered; none for ever.
fn remembered(settings: &RuntimeSettings, doubts: &Doubts) -> Option<Millis> {
    let set = Some(settings.remember_s).filter(|seconds| *seconds > 0)?;
    let least = doubts.list_lag().max(LONGEST_LIST_LAG) + SLACK;
    Some(Millis::from_seconds(i64::from(set)).max(least))
}
