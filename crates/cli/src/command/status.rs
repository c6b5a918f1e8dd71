//! `status`: how a journal and its bot stand.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json, table};
use candlewick_app::configuration::{Loaded, control_paths};
use candlewick_app::control::{describe, give_order};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_engine::{IntentState, Session};
use candlewick_journal::{Holder, Lease, LeaseTerms, Reader};
use candlewick_records::utc;
use candlewick_records::{JournalContents, RecordsError};
use candlewick_report::edge::VerdictLine;
use candlewick_runtime::ClockEstimate;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, Phase, RunState};
use candlewick_sdk::Millis;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whose.
#[derive(Debug, Args)]
#[command(
    after_help = "The journal tells the money and the intents; a bot that runs is asked for its state besides.\n\n\
                  Examples:\n  candlewick status\n  candlewick status --journal run.db --json"
)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

/// How it stands.
#[derive(Debug, Serialize)]
struct Status {
    journal: String,
    holder: Option<HolderLine>,
    /// What the running bot says; null when none answers.
    bot: Option<RunState>,
    runs: usize,
    /// Free balance.
    balance: f64,
    /// Free balance and open stakes.
    equity: f64,
    open_stakes: f64,
    /// What the wallet held when it was last read.
    wallet: Option<f64>,
    /// Settled since the day of the last event began.
    profit_today: f64,
    loss_streak: u32,
    /// Numbers of intents.
    open: Vec<u64>,
    in_flight: Vec<u64>,
    in_doubt: Vec<u64>,
    settled: usize,
    /// Whether a person halted opens, and nobody has resumed since.
    halted: bool,
    /// The verdict on each bot of the last run.
    verdicts: Vec<VerdictLine>,
    /// What audits found, by their names.
    audit_findings: BTreeMap<String, u64>,
    /// Venue time of the last entry's arrival.
    last_event: Millis,
    entries: u64,
    /// How many decimals the wallet keeps.
    #[serde(skip)]
    decimals: usize,
}

/// Who holds the journal.
#[derive(Debug, Serialize)]
struct HolderLine {
    program: String,
    pid: u32,
    host: String,
    /// Whether its process and its heartbeat say that it lives.
    alive: bool,
    since: Millis,
    heartbeat: Millis,
}

pub(super) fn run(arguments: &StatusArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load(context)?;
    let (contents, lease) = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let lease = reader.holder().await?;
        Ok::<_, RecordsError>((JournalContents::read(&mut reader).await?, lease))
    })?;
    let status = Status::of(&contents, url.to_string(), lease.map(HolderLine::of), ask_bot(&loaded)?);
    if context.global.json {
        print_json(&status)?;
    } else {
        print(&status.to_table())?;
    }
    Ok(Ending::Done)
}

/// The state of the bot that runs, if one answers.
fn ask_bot(loaded: &Loaded) -> Result<Option<RunState>, Failure> {
    let paths = control_paths(loaded)?;
    match give_order(&paths.socket, &ControlOrder::Status)? {
        Ok(ControlAnswer::Done { state }) => Ok(Some(state)),
        Ok(ControlAnswer::Refused { problem } | ControlAnswer::Unanswered { problem }) => {
            tracing::warn!("the bot does not say how it stands: {problem}");
            Ok(None)
        }
        Err(error) => {
            tracing::debug!("no bot answers: {error}");
            Ok(None)
        }
    }
}

impl HolderLine {
    fn of(lease: Lease) -> Self {
        let judge = Holder::of_this_process("candlewick");
        let alive = !LeaseTerms::default().is_over(&lease, &judge, SystemClock::new().now());
        let Lease { holder, since, heartbeat, .. } = lease;
        Self { program: holder.program, pid: holder.pid, host: holder.host, alive, since, heartbeat }
    }
}

impl Status {
    fn of(
        contents: &JournalContents,
        journal: String,
        holder: Option<HolderLine>,
        bot: Option<RunState>,
    ) -> Self {
        let ledger = contents.session.ledger();
        let scale = contents.session.money_scale();
        let in_state = |state| {
            let rows = contents.book.rows().iter().filter(move |row| row.state == state);
            rows.map(|row| row.approved.intent().number()).collect::<Vec<_>>()
        };
        Self {
            journal,
            holder,
            bot,
            runs: contents.runs.len(),
            balance: scale.to_f64(ledger.free()),
            equity: scale.to_f64(ledger.equity()),
            open_stakes: scale.to_f64(ledger.open_stakes()),
            wallet: ledger.wallet().map(|wallet| scale.to_f64(wallet)),
            profit_today: scale.to_f64(ledger.day_profit()),
            loss_streak: ledger.loss_streak(),
            open: in_state(IntentState::Open),
            in_flight: in_state(IntentState::InFlight),
            in_doubt: in_state(IntentState::InDoubt),
            settled: in_state(IntentState::Settled).len(),
            halted: contents.is_halted,
            verdicts: verdicts_of(&contents.session),
            audit_findings: contents.audit_findings(None),
            last_event: contents.last.line.received,
            entries: contents.last.seq,
            decimals: scale.decimals() as usize,
        }
    }

    /// Whether trades are opened: by the bot's own word where it answers, else as the journal ends.
    fn opens(&self) -> &'static str {
        match (self.bot.as_ref().map(|bot| bot.phase), self.halted) {
            (Some(Phase::Halted), _) | (None, true) => "halted, until somebody resumes",
            (Some(Phase::Stopping), _) => "none any more: the bot is stopping",
            (Some(Phase::Trading), _) | (None, false) => "allowed",
        }
    }

    fn money(&self, amount: f64) -> String {
        format!("{amount:.*}", self.decimals)
    }

    fn to_table(&self) -> String {
        let intents = |intents: &[u64]| {
            let numbers: Vec<String> = intents.iter().map(ToString::to_string).collect();
            if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
        };
        let holder = self.holder.as_ref().map_or("nobody".to_owned(), |holder| {
            let HolderLine { program, pid, host, alive, heartbeat, .. } = holder;
            let life = if *alive { "alive" } else { "no longer alive" };
            format!("{program} (process {pid} on {host}), {life}, last sign of life {}", utc(*heartbeat))
        });
        let bot = self.bot.as_ref().map_or("none answers".to_owned(), describe);
        let mut figures = table(["status", ""]);
        for (name, value) in [
            ("journal", format!("{}, {} entries", self.journal, self.entries)),
            ("held by", holder),
            ("bot", bot),
            ("clock", self.bot.as_ref().and_then(|bot| bot.clock).map_or("-".to_owned(), clock)),
            ("runs", self.runs.to_string()),
            ("balance", format!("{} free, {} equity", self.money(self.balance), self.money(self.equity))),
            ("wallet, when last read", self.wallet.map_or("-".to_owned(), |wallet| self.money(wallet))),
            ("profit today", format!("{:+.*}", self.decimals, self.profit_today)),
            ("open trades", intents(&self.open)),
            ("in flight", intents(&self.in_flight)),
            ("in doubt", intents(&self.in_doubt)),
            ("settled trades", self.settled.to_string()),
            ("opens", self.opens().to_owned()),
            ("verdicts", verdicts(&self.verdicts)),
            ("audits found", findings(&self.audit_findings)),
            ("last event", utc(self.last_event)),
        ] {
            figures.add_row([name.to_owned(), value]);
        }
        figures.trim_fmt()
    }
}

fn verdicts_of(session: &Session) -> Vec<VerdictLine> {
    let bots = session.bots().iter().zip(session.verdicts());
    bots.map(|(bot, verdict)| VerdictLine::of(bot, verdict)).collect()
}

fn verdicts(lines: &[VerdictLine]) -> String {
    lines.iter().map(VerdictLine::words).collect::<Vec<_>>().join("\n")
}

fn findings(found: &BTreeMap<String, u64>) -> String {
    let told: Vec<String> = found.iter().map(|(audit, count)| format!("{audit} {count}")).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
}

/// How far the venue's clock is ahead of this machine's.
fn clock(estimate: ClockEstimate) -> String {
    let ClockEstimate { low, high, agreeing, outvoted } = estimate;
    let most = high.map_or("any".to_owned(), |high| high.to_string());
    format!("the venue's is {low} to {most} ms ahead, by {agreeing} answers; {outvoted} outvoted")
}
