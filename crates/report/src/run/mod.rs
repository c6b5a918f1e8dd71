//! Report of a run: one struct that renders as a table or as JSON with fixed keys.

mod caveats;
mod figures;
mod gates;
mod recorded;
mod trades;
mod verdict;

use crate::analysis::{Analysis, Finding, Prices, RunContext, RunData, Sensitivity, StakingResult};
use crate::conditions::ConditionLine;
use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, BotVerdict, IntentRow, IntentState, TradeBook, judge};
use candlewick_records::DelayLine;
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome};
use candlewick_search::evidence::EvidenceKind;
use candlewick_statistics::{EdgeTest, EdgeTestPlan, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

pub use caveats::{Caveats, ReplayBasis};
pub(crate) use caveats::{cancelled_reason, caveat_text};
pub use figures::{PageParts, build_page};
pub use gates::GateLine;
pub use recorded::RecordedReport;
pub use trades::{RunFacts, UnopenedTrade, rows_by_decision, write_trades_to};
pub(crate) use verdict::describe_evidence;
pub use verdict::{EdgeLine, Heading};

pub struct Run<'a> {
    pub book: &'a TradeBook,
    pub bots: &'a [BotSettings],
    pub scale: MoneyScale,
    pub balance: Money,
    /// Free balance at the end of the run, including returned stakes of unsettled trades.
    pub final_balance: Money,
    pub unsettled_stakes: Money,
    pub stake_state: StakeState,
    pub candles: u64,
    pub span: Range<Millis>,
    pub prices: Prices,
    /// Hash of all candles; `None` for a live run.
    pub data_hash: Option<String>,
    /// Hash of the settings, events and actions of a run that just ended. Equal inputs give equal hashes.
    pub journal_hash: Option<String>,
    /// Hash of the journal's last line, as in `journal verify`; `None` if the run was not read from a journal.
    pub head_hash: Option<String>,
    pub elapsed: Duration,
    pub notices: Vec<String>,
    pub delays: Vec<DelayLine>,
    pub audit_findings: BTreeMap<String, u64>,
    pub caveats: Caveats,
    pub verdicts: Vec<BotVerdict>,
    /// Weight of the joint verdict on the trades of all bots, as a fraction of alpha. 0 without a joint verdict.
    pub joint_verdict_weight: f64,
    pub run_context: RunContext,
    pub sensitivity: Option<Sensitivity>,
    pub gates: Vec<GateLine>,
    pub conditions: Vec<ConditionLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StakeState {
    /// The simulated venue ended with the run and returned the stakes. The final balance includes them.
    Returned,
    AtVenue,
}

/// Report of a run with stable JSON keys. Rates are fractions; money is in the wallet's currency.
#[derive(Debug, Serialize)]
pub struct RunReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<String>,
    candles: u64,
    trades: u64,
    won: u64,
    lost: u64,
    draw: u64,
    cancelled: u64,
    unsettled: u64,
    refused: BTreeMap<&'static str, u64>,
    pnl: f64,
    /// Value of `pnl` if all cancelled trades had lost. This is the worst case that data gaps can hide.
    pnl_if_cancelled_lost: f64,
    final_balance: f64,
    unsettled_stakes: f64,
    win_rate: Option<f64>,
    /// Break-even win rate of the decided trades at equal stakes, comparable with `win_rate`.
    break_even: Option<f64>,
    break_even_by_money: Option<f64>,
    break_even_payout_percent: Option<f64>,
    break_even_payout_percent_by_money: Option<f64>,
    p_value: Option<f64>,
    verdict: &'static str,
    evidence: EvidenceKind,
    edge: EdgeLine,
    max_drawdown: f64,
    max_drawdown_percent: f64,
    longest_losing_streak: u64,
    data_hash: Option<String>,
    journal_hash: Option<String>,
    head_hash: Option<String>,
    elapsed_ms: u64,
    candles_per_second: Option<f64>,
    notices: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    delays: Vec<DelayLine>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_findings: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<GateLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionLine>,
    bots: Vec<BotLine>,
    #[serde(flatten)]
    analysis: Analysis,
    #[serde(skip)]
    holder: StakeState,
    #[serde(skip)]
    caveats: Caveats,
    #[serde(skip)]
    scale: MoneyScale,
    #[serde(skip)]
    span: Range<Millis>,
}

#[derive(Debug, Serialize)]
struct BotLine {
    bot: String,
    symbol: String,
    trades: u64,
    won: u64,
    lost: u64,
    draw: u64,
    win_rate: Option<f64>,
    pnl: f64,
    /// Verdict on the bot with its current parameters and code, based on all runs in the journal.
    verdict: &'static str,
    edge: EdgeLine,
}

impl RunReport {
    pub const fn caveats(&self) -> &Caveats {
        &self.caveats
    }

    pub fn from_run(mut run: Run<'_>) -> Self {
        run.notices.extend(ConditionLine::describe_never_true(&run.conditions));
        run.notices.extend(ConditionLine::describe_always_true(&run.conditions));
        run.notices.extend(ConditionLine::describe_overlaps(&run.conditions));
        let summary = Summary::new(run.book, run.balance);
        let scale = run.scale;
        let money = |amount: Money| scale.to_f64(amount);
        let [cancelled, stakes_won, stakes_lost] =
            [Outcome::Cancelled, Outcome::Won, Outcome::Lost].map(|outcome| sum_stakes(run.book, outcome));
        let is_replay = run.data_hash.is_some();
        if is_replay {
            run.caveats.add_gap_reason(run.book);
        }
        let seconds = run.elapsed.as_secs_f64().max(1e-9);
        let test = overall_test(&run);
        let mut analysis = analyse(&mut run, &summary, &test);
        let (edge, bots) = build_edge_lines(&run, &test);
        analysis.add_finding(edge.finding());
        for (index, line) in bots.iter().enumerate().filter(|_| bots.len() > 1) {
            let found = [line.edge.finding(), stake_finding(&run, index)].into_iter().flatten();
            found.for_each(|finding| analysis.add_finding(Some(finding.with_bot(&line.bot))));
        }
        let headline = analysis.headlines().next().map(str::to_owned);
        Self {
            headline,
            candles: run.candles,
            trades: summary.trades,
            won: summary.won,
            lost: summary.lost,
            draw: summary.draw,
            cancelled: summary.cancelled,
            unsettled: summary.unsettled,
            pnl: money(summary.pnl),
            pnl_if_cancelled_lost: money(summary.pnl - cancelled),
            final_balance: money(run.final_balance),
            unsettled_stakes: money(run.unsettled_stakes),
            holder: run.stake_state,
            win_rate: summary.win_rate,
            break_even: summary.break_even,
            break_even_by_money: summary.break_even_by_money,
            break_even_payout_percent: (summary.won > 0)
                .then(|| summary.lost as f64 / summary.won as f64 * 100.0),
            break_even_payout_percent_by_money: stakes_won
                .is_positive()
                .then(|| stakes_lost.minor() as f64 / stakes_won.minor() as f64 * 100.0),
            p_value: summary.p_value,
            verdict: edge.verdict,
            evidence: run.caveats.evidence.clone(),
            edge,
            max_drawdown: money(summary.max_drawdown.amount),
            max_drawdown_percent: summary.max_drawdown_by_percent.percent,
            longest_losing_streak: summary.longest_losing_streak,
            refused: summary.refused,
            data_hash: run.data_hash,
            journal_hash: run.journal_hash,
            head_hash: run.head_hash,
            elapsed_ms: u64::try_from(run.elapsed.as_millis()).unwrap_or(u64::MAX),
            candles_per_second: is_replay.then_some(run.candles as f64 / seconds),
            notices: run.notices,
            delays: run.delays,
            audit_findings: run.audit_findings,
            gates: run.gates,
            conditions: run.conditions,
            bots,
            analysis,
            caveats: run.caveats,
            scale,
            span: run.span,
        }
    }
}

fn build_edge_lines(run: &Run<'_>, test: &EdgeTest) -> (EdgeLine, Vec<BotLine>) {
    let edge = match &*run.verdicts {
        [only] => {
            let edge = EdgeLine::new(test, judged_rows(run.book, (0, only)), &run.caveats);
            edge.with_edge_end(only.judge().no_longer_held_since())
        }
        _ => EdgeLine::new(test, run.book.rows(), &run.caveats),
    };
    // A confirmation tests its bots as a whole, so it cannot show the edge of one of several bots.
    let is_part = run.bots.len() > 1 && matches!(run.caveats.evidence, EvidenceKind::Confirmed { .. });
    let evidence = if is_part { EvidenceKind::default() } else { run.caveats.evidence.clone() };
    let own = Caveats { evidence, ..run.caveats.clone() };
    let judged = run.bots.iter().zip(&run.verdicts).enumerate();
    let line = |(index, (bot, verdict)): (usize, (&BotSettings, &BotVerdict))| {
        bot_line((index, bot), verdict, run.book, (run.scale, &own))
    };
    (edge, judged.map(line).collect())
}

fn analyse(run: &mut Run<'_>, summary: &Summary, test: &EdgeTest) -> Analysis {
    let span = run.span.clone();
    let Run { book, bots, scale, balance, prices, .. } = *run;
    let trades = RunData { book, bots, scale, balance, span: &span, prices };
    let mut analysis = Analysis::new(&trades, summary);
    analysis.sensitivity = run.sensitivity.take();
    let is_decided = matches!(test.verdict(), Verdict::EdgeShown | Verdict::EdgeRejected);
    analysis.collect_findings(&trades, summary, (std::mem::take(&mut run.run_context), is_decided));
    analysis
}

/// Tests the trades of all bots together. If earlier trades are missing, alpha is 0, so the test cannot show an edge.
fn overall_test(run: &Run<'_>) -> EdgeTest {
    if let [only] = &*run.verdicts {
        return only.edge_test().clone();
    }
    let plan = run.verdicts.first().map_or_else(EdgeTestPlan::default, |verdict| verdict.edge_test().plan());
    let is_whole = run.book.rows().first().is_none_or(|row| row.approved.intent().number() == 1);
    let weight = if is_whole { run.joint_verdict_weight } else { 0.0 };
    judge(run.book.rows(), EdgeTest::new(plan).with_weight(weight))
}

fn stake_finding(run: &Run<'_>, bot: usize) -> Option<Finding> {
    let is_own = |row: &&IntentRow| row.approved.bot().index() == bot && row.state == IntentState::Settled;
    let settled: Vec<&IntentRow> = run.book.rows().iter().filter(is_own).collect();
    StakingResult::from_rows(&settled, run.scale)?.finding(&[run.bots.get(bot)?])
}

fn sum_stakes(book: &TradeBook, outcome: Outcome) -> Money {
    let ended_so = |row: &&IntentRow| row.outcome == Some(outcome);
    book.rows().iter().filter(ended_so).map(|row| row.approved.stake()).sum()
}

/// Returns the trades on which the bot's verdict is based: those since the verdict last restarted.
fn judged_rows<'a>(
    book: &'a TradeBook,
    (index, verdict): (usize, &BotVerdict),
) -> impl Iterator<Item = &'a IntentRow> + Clone {
    let first = verdict.first_intent();
    let is_judged =
        move |row: &&IntentRow| row.approved.bot().index() == index && row.approved.intent() >= first;
    book.rows().iter().filter(is_judged)
}

fn bot_line(
    (index, bot): (usize, &BotSettings),
    verdict: &BotVerdict,
    book: &TradeBook,
    (scale, caveats): (MoneyScale, &Caveats),
) -> BotLine {
    let own = book.rows().iter().filter(|row| row.approved.bot().index() == index);
    let edge = EdgeLine::new(verdict.edge_test(), judged_rows(book, (index, verdict)), caveats);
    let edge = edge.with_edge_end(verdict.judge().no_longer_held_since());
    let settled: Vec<&IntentRow> = own.filter(|row| row.state == IntentState::Settled).collect();
    let count = |outcome| settled.iter().filter(|row| row.outcome == Some(outcome)).count() as u64;
    let (won, lost) = (count(Outcome::Won), count(Outcome::Lost));
    BotLine {
        bot: bot.name.clone(),
        symbol: bot.symbol.to_string(),
        trades: settled.len() as u64,
        won,
        lost,
        draw: count(Outcome::Draw),
        win_rate: (won + lost > 0).then(|| won as f64 / (won + lost) as f64),
        pnl: scale.to_f64(settled.iter().map(|row| row.profit).sum()),
        verdict: edge.verdict,
        edge,
    }
}
