//! `backtest`: runs the configured bots over stored candles.

use super::report::write_page;
use crate::arguments::{CandleArguments, parse_journal, replay_basis};
use crate::combinations::{
    count_bot_conditions, count_fitted_numbers_per_bot, describe_combinations, replay_gates,
};
use crate::context::{Context, block_on};
use crate::failure::{Ending, Failure};
use crate::host::{host, report_candles};
use crate::output::{show, write_trades};
use crate::progress::{StderrBars, with_spinner};
use candlewick_app::backtest::{BacktestOptions, BacktestRun, LatencyOptions, PreparedBacktest};
use candlewick_app::candles::missing_price_steps;
use candlewick_backtest::{BacktestResult, BacktestSettings};
use candlewick_engine::{BotSettings, BotVerdict, TradeBook, WorstStaleness, payout_probe_count_notices};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_records::{Delays, count_text};
use candlewick_report::analysis::{
    Prices, Reversals, RunContext, Sensitivity, StaleLongerCandle, assumed_payout_percent,
};
use candlewick_report::run::{Caveats, PageParts, ReplayBasis, Run, RunReport, StakeState};
use candlewick_sdk::{CandleSeries, Millis};
use candlewick_search::evidence::EvidenceKind;
use candlewick_statistics::AlphaBudget;
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick backtest\n  candlewick backtest --config my.toml --data BTCUSDT_1m.csv --sensitivity --html report.html\n  candlewick \
                  backtest --data BTCUSDT@1m --from 2026-01-06 --to 2026-01-10\n  candlewick backtest --json --quiet\n\n\
                  Without --config, the built-in example bots trade. Without --data and [sandbox].data, candles come \
                  from the catalog. Without a catalog, two weeks of synthetic candles are used.\n\nA backtest sees only \
                  candles before the sealed day, so it cannot show an edge. `candlewick confirm` tests bots on the sealed \
                  candles."
)]
pub(crate) struct BacktestArguments {
    #[command(flatten)]
    candles: CandleArguments,
    /// CSV list of timed external signals, traded in addition to the bots' own signals; same format as signals.list
    #[arg(long, value_name = "FILE", value_parser = parse_signal_list_path)]
    signals: Option<PathBuf>,
    /// CSV file for the trades
    #[arg(long, value_name = "FILE")]
    trades: Option<PathBuf>,
    /// Self-contained HTML file for the report, with charts of candles and trades
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// JSON Lines file for the journal; the file must not exist yet
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// No effect; results are no longer cached
    #[arg(long, hide = true)]
    no_cache: bool,
    /// Shift entry and exit prices against each trade, in proportion to K (0.5 if omitted) and the candle range
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "0.5")]
    stress: Option<f64>,
    /// Repeat the run with other latencies, payouts and price paths, and in a stress test
    #[arg(long)]
    sensitivity: bool,
    /// Journal of a live session whose recorded latencies replace latency_ms
    #[arg(long, value_name = "JOURNAL", value_parser = parse_journal)]
    latency_from: Option<String>,
    /// Random seed for drawing from the recorded latencies
    #[arg(long, value_name = "N", default_value_t = 1, requires = "latency_from")]
    latency_seed: u64,
}

const SENSITIVITY_HINT: &str = "Sensitivity was not tested. Run `candlewick backtest --sensitivity` with the same arguments \
                                   to see the effect of latency, payout, price path and stress.";

pub(super) fn run(arguments: &BacktestArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let progress = StderrBars(context.global);
    let candles = arguments.candles.to_candle_choice();
    let latency =
        arguments.latency_from.as_deref().map(|journal| read_latency(journal, arguments.latency_seed));
    let (stress, latency, signals) = (arguments.stress, latency.transpose()?, arguments.signals.clone());
    let terms = BacktestOptions { candles: candles.clone(), stress, latency, signals };
    let (prepared, strategies) = terms.prepare(&context.global.config, context.registry, &progress)?;
    report_candles(&prepared.candles.series);
    let run = prepared.replay(strategies, arguments.journal.as_deref(), &progress)?;
    let coarse = candles.check_trades(&prepared.loaded, &prepared.candles.markets, &run.result.book)?;
    let sensitivity = arguments.sensitivity.then(|| test_sensitivity(&prepared, context)).transpose()?;
    if arguments.no_cache {
        tracing::warn!("--no-cache has no effect: results are no longer cached");
    }
    show_report(prepared, run, (coarse, sensitivity), (arguments, context))
}

fn parse_signal_list_path(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        return Err("standard input cannot be backtested: pass a CSV file of signals".to_owned());
    }
    Ok(PathBuf::from(text))
}

fn read_latency(journal: &str, seed: u64) -> Result<LatencyOptions, Failure> {
    let url: JournalUrl = journal.parse()?;
    let delays = block_on(async { Delays::read(&mut Reader::open(&url).await?, None).await })?;
    Ok(LatencyOptions { delays, seed, journal: url.to_string() })
}

fn test_sensitivity(prepared: &PreparedBacktest, context: &Context<'_>) -> Result<Sensitivity, Failure> {
    if !prepared.signals.is_empty() {
        return Err(Failure::configuration("--sensitivity does not support signals.list: omit one of them"));
    }
    let repeated = with_spinner("Testing sensitivity", context.global, || {
        prepared.with_sensitivity_analysis(context.registry, None, Sensitivity::from_analysis)
    });
    Ok(repeated?)
}

fn show_report(
    prepared: PreparedBacktest,
    run: BacktestRun,
    (coarse_trades, sensitivity): (Option<String>, Option<Sensitivity>),
    (arguments, context): (&BacktestArguments, &Context<'_>),
) -> Result<Ending, Failure> {
    let names = prepared.settings.session.bots.iter().map(|bot| bot.name.as_str());
    let parts = ReportParts {
        caveats: collect_caveats(
            &prepared,
            arguments.candles.allows_coarse(),
            prepared.candles.evidence.clone(),
        ),
        coarse_trades,
        joint_verdict_weight: AlphaBudget::for_first_run(names).joint_verdict_weight(),
        verdicts: run.result.verdicts.clone(),
        sensitivity,
    };
    let report = build_report(&prepared, &run, parts, context)?;
    let PreparedBacktest { loaded, settings, header, candles, .. } = prepared;
    let finished = run.result;
    if let Some(host) = host() {
        host.on_trades(&finished.book, &loaded.config.bots, finished.money_scale);
    }
    if let Some(path) = &arguments.trades {
        write_trades(path, &finished.book, &loaded.config.bots, (finished.money_scale, report.caveats()))?;
    }
    if let Some(path) = &arguments.html {
        let parts = PageParts {
            kind: "Backtest",
            book: &finished.book,
            session: &settings.session,
            simulation: &settings.simulation,
            strategies: &header.strategies,
            balance: loaded.initial_balance()?,
            span: &candles.span(),
            prices: price_kind(&settings),
            candles: candles.series,
            no_sensitivity_reason: SENSITIVITY_HINT,
        };
        write_page(path, &report, parts)?;
    }
    show(&report, context.global)
}

/// Parts of a report that depend on the command.
pub(super) struct ReportParts {
    pub(super) caveats: Caveats,
    pub(super) coarse_trades: Option<String>,
    pub(super) joint_verdict_weight: f64,
    pub(super) verdicts: Vec<BotVerdict>,
    pub(super) sensitivity: Option<Sensitivity>,
}

pub(super) fn build_report(
    prepared: &PreparedBacktest,
    run: &BacktestRun,
    parts: ReportParts,
    context: &Context<'_>,
) -> Result<RunReport, Failure> {
    let PreparedBacktest { loaded, settings, candles, coarse_notice, .. } = prepared;
    let BacktestRun { result: finished, journal_hash, elapsed } = run;
    let ReportParts { caveats, coarse_trades, joint_verdict_weight, verdicts, sensitivity } = parts;
    let coarse = coarse_notice.clone().or(coarse_trades);
    let mut notices: Vec<String> = coarse.into_iter().chain(candles.notices.clone()).collect();
    notices.extend(describe_unbuilt_candles(finished.unbuilt_longer_candles));
    notices.extend(payout_probe_count_notices(&settings.session, &finished.book));
    notices.extend(describe_combinations(&loaded.config.bots, context.registry));
    Ok(RunReport::from_run(Run {
        book: &finished.book,
        bots: &loaded.config.bots,
        scale: finished.money_scale,
        balance: loaded.initial_balance()?,
        final_balance: finished.final_balance,
        unsettled_stakes: finished.unsettled_stakes,
        stake_state: StakeState::Returned,
        candles: finished.candles,
        span: candles.span(),
        prices: price_kind(settings),
        data_hash: Some(candles.hash.clone()),
        journal_hash: Some(journal_hash.clone()),
        head_hash: None,
        elapsed: *elapsed,
        notices,
        delays: Vec::new(),
        audit_findings: BTreeMap::new(),
        caveats,
        joint_verdict_weight,
        verdicts,
        run_context: build_run_context(prepared, finished, context),
        sensitivity,
        gates: replay_gates(loaded, &candles.series, &settings.simulation, context)?,
        conditions: count_bot_conditions(loaded, &candles.series, context)?,
    }))
}

fn price_kind(settings: &BacktestSettings) -> Prices {
    if settings.simulation.stress > 0.0 { Prices::Stressed } else { Prices::Fair }
}

pub(super) fn collect_caveats(
    prepared: &PreparedBacktest,
    may_have_coarse_candles: bool,
    evidence: EvidenceKind,
) -> Caveats {
    let PreparedBacktest { settings, candles, has_simulated_latency, .. } = prepared;
    let basis = replay_basis(may_have_coarse_candles, candles.prices);
    let basis = ReplayBasis { has_simulated_latency: *has_simulated_latency, ..basis };
    Caveats::for_replay(basis, &settings.simulation, &settings.session.bots, evidence)
}

fn build_run_context(
    prepared: &PreparedBacktest,
    finished: &BacktestResult,
    context: &Context<'_>,
) -> RunContext {
    let PreparedBacktest { loaded, settings, candles, recorded_payout_percent: seen_payout_percent, .. } =
        prepared;
    let (bots, book, simulation) = (&loaded.config.bots, &finished.book, &settings.simulation);
    RunContext {
        assumed_payout_percent: Some(assumed_payout_percent(simulation, &settings.session.bots, book)),
        paid_payout_percent: *seen_payout_percent,
        missing_candles: candles.missing_candles(bots),
        untraded_candles: Some(count_untraded_candles(&candles.series, bots, book)),
        revised_candles: candles.revised_candles,
        candle_tick_sizes: missing_price_steps(&candles.markets, &simulation.ticks),
        reversals: candles.series.iter().map(Reversals::from_candles).collect(),
        rule_parameter_counts: count_fitted_numbers_per_bot(loaded, context.registry),
        stale_longer_candles: collect_stale_longer_candles(bots, &finished.worst_staleness),
    }
}

fn describe_unbuilt_candles(count: u64) -> Option<String> {
    (count > 0).then(|| {
        let candles = count_text(count, "longer candle", "longer candles");
        format!("{candles} not built due to gaps in shorter candles: fill the gaps or lower data.longer_share_percent")
    })
}

fn collect_stale_longer_candles(
    bots: &[BotSettings],
    staleness: &[WorstStaleness],
) -> Vec<StaleLongerCandle> {
    let stale = bots.iter().zip(staleness).filter_map(|(bot, staleness)| {
        let (interval, staleness) = (*staleness)?;
        Some(StaleLongerCandle { bot: bot.name.clone(), interval, staleness })
    });
    stale.collect()
}

fn count_untraded_candles(series: &[CandleSeries], bots: &[BotSettings], book: &TradeBook) -> u64 {
    let last = book.rows().last().map_or(Millis::ZERO, |row| row.approved.decision_time());
    let after = |one: &CandleSeries| {
        let interval = one.interval();
        one.candles().iter().rev().take_while(|candle| candle.close_time(interval) > last).count() as u64
    };
    let is_heard = |one: &&CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
    series.iter().filter(is_heard).map(after).sum()
}
