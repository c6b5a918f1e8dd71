//! Session snapshots, which can be stored and later restored under the same settings.

mod changed;

pub use changed::SnapshotOrigin;

use super::Session;
use super::verdicts::SharedVerdicts;
use crate::intent::Intents;
use crate::outside_signal::KnownSignals;
use crate::reentry::Reentry;
use crate::risk::RiskState;
use crate::stake::Stake;
use crate::{BotVerdict, Ledger, SecondTrade};
use candlewick_sdk::{Millis, MoneyScale, Symbol};
use serde::{Deserialize, Serialize};

/// The state of a Session: money, intents, counts, stakes and verdicts.
/// Settings and strategies are not included. Strategies need a warm-up with candles after a restore.
#[derive(Clone, Serialize, Deserialize)]
pub struct SessionSnapshot {
    format: u32,
    money_scale: MoneyScale,
    bots: Vec<BotState>,
    /// Symbols of the Session's bots, then symbols traded only in earlier runs.
    symbols: Vec<Symbol>,
    shared: SharedVerdicts,
    state: RiskState,
    ledger: Ledger,
    intents: Intents,
    second_trades: Vec<SecondTrade>,
    next_release: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<Box<KnownSignals>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct BotState {
    name: String,
    stake: Stake,
    verdict: BotVerdict,
    last_close: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reentry: Option<Box<Reentry>>,
}

/// Errors when restoring a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The snapshot has the format of another program version.
    #[error("the snapshot format is {found}, this program reads {known}", known = SessionSnapshot::FORMAT)]
    Format {
        /// Format of the snapshot.
        found: u32,
    },
    /// The snapshot belongs to a Session with other settings.
    #[error("the snapshot belongs to a run with other {what}")]
    OtherSettings {
        /// Name of the settings that differ.
        what: &'static str,
    },
    /// The changed settings require a fold of all trades.
    #[error("{why}")]
    NeedsFullFold {
        /// Changed setting, and the reason why all trades are needed.
        why: String,
    },
}

impl SessionSnapshot {
    /// Version of the snapshot format. Increment the version whenever the contents or their meaning change.
    pub const FORMAT: u32 = 2;

    fn check(&self, session: &Session) -> Result<(), RestoreError> {
        if self.format != Self::FORMAT {
            return Err(RestoreError::Format { found: self.format });
        }
        let other = |what| Err(RestoreError::OtherSettings { what });
        if self.money_scale != session.money_scale {
            return other("money decimals");
        }
        let is_of_bots = self.bots.iter().map(|bot| &bot.name).eq(&session.names);
        if !is_of_bots || !self.state.has_bot_count(self.bots.len()) {
            return other("bots");
        }
        if !self.symbols.starts_with(&session.symbols) || !self.state.has_symbol_count(self.symbols.len()) {
            return other("symbols");
        }
        Ok(())
    }
}

impl Session {
    /// Returns a snapshot of the current state. Prepared limits that do not apply yet are not included.
    pub fn snapshot(&self) -> SessionSnapshot {
        let bots = self.names.iter().zip(&self.bots).map(|(name, bot)| BotState {
            name: name.clone(),
            stake: bot.stake.clone(),
            verdict: (*bot.verdict).clone(),
            last_close: bot.last_close,
            reentry: bot.reentry.clone(),
        });
        SessionSnapshot {
            format: SessionSnapshot::FORMAT,
            money_scale: self.money_scale,
            bots: bots.collect(),
            symbols: self.symbols.clone(),
            shared: self.shared.clone(),
            state: self.state.clone(),
            ledger: self.ledger.clone(),
            intents: self.intents.clone(),
            second_trades: self.second_trades.clone(),
            next_release: self.next_release,
            outside: self.known_signals(),
        }
    }

    /// Restores a snapshot of a Session with the same settings. Strategies are not restored.
    /// After an error, discard the Session, because it may be partly restored.
    pub fn restore(&mut self, snapshot: SessionSnapshot) -> Result<(), RestoreError> {
        snapshot.check(self)?;
        let SessionSnapshot { bots, symbols, shared, state, .. } = snapshot;
        for (own, kept) in self.bots.iter_mut().zip(bots) {
            let is_same = own.reentry.is_some() == kept.reentry.is_some();
            if !is_same || !own.stake.resume_from(kept.stake) {
                return Err(RestoreError::OtherSettings { what: "stakes" });
            }
            *own.verdict = kept.verdict;
            (own.last_close, own.reentry) = (kept.last_close, kept.reentry);
        }
        (self.symbols, self.shared, self.state) = (symbols, shared, state);
        (self.ledger, self.intents) = (snapshot.ledger, snapshot.intents);
        (self.second_trades, self.next_release) = (snapshot.second_trades, snapshot.next_release);
        self.outside = snapshot.outside;
        Ok(())
    }
}
