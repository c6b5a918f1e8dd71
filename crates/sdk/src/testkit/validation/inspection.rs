//! Getter calls between candles, which must have no effect.

use crate::Strategy;
use std::hint::black_box;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inspection {
    None,
    All,
    Only(Getter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Getter {
    Warmup,
    LongerIntervals,
    WantsSettlements,
    Expiries,
    IsGateClosed,
    Gate,
    Conditions,
    Indicators,
}

impl Getter {
    pub(super) const ALL: [Self; 8] = [
        Self::Warmup,
        Self::LongerIntervals,
        Self::WantsSettlements,
        Self::Expiries,
        Self::IsGateClosed,
        Self::Gate,
        Self::Conditions,
        Self::Indicators,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup()",
            Self::LongerIntervals => "longer_intervals()",
            Self::WantsSettlements => "wants_settlements()",
            Self::Expiries => "expiries()",
            Self::IsGateClosed => "is_gate_closed()",
            Self::Gate => "gate()",
            Self::Conditions => "conditions()",
            Self::Indicators => "indicators()",
        }
    }

    fn call(self, strategy: &dyn Strategy) {
        match self {
            Self::Warmup => {
                black_box(strategy.warmup());
            }
            Self::LongerIntervals => {
                black_box(strategy.longer_intervals());
            }
            Self::WantsSettlements => {
                black_box(strategy.wants_settlements());
            }
            Self::Expiries => drop(black_box(strategy.expiries())),
            Self::IsGateClosed => {
                black_box(strategy.is_gate_closed());
            }
            Self::Gate => drop(black_box(strategy.gate())),
            Self::Conditions => drop(black_box(strategy.conditions())),
            Self::Indicators => drop(black_box(strategy.indicators())),
        }
    }
}

impl Inspection {
    pub(super) fn call(self, strategy: &dyn Strategy) {
        match self {
            Self::None => {}
            Self::All => Getter::ALL.into_iter().for_each(|getter| getter.call(strategy)),
            Self::Only(getter) => getter.call(strategy),
        }
    }
}
