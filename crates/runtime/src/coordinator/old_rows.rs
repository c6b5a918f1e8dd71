//! Forgets finished intents, so that memory does not grow with trades. The journal keeps them.

use super::Coordinator;
use super::doubts::Doubts;
use super::recorded_session::RecordedSession;
use super::wallet_watch::is_later;
use crate::RuntimeSettings;
use crate::resolver::LONGEST_LIST_LAG;
use candlewick_engine::IntentRow;
use candlewick_sdk::Millis;

/// Minimum retention beyond the list lag, for late responses and clock differences.
const SLACK: Millis = Millis::from_seconds(120);

impl Coordinator {
    /// Forgets intents that ended long before the list requested at `looked`.
    ///
    /// Intents close to a request that is in doubt, or counts as not opened, stay: they help to
    /// tell its trade from theirs.
    pub(super) fn forget_old(&mut self, looked: Millis) {
        let Some(remembered) = remembered(&self.settings, &self.doubts) else { return };
        let least = least_remembered(&self.settings, &self.doubts);
        let (trades, doubts, slack) = (&self.trades, &self.doubts, least);
        // A difference of the wallet is explained by the trades since it last agreed with the ledger.
        let explained_until = self.audits.wallet.explained_until();
        let may_explain = |row: &IntentRow| explained_until.is_some_and(|moment| is_later(row, moment));
        let is_kept = |session: &RecordedSession, row: &IntentRow| {
            let is_searched =
                trades.find(row.approved.intent()).is_some() || doubts.is_beside(session, row, slack);
            is_searched || may_explain(row)
        };
        for old in self.session.forget(looked - remembered, is_kept) {
            self.doubts.forget(&old);
        }
    }
}

/// Retention time of finished intents, `None` for unlimited.
fn remembered(settings: &RuntimeSettings, doubts: &Doubts) -> Option<Millis> {
    let set = Some(settings.remember_s).filter(|seconds| *seconds > 0)?;
    Some(Millis::from_seconds(i64::from(set)).max(least_remembered(settings, doubts)))
}

fn least_remembered(settings: &RuntimeSettings, doubts: &Doubts) -> Millis {
    settings.least_remembered.unwrap_or(doubts.list_lag().max(LONGEST_LIST_LAG) + SLACK)
}
