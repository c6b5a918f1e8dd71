//! Reads a long journal from its first line while a snapshot-based model is shown.

use super::Shared;
use super::follow::{PAGE, follows};
use crate::model::{Model, Recent, Took};
use candlewick_journal::Reader;
use candlewick_records::RecordsError;
use std::time::Duration;
use tokio::time::Instant;

pub(super) struct OldLines {
    pub(super) recent: Recent,
    pub(super) model: Model,
}

impl OldLines {
    /// Reads for up to `time` and returns whether more is left. At the end the complete model
    /// replaces the shown one.
    pub(super) async fn read(
        &mut self,
        shared: &Shared,
        reader: &mut Reader,
        time: Duration,
    ) -> Result<bool, RecordsError> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            let shown = shared.known().model.as_ref().filter(|model| model.is_recent()).map(Model::seq);
            let Some(shown) = shown else { return Ok(false) };
            let page = reader.lines(self.model.seq() + 1, PAGE).await?;
            if !follows(self.model.last.as_ref(), page.first()) {
                shared.known().model = None;
                return Ok(false);
            }
            for line in page.into_iter().filter(|line| line.seq <= shown) {
                if self.model.take(line)? == Took::OtherRun {
                    shared.known().model = None;
                    return Ok(false);
                }
            }
            let is_whole = self.model.seq() == shown;
            shared.known().reading = (!is_whole).then(|| (self.model.seq(), shown));
            if is_whole {
                self.take_over(shared);
                return Ok(false);
            }
            tokio::task::yield_now().await;
        }
        shared.changed();
        Ok(true)
    }

    /// Replaces the shown model. It cannot have changed meanwhile: only the calling task updates
    /// it.
    fn take_over(&mut self, shared: &Shared) {
        {
            let mut known = shared.known();
            let Some(shown) = known.model.as_mut() else { return };
            std::mem::swap(shown, &mut self.model);
            shown.take_place_of(&mut self.model);
        }
        shared.changed();
    }
}
