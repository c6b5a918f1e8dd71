//! `edge verdict` and `edge gate`: statistical tests of past trades.

use super::{load_config, parse_payout_fraction, parse_percent_fraction};
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure};
use crate::output::show;
use candlewick_app::AppError;
use candlewick_app::evidence::live_evidence;
use candlewick_app::recent::read_recent;
use candlewick_engine::{BotVerdict, DayStart, IntentRow, JudgedTrade, build_judge};
use candlewick_journal::Reader;
use candlewick_records::IntentOrigin;
use candlewick_report::edge::{
    Counts, GateReport, GateSetup, NamedTrade, Sample, TradeMoney, VerdictReport, audit_trades, read_trades,
};
use candlewick_report::run::Caveats;
use candlewick_sdk::Payout;
use candlewick_statistics::{EdgeTest, EdgeTestPlan, GateOpening, GateRule};
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick edge verdict --won 580 --lost 420 --payout 85\n  candlewick edge verdict \
                  --trades trades.csv\n  candlewick edge verdict --journal run.db --json\n\nThe verdict follows a \
                  notional account trade by trade. It needs the trades in chronological order: from a journal [default: \
                  the configured journal], or from a CSV file with the columns result and payout, such as the file \
                  of `backtest --trades`. The verdict is valid after every trade and accounts for overlapping trades. Counts have \
                  no order, so they give only figures and one test that assume independent trades. For a journal, the trades since \
                  the last change of parameters or code are judged by the plan recorded with them; otherwise [risk.verdict] applies."
)]
pub(crate) struct VerdictArguments {
    /// Number of trades won
    #[arg(long, value_name = "N", requires = "lost", conflicts_with_all = ["trades", "journal"])]
    won: Option<u64>,
    /// Number of trades lost
    #[arg(long, value_name = "N", requires = "won")]
    lost: Option<u64>,
    /// Number of draws
    #[arg(long, value_name = "N", requires = "won")]
    draws: Option<u64>,
    /// Payout in percent, for --won and --lost and for CSV files without payouts [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_fraction)]
    payout: Option<f64>,
    /// CSV file of trades
    #[arg(long, value_name = "FILE", conflicts_with = "journal")]
    trades: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_verdict(arguments: &VerdictArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let mut plan = load_config(context)?.config.risk.verdict.to_plan()?;
    let (mut findings, mut notices) = (Vec::new(), Vec::new());
    let samples = match (arguments.won.zip(arguments.lost), &arguments.trades) {
        (Some((won, lost)), _) => {
            let assumed = load_config(context)?.config.simulation.payout_percent.to_fraction();
            let counts = Counts { won, lost, draw: arguments.draws.unwrap_or_default(), ..Counts::default() };
            vec![Sample::from_counts(counts, arguments.payout.unwrap_or(assumed))?]
        }
        (None, Some(path)) => {
            let payout =
                arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
            let file = read_trades(path, payout)?;
            findings.extend(audit_trades(&file.trades));
            findings.extend(file.findings);
            notices = file.notices;
            Sample::build_all(&file.trades, plan, (file.bots, &file.caveats))?
        }
        (None, None) => {
            let found = judge_journal(&arguments.journal, context)?;
            (plan, findings) = (found.plan, audit_trades(&found.trades));
            found.samples
        }
    };
    let mut samples = samples.into_iter();
    let Some(all) = samples.next() else { return Ok(Ending::Done) };
    show(&VerdictReport::new(plan, all, samples.collect()).with_findings(findings, notices), context.global)
}

struct JournalVerdict {
    samples: Vec<Sample>,
    plan: EdgeTestPlan,
    trades: Vec<NamedTrade>,
}

fn judge_journal(journal: &JournalArguments, context: &Context<'_>) -> Result<JournalVerdict, Failure> {
    let (loaded, url) = journal.load(context)?;
    let (contents, evidence) = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        Ok::<_, AppError>((contents, live_evidence(&loaded, &mut reader).await?))
    })?;
    let (session, run) = (&contents.session, contents.last_run());
    let simulated = (&run.simulation, &run.settings.bots[..]);
    let caveats = Caveats::for_live_run(run.trading, simulated, &contents.book, evidence);
    let verdict_of = |bot: &str| {
        let mut bots = session.bot_names().iter().zip(session.verdicts());
        bots.find(|(name, _)| *name == bot).map(|(_, verdict)| verdict)
    };
    let since = |bot: &str| verdict_of(bot).map(BotVerdict::first_intent);
    let own = || contents.intents().filter(|(row, origin)| Some(row.approved.intent()) >= since(&origin.bot));
    let trades_of = |bot: &str| -> Vec<JudgedTrade> {
        own().filter(|(_, origin)| origin.bot == bot).map(|(row, _)| JudgedTrade::from_row(row)).collect()
    };
    let plan =
        session.verdicts().next().map_or_else(EdgeTestPlan::default, |verdict| verdict.edge_test().plan());
    let bots = || session.bot_names().iter().zip(session.verdicts());
    let each = bots()
        .map(|(bot, verdict)| Sample::from_trades(Some(bot), &trades_of(bot), verdict.judge(), &caveats));
    let mut samples = each.collect::<Result<Vec<_>, _>>()?;
    let trades = own().map(|(row, origin)| to_named_trade(row, origin)).collect();
    if let [only] = &mut *samples {
        only.bot = None;
        return Ok(JournalVerdict { samples, plan, trades });
    }
    let every: Vec<JudgedTrade> = own().map(|(row, _)| JudgedTrade::from_row(row)).collect();
    let judge = build_judge(&every, EdgeTest::new(plan).with_weight(session.joint_verdict_weight()));
    samples.insert(0, Sample::from_trades(None, &every, &judge, &caveats)?);
    Ok(JournalVerdict { samples, plan, trades })
}

fn to_named_trade(row: &IntentRow, origin: &IntentOrigin) -> NamedTrade {
    let amount = |money| origin.scale.to_f64(money);
    let money = TradeMoney {
        stake: amount(row.approved.stake()),
        profit: amount(row.profit),
        decimals: origin.scale.decimals(),
    };
    NamedTrade { bot: origin.bot.clone(), trade: JudgedTrade::from_row(row), money: Some(money) }
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("opening").required(true).args(["after_virtual_losses", "virtual_win_rate"]),
    after_help = "Examples:\n  candlewick edge gate --trades trades.csv \
                  --after-virtual-losses 2\n  candlewick edge gate --trades trades.csv --after-virtual-losses 2 \
                  --close-after-losses 1\n  candlewick edge gate --trades trades.csv --virtual-win-rate 60 --over 20\n  candlewick edge \
                  gate --trades trades.csv --after-virtual-losses 2 --close-after-trades 1 --resets day --openings 1\n\n\
                  A gate lets a bot trade only after its virtual trades lost several times in a row, or while they win often enough. \
                  This command applies such a gate to the trades of a backtest that ran without it (`backtest --trades`) and compares the result with \
                  all trades, with random gates of the same size, and with the same gate on shuffled results. On independent trades, a gate is worth nothing."
)]
pub(crate) struct GateArguments {
    /// CSV file of trades
    #[arg(long, value_name = "FILE")]
    trades: PathBuf,
    /// Open the gate after this many consecutive virtual losses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    after_virtual_losses: Option<u32>,
    /// Open the gate while the win rate of recent trades (virtual and real) is at least this percentage
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent_fraction, requires = "over")]
    virtual_win_rate: Option<f64>,
    /// Number of recent trades that --virtual-win-rate covers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "virtual_win_rate")]
    over: Option<u32>,
    /// Close the gate after this many consecutive real losses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_losses: Option<u32>,
    /// Close the gate after this many real trades [default: 1 if --after-virtual-losses is set and no other option
    /// closes the gate]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    close_after_trades: Option<u32>,
    /// Close the gate after this many real wins
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_wins: Option<u32>,
    /// Close the gate and reset the counts at the start of each day
    #[arg(long, value_name = "WHEN", value_enum)]
    resets: Option<GateReset>,
    /// Maximum number of gate openings per day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "resets")]
    openings: Option<u32>,
    /// Time at which a day starts
    #[arg(long, value_name = "HH:MM", default_value = "00:00", requires = "resets")]
    day_start: String,
    /// Time zone in which a day starts, as an IANA name
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "resets")]
    day_timezone: String,
    /// Payout in percent, for CSV files without payouts [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_fraction)]
    payout: Option<f64>,
    /// Number of random gates, and of shuffled results, to compare with
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(99..=1_000_000))]
    draws: u32,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GateReset {
    Day,
}

pub(super) fn run_gate(arguments: &GateArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let assumed = load_config(context)?.config.simulation.payout_percent;
    let payout = arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
    let file = read_trades(&arguments.trades, Some(payout.unwrap_or(assumed)))?;
    let gate = GateSetup { rule: arguments.to_gate_rule(), day: arguments.to_day_start()? };
    show(&GateReport::new(&file, gate, arguments.draws, arguments.seed)?, context.global)
}

impl GateArguments {
    fn to_gate_rule(&self) -> GateRule {
        let opening = match (self.virtual_win_rate, self.over) {
            (Some(rate), Some(over)) => GateOpening::WinRate { rate, over },
            _ => GateOpening::AfterVirtualLosses(self.after_virtual_losses.unwrap_or_default()),
        };
        let close_after_losses = self.close_after_losses.unwrap_or_default();
        let close_after_wins = self.close_after_wins.unwrap_or_default();
        let closes_otherwise = close_after_losses + close_after_wins > 0 || self.resets.is_some();
        let needs_one = matches!(opening, GateOpening::AfterVirtualLosses(_)) && !closes_otherwise;
        let close_after_trades = self.close_after_trades.unwrap_or(u32::from(needs_one));
        GateRule {
            opening,
            resets_daily: self.resets.is_some(),
            max_daily_openings: self.openings.unwrap_or_default(),
            close_after_losses,
            close_after_trades,
            close_after_wins,
        }
    }

    fn to_day_start(&self) -> Result<Option<DayStart>, Failure> {
        let day = |GateReset::Day| DayStart::new(&self.day_start, &self.day_timezone, "--resets day");
        Ok(self.resets.map(day).transpose()?)
    }
}
