//! The lines of a long journal from its first on, read beside a model that stands on its last snapshot.

use super::Shared;
use super::follow::{PAGE, follows};
use crate::model::{Model, Recent, Took};
use candlewick_journal::Reader;
use candlewick_records::RecordsError;
use std::time::Duration;
use tokio::time::Instant;

/// What is read still, and what is shown meanwhile.
pub(super) struct OldLines {
    /// The fold that the shown model stands on.
    pub(super) recent: Recent,
    /// What the lines from the first on have made so far.
    pub(super) model: Model,
}

impl OldLines {
    /// Reads for so long at most; whether more is to be read. What all lines have made takes the place of the model that was shown.
    ///
    /// # Errors
    /// The journal cannot be read, or holds what is no entry.
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

    /// Nothing has come since the shown model took its last line: only the task that calls this hands it any.
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
