//! A start from what was durable, by way of snapshots that were kept at places of its seed's choice.

use crate::prelude::*;
use crate::process::{new_session, session_settings};
use candlewick_journal::Follower as _;
use candlewick_runtime::JournalFold;

pub(crate) struct Folded {
    pub(crate) session: Session,
    pub(crate) past: Past,
}

pub(crate) fn recover(world: &World) -> Result<Folded, RuntimeError> {
    let mut session = new_session(world);
    let settings = session_settings(world);
    let disk = world.disk();
    let count = disk.lines.len();
    let place = |which: u64| mix([world.plan.seed, count as u64, which]) as usize % (count + 1);
    let mut places = [place(1), place(2)];
    places.sort_unstable();
    let part = 1 + place(3) as u64 % 4;
    let mut fold = JournalFold::new(&settings, 1)?.with_parts_of(part);
    let (mut kept, mut from) = (Vec::new(), 0);
    for to in places {
        disk.lines[from..to].iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
        from = to;
        while let Some(body) = fold.next_piece(true) {
            let piece = piece_of(body, kept.len() as u64 + 1);
            fold.recorded(piece.head());
            kept.insert(0, piece);
        }
        if !kept.is_empty() {
            fold = JournalFold::of_snapshot(&settings, 1, &kept).unwrap().with_parts_of(part);
        }
    }
    disk.lines[from..].iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
    if fold.lacks_settlement() {
        fold = JournalFold::new(&settings, 1)?;
        disk.lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
    }
    let past = fold.hand_over(&mut session)?;
    Ok(Folded { session, past })
}

fn piece_of(body: String, seq: u64) -> StoredLine {
    let (at, received) = (Millis::ZERO, Millis::ZERO);
    let line = Line { run: 1, kind: LineKind::Note, intent: None, at, received, body };
    StoredLine { seq, hash: ChainHash::GENESIS.of_next(seq, &line), line }
}
