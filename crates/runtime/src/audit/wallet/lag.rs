//! Lag of the wallet behind the changes of our trades.

use super::{LONGEST_LAG, WalletAudit};
use candlewick_sdk::Millis;

impl WalletAudit {
    pub(crate) fn lag(&self, setting: Millis) -> Millis {
        setting.max(self.longest_lag * 2).min(LONGEST_LAG)
    }

    /// Resets the measured lag after a correction. The wallet may have shown the right result
    /// early.
    pub(crate) fn forget_lag(&mut self) {
        (self.longest_lag, self.caused_at) = (Millis::ZERO, None);
        if let Some(suspect) = &mut self.suspect {
            suspect.caused_at = None;
        }
    }

    pub(super) fn measure_lag(&mut self, until: Option<Millis>, caused_at: Option<Millis>) {
        if let (Some(until), Some(caused_at)) = (until, caused_at)
            && until - caused_at <= LONGEST_LAG
        {
            self.longest_lag = self.longest_lag.max(until - caused_at);
        }
    }
}
