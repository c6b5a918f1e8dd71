//! One schedule: consecutive processes until everything is quiet, then the reckoning.

use crate::delays::end_of_run;
use crate::direct;
use crate::ledger;
use crate::money_checks::{self, WalletCheck};
use crate::prelude::*;
use crate::process::{MAX_OFF_MS, MAX_WAIT, RecoveredRun, live, recover};
use crate::watcher::result_of;
use crate::world::{Counts, Layer};

#[derive(Clone, Debug, Default)]
pub(crate) struct PlayedSchedule {
    pub(crate) seed: u64,
    pub(crate) broken: Vec<String>,
    pub(crate) hash: String,
    pub(crate) log: Vec<String>,
    pub(crate) counts: Counts,
}

const BYTES_ONE_IN: u64 = 25;

fn layer_of(seed: u64) -> Layer {
    match std::env::var("CANDLEWICK_FAULT_LAYER").as_deref() {
        Ok("bytes") => Layer::Bytes,
        Ok("coordinator") => Layer::Coordinator,
        Ok(other) => panic!("CANDLEWICK_FAULT_LAYER={other} is neither bytes nor coordinator"),
        Err(_) if seed.is_multiple_of(BYTES_ONE_IN) => Layer::Bytes,
        Err(_) => Layer::Coordinator,
    }
}

pub(crate) fn play(seed: u64, is_logging: bool) -> PlayedSchedule {
    play_plan(Plan::draw(seed), is_logging)
}

pub(crate) fn play_plan(planned: (Plan, Dice), is_logging: bool) -> PlayedSchedule {
    let layer = layer_of(planned.0.seed);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    let world = runtime.block_on(async {
        let world = World::new(planned, layer, is_logging);
        let Plan { habits, settings, risk, lies, .. } = &world.plan;
        world.log(|| format!("{habits:?}\n{settings:?}\n{risk:?}\n{lies:?}"));
        let mut before_quiet = world.dice().between(0, 4);
        loop {
            let (end, offset, pause) = draw(&world, before_quiet > 0);
            before_quiet -= 1;
            world.count("runs", 1);
            world.note_offset(offset);
            world.log(|| format!("a run begins, {offset} ms off, to end by {end:?}"));
            let ended = match layer {
                Layer::Coordinator => direct::live(&world, end, offset),
                Layer::Bytes => live(&world, end, offset).await,
            };
            if let NextStep::Over(folded) = next_step(&world, end, &ended) {
                finish(&world, folded);
                return world;
            }
            let next = world.time.now() + pause;
            match layer {
                Layer::Coordinator => world.time.move_to(next),
                Layer::Bytes => world.time.sleep_until(next).await,
            }
        }
    });
    let hash = world.disk().lines.last().map(|last| last.hash.to_string()).unwrap_or_default();
    let log = world.notes.log.lock().unwrap().clone();
    let counts = world.notes.counts.lock().unwrap().clone();
    PlayedSchedule { seed: world.plan.seed, broken: world.broken(), hash, log, counts }
}

enum NextStep {
    On,
    Over(Option<Box<RecoveredRun>>),
}

fn finish(world: &World, folded: Option<Box<RecoveredRun>>) {
    for trade in &world.truth().trades {
        world.log(|| format!("{} of intent {:?} had the lie {:?}", trade.id, trade.intent, trade.lie));
    }
    reckon(world, folded);
    let count = world.truth().trades.len();
    let lies = world.truth().trades.iter().filter(|trade| trade.lie.is_some()).count();
    for (what, count) in [
        ("schedules", 1),
        ("intents forgotten", 0),
        ("intents", world.disk().intents.len() as u64),
        ("trades", count as u64),
        ("trades lied about", lies as u64),
        ("halts", world.halts()),
        ("ms of venue time", world.time.elapsed().get() as u64),
        ("excused", u64::from(world.is_excused())),
        ("clocks far off", u64::from(world.is_far_off())),
    ] {
        world.count(what, count);
    }
}

fn next_step(world: &World, end: End, ended: &RunEnd) -> NextStep {
    world.log(|| format!("it has {ended:?}"));
    let (held, runs) = (world.end_run(), world.count("runs", 0));
    match ended {
        RunEnd::Crashed => {
            world.count("crashes", 1);
            world.count("intents held at a crash", held);
        }
        RunEnd::Finished if end == End::Quiet => match recover(world) {
            Ok(folded) if folded.knows_all(world) || runs > 100 || folded.is_left_open(world) => {
                return NextStep::Over(Some(Box::new(folded)));
            }
            Err(_) => return NextStep::Over(None),
            Ok(_) => {}
        },
        RunEnd::Finished => {}
        // The venue does not answer at the start: try again.
        RunEnd::Failed(
            RuntimeError::Venue { .. }
            | RuntimeError::UnknownSeries { .. }
            | RuntimeError::UnsupportedInterval { .. },
        ) if runs < 100 => {}
        RunEnd::Failed(error) => {
            world.require(false, || format!("a run failed: {error}"));
            return NextStep::Over(None);
        }
        RunEnd::Never => {
            world.require(false, || "the run does not become quiet".to_owned());
            return NextStep::Over(None);
        }
    }
    if world.broken().is_empty() && !world.is_excused() { NextStep::On } else { NextStep::Over(None) }
}

impl RecoveredRun {
    fn is_left_open(&self, world: &World) -> bool {
        let truth = world.truth();
        let is_open = |row: &&IntentRow| {
            let lie = truth.trade_of(row.approved.intent().number()).and_then(|trade| trade.lie);
            is_unfinished(row) && !lie.is_some_and(Lie::may_stay_open)
        };
        let rows = self.past.book().rows();
        let has_waited = world.time.elapsed() > world.plan.trading + MAX_WAIT;
        world.plan.lies.is_halting && has_waited && truth.is_quiet() && !rows.iter().any(|row| is_open(&row))
    }

    fn knows_all(&self, world: &World) -> bool {
        let rows = self.past.book().rows();
        let settled = rows.iter().filter(|row| row.state == IntentState::Settled);
        let settled = settled.map(|row| row.approved.intent().number()).collect();
        let reported = self.past.unexplained_trades().iter().cloned().collect();
        let open: BTreeSet<u64> =
            rows.iter().filter(|row| is_unfinished(row)).map(|row| row.approved.intent().number()).collect();
        let is_over = !rows.iter().any(is_unfinished) && !self.session.ledger().open_stakes().is_positive();
        let accounts = Accounts { settled: &settled, open: &open, reported: &reported };
        let truth = world.truth();
        let is_right = || !money_checks::has_misbooked(world, &truth, rows.iter().filter_map(result_of));
        let agrees = || WalletCheck::new(self.session.ledger()).agrees(world, &truth);
        is_over && truth.unaccounted(world, &accounts).is_empty() && is_right() && agrees()
    }
}

fn draw(world: &World, may_end: bool) -> (End, Millis, Millis) {
    let mut dice = world.dice();
    let offset = match dice.between(1, 100) {
        1..=60 => 0,
        61..=90 => dice.between(-MAX_OFF_MS, MAX_OFF_MS),
        _ if !world.plan.habits.has_wild_clocks => 0,
        91..=96 => dice.between(-6_000, 6_000),
        _ => dice.between(-600_000, 600_000),
    };
    let pause = if dice.one_in(8) { dice.between(0, 300_000) } else { dice.skewed(0, 20_000) };
    let trading = world.plan.trading;
    let end = match dice.between(0, 9) {
        _ if !may_end => End::Quiet,
        0..=3 => End::Crash(Crash::AtWrite(dice.skewed(1, 600) as u64)),
        4..=6 => End::Crash(Crash::AtStep(dice.skewed(1, 4_000) as u64)),
        7 => End::Killed(Millis::new(dice.between(1, trading.get()))),
        8 => End::Stopped(Millis::new(dice.between(1, trading.get())), StopReason::TimeUp),
        _ => End::Stopped(Millis::new(dice.between(1, trading.get())), StopReason::Interrupted),
    };
    (end_of_run(world, end), Millis::new(offset), Millis::new(pause))
}

fn reckon(world: &World, folded: Option<Box<RecoveredRun>>) {
    if !world.broken().is_empty() || world.is_excused() {
        return;
    }
    let RecoveredRun { session, past } = match folded.map_or_else(|| recover(world), |folded| Ok(*folded)) {
        Ok(folded) => folded,
        Err(error) => return world.require(false, || format!("cannot fold the journal: {error}")),
    };
    let (truth, since) = (world.truth(), world.journal_began());
    let mut claims: BTreeMap<VenueId, Vec<&IntentRow>> = BTreeMap::new();
    for row in past.book().rows() {
        let lie = truth.trade_of(row.approved.intent().number()).and_then(|trade| trade.lie);
        let is_over = !is_unfinished(row) || lie.is_some_and(Lie::may_stay_open);
        world.require(is_over, || format!("{row:?} is not over"));
        if let Some(id) = past.book().venue_id(row) {
            claims.entry(id).or_default().push(row);
        }
    }
    // Under a clock far off a trade may not be recognized: then it must have been reported.
    for trade in &truth.trades {
        let claimed = VenueId::new(&trade.id).and_then(|id| claims.remove(&id)).unwrap_or_default();
        let may_stay_open = trade.lie.is_some_and(Lie::may_stay_open);
        let may_be_unexplained = trade.lie.is_some_and(Lie::may_be_unexplained);
        let is_reported = past.unexplained_trades().contains(&trade.id);
        let is_answered_with = |row: &IntentRow| {
            let ours = truth.trade_of(row.approved.intent().number());
            ours.is_some_and(|trade| trade.lie == Some(Lie::AnswersStrangersId))
        };
        let is_accounted_for = match (trade.intent, claimed.as_slice()) {
            (Some(intent), [row]) => {
                row.approved.intent().number() == intent
                    && (row.state == IntentState::Settled || may_stay_open)
            }
            (None, []) => true,
            (None, [row]) => is_answered_with(row) || trade.is_taken_for_ours,
            (Some(_), []) if may_be_unexplained => {
                let is_named = is_reported || world.has_said(|text| text.contains(&trade.id));
                let has_halted = trade.lie == Some(Lie::AnswersStrangersId) && world.halts() > 0;
                is_named || has_halted || trade.request_time < since || world.is_far_off()
            }
            (Some(_), []) => {
                let has_passed = || truth.trades.iter().any(|other| other.passes_for(trade));
                let is_late = world.plan.lists_late() && has_passed();
                (world.is_far_off() && (is_reported || trade.request_time < since)) || is_late
            }
            _ => false,
        };
        world.require(is_accounted_for, || format!("{trade:?} is claimed by {claimed:?}"));
    }
    let is_made_up = |row: &&IntentRow| {
        let ours = truth.trade_of(row.approved.intent().number());
        ours.is_some_and(|trade| trade.lie == Some(Lie::AnswersUnknownId))
    };
    claims.retain(|_, rows| !rows.iter().all(is_made_up));
    world.require(claims.is_empty(), || format!("trades that do not exist are claimed: {claims:?}"));
    ledger::reckon(world, &session, (past.book(), &truth));
    money_checks::reckon(world, session.ledger(), (past.book(), &truth));
    for trade in truth.trades.iter().filter(|trade| trade.is_alarming(since)) {
        let is_it = |row: &IntentRow| past.book().venue_id(row).is_some_and(|id| id.as_str() == trade.id);
        let is_known = past.unexplained_trades().contains(&trade.id) || past.book().rows().iter().any(is_it);
        world.require(is_known, || format!("foreign trade {} was not reported", trade.id));
    }
}
