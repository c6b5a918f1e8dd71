//! Final report of a live run: the figures of a backtest, plus figures that only live runs have.

use super::stream::print_final_document;
use crate::context::block_on;
use crate::failure::{Ending, Failure, FailureKind};
use crate::host::host;
use crate::output::{print, write_trades};
use candlewick_app::configuration::{LoadedConfig, Problems, journal_url};
use candlewick_app::evidence::live_evidence;
use candlewick_app::live::{Outcome, stop_name};
use candlewick_engine::{Halt, IntentState, TradeBook};
use candlewick_journal::{JournalError, Reader};
use candlewick_records::{TradingMode, count_text, describe_halt, format_utc};
use candlewick_report::analysis::{Prices, RunContext, assumed_payout_percent};
use candlewick_report::run::{Caveats, Run, RunReport, StakeState};
use candlewick_runtime::{
    Audit, FinishedRun, RuntimeError, StopReason, Tally, UnfinishedKind, UnfinishedTrade,
};
use candlewick_sdk::{Millis, MoneyScale};
use candlewick_search::evidence::EvidenceKind;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
struct LiveReport {
    seq: u64,
    at: Millis,
    event: &'static str,
    #[serde(flatten)]
    report: RunReport,
    in_doubt: usize,
    unfinished: Vec<UnfinishedLine>,
    /// Reason for the end of the run: `time_up`, `data_ends`, `interrupted`, `terminated`, or the name of a risk rule.
    stop: &'static str,
    wallet: Option<f64>,
    /// Wallet balance minus the balance computed from the trades. `None` if they are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    wallet_difference: Option<f64>,
    rejected_rows: u64,
    audits: BTreeMap<Audit, Tally>,
}

pub(crate) fn show_report(
    outcome: Outcome,
    loaded: &LoadedConfig,
    (trades, json): (Option<&Path>, bool),
    elapsed: Duration,
) -> Result<Ending, Failure> {
    let (finished, scale) = (&outcome.finished, outcome.settings.money_scale);
    let evidence = read_evidence(&outcome, loaded);
    let bots = &loaded.config.bots;
    if let Some(host) = host() {
        host.on_trades(&finished.book, bots, scale);
    }
    if let Some(path) = trades {
        let venue = (&loaded.config.simulation, &outcome.settings.bots[..]);
        let caveats = Caveats::for_live_run(Some(outcome.trading), venue, &finished.book, evidence.clone());
        write_trades(path, &finished.book, bots, (scale, &caveats))?;
    }
    let report = build_report(&outcome, loaded, (evidence, elapsed));
    if json {
        let doubts = finished.book.rows().iter().filter(|row| row.state == IntentState::InDoubt);
        print_final_document(&LiveReport {
            seq: outcome.last_event.max(1),
            at: outcome.span.end,
            event: "ended",
            report,
            in_doubt: doubts.count(),
            unfinished: unfinished_lines(finished, scale),
            stop: stop_name(finished.stop),
            wallet: finished.wallet.map(|wallet| scale.to_f64(wallet)),
            wallet_difference: finished.wallet_difference.as_ref().map(|found| scale.to_f64(found.amount)),
            rejected_rows: finished.rejected_rows,
            audits: finished.audits.clone(),
        })?;
    } else {
        print(&format!("\n{report}"))?;
    }
    to_exit_result(outcome.finished, scale)
}

/// Returns the kind of evidence of the run. Without a journal, a run is not part of the evidence ledger.
fn read_evidence(outcome: &Outcome, loaded: &LoadedConfig) -> EvidenceKind {
    if outcome.trading == TradingMode::Sandbox {
        return EvidenceKind::default();
    }
    let read = async {
        let url = journal_url(loaded).map_err(Problems::from)?;
        live_evidence(loaded, &mut Reader::open(&url).await?).await
    };
    block_on(read).unwrap_or_else(|_: Failure| {
        tracing::warn!("cannot read the journal, so the verdict is withheld");
        EvidenceKind::Live { weight: 0.0 }
    })
}

fn build_report(
    outcome: &Outcome,
    loaded: &LoadedConfig,
    (evidence, elapsed): (EvidenceKind, Duration),
) -> RunReport {
    let Outcome { finished, settings, trading, start_balance, span, .. } = outcome;
    let unsettled = stake_state(finished);
    RunReport::from_run(Run {
        book: &finished.book,
        bots: &settings.bots,
        scale: settings.money_scale,
        balance: *start_balance,
        final_balance: match unsettled {
            StakeState::Returned => finished.free + finished.open_stakes,
            StakeState::AtVenue => finished.free,
        },
        unsettled_stakes: finished.open_stakes,
        stake_state: unsettled,
        candles: finished.candles,
        span: span.clone(),
        prices: Prices::Fair,
        data_hash: None,
        journal_hash: Some(finished.journal_hash.clone()),
        head_hash: None,
        elapsed,
        notices: collect_notices(finished, settings.money_scale),
        delays: Vec::new(),
        audit_findings: count_findings(&finished.audits),
        caveats: Caveats::for_live_run(
            Some(*trading),
            (&loaded.config.simulation, &settings.bots),
            &finished.book,
            evidence,
        ),
        verdicts: finished.verdicts.clone(),
        joint_verdict_weight: finished.joint_verdict_weight,
        run_context: build_run_context(&finished.book, loaded),
        sensitivity: None,
        gates: Vec::new(),
        conditions: Vec::new(),
    })
}

fn to_exit_result(finished: FinishedRun, scale: MoneyScale) -> Result<Ending, Failure> {
    if let Some(error) = finished.journal_error {
        let is_gone = matches!(error, RuntimeError::Journal(JournalError::FileGone { .. }));
        let failure = Failure::from(error).context("the last journal entries may not be durable");
        let hint = "start again with this journal: missing results are then fetched from the venue";
        return Err(if is_gone { failure } else { failure.hint(hint) });
    }
    let unfinished = unfinished_failure(&finished, scale).map_or(Ok(Ending::Done), Err);
    let differing = wallet_failure(&finished);
    match finished.stop {
        StopReason::TimeUp | StopReason::DataEnds(_) => match finished.halt_reason {
            None => differing.map_or(unfinished, Err),
            Some(reason) => {
                let halt = describe_halt(&Halt { at: finished.halted_at, reason });
                Err(stop_failure(format!("the run ended {halt}"))
                    .hint("run `candlewick resume` to let the bot trade again"))
            }
        },
        StopReason::Interrupted => differing.map_or(Ok(Ending::Interrupted), Err),
        StopReason::Terminated => differing.map_or(unfinished, Err),
        StopReason::Limit(rule) => {
            let problem = format!("the risk limit {rule} was reached and must be lifted manually");
            let hint = "the limit still applies to the next run. To lift it, run `candlewick halt`, start the bot, then run `candlewick resume`";
            Err(stop_failure(problem).hint(hint))
        }
    }
}

fn wallet_failure(finished: &FinishedRun) -> Option<Failure> {
    if let Some(missing) = &finished.missing_wallet {
        let hint = "check the account at the venue; the next run compares the wallet with the trades again";
        return Some(stop_failure(missing.clone()).hint(hint));
    }
    let difference = finished.wallet_difference.as_ref()?;
    Some(stop_failure(difference.text.clone()).hint(
        "compare the trades with the list at the venue; to accept the difference, start the bot and run `candlewick resume`",
    ))
}

fn stop_failure(problem: String) -> Failure {
    Failure::new(FailureKind::Stopped, anyhow::Error::msg(problem))
}

fn build_run_context(book: &TradeBook, loaded: &LoadedConfig) -> RunContext {
    let mut paid: Vec<f64> = book.rows().iter().filter_map(|row| Some(row.payout?.to_percent())).collect();
    paid.sort_unstable_by(f64::total_cmp);
    RunContext {
        assumed_payout_percent: Some(assumed_payout_percent(
            &loaded.config.simulation,
            &loaded.config.bots,
            book,
        )),
        paid_payout_percent: paid.get(paid.len() / 2).copied(),
        ..RunContext::default()
    }
}

fn count_findings(audits: &BTreeMap<Audit, Tally>) -> BTreeMap<String, u64> {
    let found = audits.iter().filter(|(_, tally)| tally.findings > 0);
    found.map(|(audit, tally)| (audit.as_str().to_owned(), tally.findings)).collect()
}

fn collect_notices(finished: &FinishedRun, scale: MoneyScale) -> Vec<String> {
    let mut notices = unfinished_notices(finished, scale);
    notices.extend(finished.missing_wallet.clone());
    if let Some(difference) = &finished.wallet_difference {
        let wallet = finished.wallet.map(|wallet| format!(" (wallet {})", scale.format(wallet)));
        notices.push(format!("{}{}", difference.text, wallet.unwrap_or_default()));
    }
    if let Some(signals) = &finished.signals {
        notices.push(format!("external signals: {}", signals.describe().join("; ")));
    }
    if finished.rejected_rows > 0 {
        let rows = count_text(
            finished.rejected_rows,
            "row from the venue was not a valid candle and counts as a gap",
            "rows from the venue were not valid candles and count as gaps",
        );
        notices.push(rows);
    }
    if finished.dropped_notices > 0 {
        let lines = count_text(finished.dropped_notices, "message was", "messages were");
        notices.push(format!("{lines} not shown: the terminal did not keep up"));
    }
    notices
}

const MAX_LISTED_TRADES: usize = 20;

#[derive(Serialize)]
pub(super) struct UnfinishedLine {
    intent_id: u64,
    state: UnfinishedKind,
    venue_id: Option<String>,
    amount: f64,
    close_time: Option<Millis>,
}

fn unfinished_lines(finished: &FinishedRun, scale: MoneyScale) -> Vec<UnfinishedLine> {
    let line = |one: &UnfinishedTrade| UnfinishedLine {
        intent_id: one.intent.number(),
        state: one.kind,
        venue_id: one.venue_id.map(|id| id.as_str().to_owned()),
        amount: scale.to_f64(one.stake),
        close_time: one.close_time,
    };
    finished.unfinished.iter().map(line).collect()
}

/// Returns the state of unsettled stakes. After the last candle, trades never settle, so the stakes are returned.
pub(super) const fn stake_state(finished: &FinishedRun) -> StakeState {
    if matches!(finished.stop, StopReason::DataEnds(_)) { StakeState::Returned } else { StakeState::AtVenue }
}

fn unfinished_notices(finished: &FinishedRun, scale: MoneyScale) -> Vec<String> {
    if finished.unfinished.is_empty() {
        return Vec::new();
    }
    let all = summarize_unfinished(finished, scale);
    let first = match stake_state(finished) {
        StakeState::Returned => format!("{all} not settled when the candles ended; stakes returned"),
        StakeState::AtVenue => format!("{all} at the venue:"),
    };
    let named = finished.unfinished.iter().take(MAX_LISTED_TRADES).map(|one| describe_unfinished(one, scale));
    let more = finished.unfinished.len().saturating_sub(MAX_LISTED_TRADES);
    let rest = (more > 0).then(|| format!("and {more} more; run `candlewick trades` to list them"));
    let has_names = stake_state(finished) == StakeState::AtVenue;
    std::iter::once(first).chain(named.chain(rest).filter(|_| has_names)).collect()
}

fn summarize_unfinished(finished: &FinishedRun, scale: MoneyScale) -> String {
    let part = |is_included: fn(&UnfinishedKind) -> bool, (one, several): (&str, &str)| {
        let stakes: Vec<_> = finished
            .unfinished
            .iter()
            .filter(|found| is_included(&found.kind))
            .map(|found| found.stake)
            .collect();
        let noun = if stakes.len() == 1 { "stake" } else { "stakes" };
        let all = count_text(stakes.len() as u64, one, several);
        let stakes = (!stakes.is_empty()).then(|| scale.format(stakes.into_iter().sum()));
        stakes.map(|stakes| format!("{all} ({noun} {stakes})"))
    };
    let open = part(|kind| *kind != UnfinishedKind::InDoubt, ("open trade", "open trades"));
    let doubts = ("order of unknown status", "orders of unknown status");
    let doubts = part(|kind| *kind == UnfinishedKind::InDoubt, doubts);
    open.into_iter().chain(doubts).collect::<Vec<_>>().join(" and ")
}

fn describe_unfinished(one: &UnfinishedTrade, scale: MoneyScale) -> String {
    let UnfinishedTrade { intent, kind, venue_id, stake, close_time } = one;
    let stake = scale.format(*stake);
    let trade = venue_id.as_ref().map(|id| format!("{} at the venue", id.as_str()));
    let trade = trade.unwrap_or_else(|| "venue id unknown".to_owned());
    let closes = close_time.map(|at| format!(", closes at {}", format_utc(at))).unwrap_or_default();
    match kind {
        UnfinishedKind::Open => format!("trade #{intent} is open: {trade}, stake {stake}{closes}"),
        UnfinishedKind::InDoubt => {
            format!("trade #{intent} has an unknown status (stake {stake}): check the trades at the venue")
        }
        UnfinishedKind::SecondTrade => format!("trade #{intent} has a duplicate: {trade}, stake {stake}"),
    }
}

fn unfinished_failure(finished: &FinishedRun, scale: MoneyScale) -> Option<Failure> {
    if finished.unfinished.is_empty() || stake_state(finished) == StakeState::Returned {
        return None;
    }
    let all = summarize_unfinished(finished, scale);
    let problem = anyhow::anyhow!("{all}: the run ended before the venue reported the results");
    Some(Failure::new(FailureKind::Venue, problem).hint(
        "the next run with this journal tracks these trades; run `candlewick status` or `candlewick trades` to see them",
    ))
}
