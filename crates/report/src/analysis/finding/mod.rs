//! What a reader must know before believing a result, one finding a file.

mod assumed_payout;
mod bounce;
mod data_revised;
mod dies_of_latency;
mod draw_share;
mod few_clusters;
mod gaps;
mod halted_early;
mod in_sample_only;
mod many_numbers;
mod many_variants;
mod no_price_step;
mod one_hour_only;
mod refused_by_one_rule;
mod regimes;
mod staked_result;
mod stale_longer_candles;
mod too_few_trades;
mod too_good;
mod unusual_payout;
mod variants_unknown;

use super::{Breakdown, Dimension, Metrics, Sensitivity, VenueSetting};
pub use assumed_payout::assumed_payout_percent;
pub use bounce::Reversals;
use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Interval, Millis, MoneyScale, Staleness, Symbol};
use candlewick_search::variants::VariantCount;
use serde::Serialize;
pub(crate) use staked_result::StakedResult;
use std::collections::BTreeMap;
use std::ops::Range;
pub(crate) use too_good::{DecidedTrades, too_good};
pub(crate) use unusual_payout::unusual_payout;
pub use variants_unknown::VariantsUnknown;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The result is not what it seems.
    Serious,
    /// The result may not be what it seems.
    Warning,
    /// Good to know.
    Info,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// One rule refused the signals.
    RefusedByOneRule,
    /// A limit that only a person lifts left the rest untraded.
    HaltedEarly,
    /// The trades since an edge was shown do not support it.
    EdgeDidNotLast,
    /// Nobody trades so well without knowing what comes next.
    TooGood,
    /// The win rate is uncertain for want of trades.
    TooFewTrades,
    /// Few trades did not overlap with another one.
    FewClusters,
    /// Wins and losses do not come in random order.
    Regimes,
    /// The profit is that of one hour of the day.
    OneHourOnly,
    /// A little latency takes the profit.
    DiesOfLatency,
    /// A higher payout is assumed than trades were paid.
    AssumedPayout,
    /// A payout is assumed that no venue is known to pay.
    UnusualPayout,
    /// Many variants were tried.
    ManyVariants,
    /// Nobody knows how many variants were tried.
    VariantsUnknown,
    /// Candles are missing, or trades were called off for it.
    Gaps,
    /// Moves of one candle reverse, as prices do that bounce between bid and ask.
    BidAskBounce,
    /// A rule has many numbers for its trades.
    ManyNumbers,
    /// A strategy read longer candles that were out of date.
    StaleLongerCandles,
    /// Many trades drew.
    DrawShare,
    /// Trades did not draw for want of a price step.
    NoPriceStep,
    /// Stakes that change hide a losing strategy.
    LadderHidesLosses,
    /// Stakes that change lose the money of a winning strategy.
    StakesLoseMoney,
    /// The venue changed candles after the fact.
    DataRevised,
    /// No candle of the run was unseen when its variant was chosen.
    InSampleOnly,
    /// Rows of a file of trades have no times.
    NoTimes,
    /// Rows of a file of trades are in the order of their results.
    SortedByResult,
    /// Rows of a file of trades occur twice.
    RepeatedRows,
}

/// Something that a reader must know, in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// One or two sentences with the figures.
    pub text: String,
}

/// What is known of a run besides its trades.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// The payout that the run, or a backtest of it, assumes.
    pub assumed_payout_percent: Option<f64>,
    /// The middle one of the payouts that a venue really paid, where trades of one are known.
    pub seen_payout_percent: Option<f64>,
    /// Candles that are missing between the first and the last, the closed hours of a market left out.
    pub missing_candles: u64,
    /// Candles of the bots' series that closed after the last trade was decided; none where candles are not at hand.
    pub untraded_candles: Option<u64>,
    /// Values of candles that the venue changed later.
    pub revised_candles: u64,
    /// The price steps that candles show, of the symbols for which none is set.
    pub unset_steps: BTreeMap<Symbol, f64>,
    /// Reversals of moves in each series.
    pub reversals: Vec<Reversals>,
    /// Number of numbers in the rule of each bot, in the bots' order; 0 without a rule.
    pub rule_numbers: Vec<usize>,
    /// Bots that read longer candles which were out of date.
    pub stale_longer: Vec<StaleLonger>,
}

/// A bot that read longer candles which were out of date.
#[derive(Clone, Debug)]
pub struct StaleLonger {
    /// The bot's name.
    pub bot: String,
    /// The interval of the longer candles.
    pub interval: Interval,
    /// Number and age of the candles that were out of date.
    pub staleness: Staleness,
}

/// What the verdict on all trades rests on.
#[derive(Clone, Copy, Debug)]
pub(super) struct VerdictBasis {
    /// Trades of which no two were open at the same time.
    pub(super) apart: u64,
    /// Whether an edge was shown or rejected.
    pub(super) is_decided: bool,
}

/// Everything that findings are made of.
pub(super) struct Facts<'a> {
    pub(super) summary: &'a Summary,
    pub(super) metrics: &'a Metrics,
    pub(super) breakdowns: &'a [Breakdown],
    pub(super) sensitivity: Option<&'a Sensitivity>,
    pub(super) variants: Option<&'a VariantCount>,
    pub(super) variants_unknown: Option<&'a VariantsUnknown>,
    pub(super) bots: &'a [BotSettings],
    pub(super) scale: MoneyScale,
    pub(super) settled: &'a [&'a IntentRow],
    /// How often each rule refused since the last trade was decided.
    pub(super) refused_since_last: BTreeMap<&'static str, u64>,
    /// When the last trade was decided, and from when to when the run went.
    pub(super) last_open: (Option<Millis>, &'a Range<Millis>),
    pub(super) background: Background,
    pub(super) basis: VerdictBasis,
}

impl Severity {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl FindingKind {
    /// Returns whether a serious finding of this kind is printed before the verdict.
    const fn is_headline(self) -> bool {
        matches!(
            self,
            Self::RefusedByOneRule | Self::HaltedEarly | Self::LadderHidesLosses | Self::StakesLoseMoney
        )
    }
}

impl Finding {
    /// Returns whether the finding is printed before the verdict.
    pub(crate) fn is_headline(&self) -> bool {
        self.severity == Severity::Serious && self.kind.is_headline()
    }

    /// Returns the finding with its text prefixed by the name of a bot.
    #[must_use]
    pub(crate) fn of_bot(mut self, bot: &str) -> Self {
        self.text = format!("{bot}: {}", self.text);
        self
    }

    /// All that is to be said of a run, the most serious first.
    pub(super) fn all_of(facts: &Facts<'_>) -> Vec<Self> {
        let Facts { summary, metrics, background, variants, .. } = facts;
        let hours = facts.breakdowns.iter().find(|breakdown| breakdown.by == Dimension::Hour);
        let latencies = facts.sensitivity.map_or(&[][..], |all| all.curve(VenueSetting::LatencyMs));
        let no_price = summary.refused.get("NoPrice").copied().unwrap_or_default();
        let decided = summary.won + summary.lost;
        let staked = StakedResult::from_rows(facts.settled, facts.scale);
        let bots: Vec<&BotSettings> = facts.bots.iter().collect();
        let traded = DecidedTrades {
            won: summary.won,
            lost: summary.lost,
            longest_losing_streak: summary.longest_losing_streak,
            profit_factor: metrics.profit_factor.of_returns,
            apart: facts.basis.apart,
        };
        let found = [
            staked.and_then(|staked| staked.finding(&bots)),
            refused_by_one_rule::find(summary),
            halted_early::find(&facts.refused_since_last, background.untraded_candles, facts.last_open),
            too_good(&traded),
            too_few_trades::find(metrics.win_rate.as_ref(), decided),
            few_clusters::find(facts.basis, decided),
            regimes::find(facts.settled, facts.bots),
            hours.and_then(|hours| one_hour_only::find(&hours.cells)),
            dies_of_latency::find(latencies),
            assumed_payout::find(background.assumed_payout_percent, background.seen_payout_percent),
            unusual_payout(background.assumed_payout_percent),
            variants.and_then(many_variants::find),
            facts.variants_unknown.map(variants_unknown::find),
            gaps::find(background.missing_candles, summary.cancelled + no_price, summary.trades + no_price),
            bounce::find(&background.reversals),
            many_numbers::find(&background.rule_numbers, facts.settled, facts.bots),
            stale_longer_candles::find(&background.stale_longer),
            draw_share::find(summary.draw, summary.trades),
            no_price_step::find(facts.settled, facts.bots, &background.unset_steps),
            data_revised::find(background.revised_candles),
            variants.and_then(in_sample_only::find),
        ];
        let mut found: Vec<Self> = found.into_iter().flatten().collect();
        found.sort_by_key(|finding| finding.severity);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_backtest::metric::Drawdown;
    use candlewick_sdk::Money;

    /// Of a run of which only this is known.
    pub(super) fn summary(won: u64, lost: u64) -> Summary {
        Summary {
            trades: won + lost,
            won,
            lost,
            draw: 0,
            cancelled: 0,
            unsettled: 0,
            refused: BTreeMap::new(),
            pnl: Money::ZERO,
            win_rate: None,
            break_even: None,
            break_even_by_money: None,
            p_value: None,
            max_drawdown: Drawdown::default(),
            max_drawdown_by_percent: Drawdown::default(),
            longest_winning_streak: 0,
            longest_losing_streak: 0,
        }
    }
}
