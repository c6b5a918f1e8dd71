//! The state of a Session right before a decision: what its limits compared, and where its stake came from.

use super::indicators::INDICATORS_WITHIN;
use crate::contents::JournalContents;
use crate::error::RecordsError;
use crate::fold::SessionFold;
use crate::run::RecordedRun;
use candlewick_engine::{BotId, LadderEntry, ReloadNote, Rule, Session, StakeSettings};
use candlewick_journal::{LineKind, Reader};
use candlewick_sdk::{Millis, MoneyScale};

/// Lines read at once.
const PAGE: u32 = 5_000;

/// A decision of a bot.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionEntry {
    /// Number of the entry.
    pub(super) seq: u64,
    /// Position of the bot in its run.
    pub(super) bot: usize,
    /// Venue time of the decision.
    pub(super) at: Millis,
}

/// Shows the Session of a run as it stood before each of these decisions, which are in the order of their entries.
///
/// The whole journal before them is folded. Decisions far behind its begin are left out, unless `is_far`.
///
/// # Errors
/// The journal cannot be read.
pub(super) async fn visit_before(
    reader: &mut Reader,
    contents: &JournalContents,
    (run, decisions): (&RecordedRun, &[DecisionEntry]),
    is_far: bool,
    mut visit: impl FnMut(&Session, &DecisionEntry),
) -> Result<(), RecordsError> {
    let near = decisions.iter().filter(|decision| is_far || decision.seq <= INDICATORS_WITHIN);
    let mut left = near.peekable();
    if left.peek().is_none() || contents.compacted_since().is_some() {
        return Ok(());
    }
    let mut fold = SessionFold::new(run.silent_session()?);
    let mut walk = reader.walk(PAGE).await?;
    loop {
        let page = walk.next().await?;
        for stored in &page {
            while let Some(decision) = left.next_if(|decision| decision.seq <= stored.seq) {
                visit(&fold.session, decision);
            }
            if left.peek().is_none() {
                return Ok(());
            }
            if stored.line.kind == LineKind::Note && stored.line.run == run.number {
                let note = ReloadNote::of_text(&stored.line.body);
                if let Some(note) = note.map_err(|error| RecordsError::unreadable(stored, error))? {
                    let held = fold.session.hold_to(&note.risk);
                    held.map_err(|error| RecordsError::unreadable(stored, error))?;
                }
            }
            fold.take(stored)?;
        }
        if page.is_empty() {
            return Ok(());
        }
    }
}

/// A refusal: its entry, the name of the rule, and its words.
pub(super) type RefusalWords<'a> = (DecisionEntry, &'static str, &'a mut String);

/// Adds to the words of each refusal what its rule compared, where the journal tells.
///
/// # Errors
/// The journal cannot be read.
pub(super) async fn add_figures(
    mut refusals: Vec<RefusalWords<'_>>,
    reader: &mut Reader,
    of_run: (&JournalContents, &RecordedRun),
    is_far: bool,
) -> Result<(), RecordsError> {
    refusals.sort_by_key(|(decision, ..)| decision.seq);
    let decisions: Vec<DecisionEntry> = refusals.iter().map(|(decision, ..)| *decision).collect();
    let (contents, run) = of_run;
    visit_before(reader, contents, (run, &decisions), is_far, |session, decision| {
        for (_, name, words) in refusals.iter_mut().filter(|(other, ..)| other.seq == decision.seq) {
            if let Some(rule) = Rule::ALL.into_iter().find(|rule| rule.as_str() == *name) {
                let figures = figures_of(rule, session, decision);
                **words = rule.with_detail(std::mem::take(*words), &figures);
            }
        }
    })
    .await
}

/// Describes what a rule compared before a decision. Empty where the journal does not tell.
fn figures_of(rule: Rule, session: &Session, decision: &DecisionEntry) -> String {
    // Candles are not folded: how old the last one was is not known here.
    let Some(bot) = BotId::new(decision.bot).filter(|_| rule != Rule::StaleData) else {
        return String::new();
    };
    session.rule_figures(rule, bot, decision.at)
}

/// Describes where the stake of a decision came from: `level 3 of 3 of a ladder that begins with 10`.
pub(super) fn stake_reason(session: &Session, run: &RecordedRun, decision: &DecisionEntry) -> Option<String> {
    let (bot, settings) = (BotId::new(decision.bot)?, run.settings.bots.get(decision.bot)?);
    let (_, is_probe) = session.next_stake(bot, decision.at)?;
    if is_probe {
        return Some(format!("the smallest one, to find out what {} pays", settings.symbol));
    }
    let scale = session.money_scale();
    let free = scale.format(session.ledger().free());
    Some(match &settings.stake {
        StakeSettings::Fixed { .. } => "the fixed amount of the bot".to_owned(),
        StakeSettings::Share { percent } => format!("{percent} % of {free} free"),
        StakeSettings::Martingale { amount, factor, entry, .. } => {
            let ladder = session.ladders(decision.at).into_iter().find(|ladder| ladder.bot == bot)?;
            let (level, levels) = (ladder.level, ladder.levels);
            let again = if *entry == LadderEntry::NextCandle { ", again with the next candle" } else { "" };
            format!("level {level} of {levels} ({amount}, times {factor} after a loss{again})")
        }
        StakeSettings::Soros { amount, wins } => {
            let won = won_before(session, bot, (decision.at, *amount), scale)?;
            format!("{amount} and {won} of profit from wins before it (up to {wins})")
        }
        StakeSettings::Kelly { fraction, .. } => format!("{fraction} of Kelly on {free} free"),
    })
}

/// What a soros stake adds to its base.
fn won_before(
    session: &Session,
    bot: BotId,
    (at, base): (Millis, candlewick_sdk::rust_decimal::Decimal),
    scale: MoneyScale,
) -> Option<String> {
    let (stake, _) = session.next_stake(bot, at)?;
    Some(scale.format(stake - scale.exact(base).ok()?))
}
