//! The hold-out of a walk-forward run, and earlier looks at it.

use super::{HoldOutLock, Hypothesis, KnownLooks, Layout, PreparedSearch, SearchTerms};
use crate::error::AppError;
use candlewick_records::counted;
use candlewick_sdk::Millis;
use candlewick_search::variants::{CandleSample, LookKind, VariantLedger};
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) struct HoldOutRange {
    pub(super) lock: HoldOutLock,
    pub(super) hypothesis: Hypothesis,
    pub(super) range: Range<Millis>,
    pub(super) candles: CandleSample,
    ledger: Option<VariantLedger>,
}

impl HoldOutRange {
    pub(super) fn of(terms: &SearchTerms, prepared: &PreparedSearch<'_>, layout: &Layout) -> Option<Self> {
        let bot = prepared.settings.session.bots.first()?;
        let range = layout.hold_out.clone()?;
        Some(Self {
            lock: HoldOutLock::new(&prepared.loaded.config.data.state),
            hypothesis: terms.hypothesis(prepared, bot),
            candles: CandleSample::of(&prepared.candles.series).within(&range),
            ledger: prepared.ledger(),
            range,
        })
    }

    pub(super) fn earlier_looks(&self, run: &str) -> Result<KnownLooks, AppError> {
        let Some(ledger) = &self.ledger else {
            let unknown = "whether candles of the hold-out were looked at before is not known: variants are not counted \
                           ([variants] ledger is empty)";
            return Ok(KnownLooks { found: vec![unknown.to_owned()], unknown: None });
        };
        let looks = ledger.earlier_looks(&self.hypothesis.strategy.0, &self.candles, run);
        let looks = looks.map_err(|error| {
            let problem = format!("cannot read {}, which says what was tried", ledger.path().display());
            AppError::invalid(problem).because(error)
        })?;
        let kinds = looks.same_strategy.iter().map(|(kind, count)| match kind {
            LookKind::Backtest => counted(*count, "backtest", "backtests"),
            LookKind::Sweep => counted(*count, "sweep", "sweeps"),
            LookKind::WalkForward => counted(*count, "walk forward", "walks forward"),
            LookKind::Sandbox => counted(*count, "run of the sandbox", "runs of the sandbox"),
            LookKind::HoldOut => counted(*count, "opening of a hold-out", "openings of a hold-out"),
        });
        let kinds: Vec<String> = kinds.collect();
        let looked = (!kinds.is_empty()).then(|| {
            format!("candles of the hold-out were looked at with this strategy before: {}", kinds.join(", "))
        });
        let lost = looks.lost.into_iter().map(|lost| format!("variants unknown: {lost}"));
        let found: Vec<String> = looked.into_iter().chain(lost).collect();
        let begins = (looks.is_first && found.is_empty()).then(|| {
            "looks unknown: the ledger of variants begins with this walk; whether anybody looked at the hold-out before \
             is not known"
                .to_owned()
        });
        Ok(KnownLooks { found, unknown: begins.or_else(|| looks_by_others(&looks.other_strategies)) })
    }
}

fn looks_by_others(looks: &BTreeMap<String, u64>) -> Option<String> {
    let by_others: Vec<String> = looks
        .iter()
        .map(|(strategy, count)| format!("{strategy} ({})", counted(*count, "look", "looks")))
        .collect();
    (!by_others.is_empty()).then(|| {
        let by_others = by_others.join(", ");
        format!(
            "candles of the hold-out were looked at with other strategies before: {by_others}; where one of them is this idea \
             under another name, they are unseen no more"
        )
    })
}
