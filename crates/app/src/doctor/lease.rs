//! Who holds the journal: two processes never trade one account with one journal.

use super::bound::{LOOK, within};
use super::finding::{Check, Finding};
use super::price_api::span;
use candlewick_journal::{JournalError, JournalUrl, Lease, Reader};
use candlewick_sdk::Millis;

/// The holder, if there is one, as of `now` in real time.
pub(super) async fn check(url: &JournalUrl, now: Millis) -> Finding {
    let late = Check::Lease.warn("not known: the journal does not answer", "mend that first");
    let read = async {
        match Reader::open(url).await {
            Ok(mut reader) => reader.holder().await,
            Err(JournalError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let judged = async {
        match read.await {
            Ok(None) => Check::Lease.ok("nobody holds the journal"),
            Ok(Some(lease)) => judge(&lease, now),
            Err(_) => Check::Lease.warn("not known: the journal cannot be read", "mend that first"),
        }
    };
    within(LOOK, late, judged).await
}

fn judge(lease: &Lease, now: Millis) -> Finding {
    let silence = now - lease.heartbeat;
    let text = format!("{} holds the journal; its last sign of life is {} old", lease.holder, span(silence));
    if silence > lease.duration {
        Check::Lease.warn(text, "it has probably died: the next run takes the journal over")
    } else {
        Check::Lease.ok(format!("{text}: a second run would be refused"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_journal::Holder;

    #[test]
    fn a_silent_holder_is_worth_a_word() {
        let holder =
            Holder { program: "candlewick 1".into(), pid: 7, host: "h".into(), machine: String::new() };
        let lease = Lease {
            holder,
            since: Millis::ZERO,
            heartbeat: Millis::MINUTE,
            duration: Millis::from_seconds(30),
        };
        for (now, mark, part) in [
            (
                63_000,
                Mark::Ok,
                "candlewick 1 (process 7 on h) holds the journal; its last sign of life is 3.0 s old",
            ),
            (90_000, Mark::Ok, "30.0 s old"),
            (90_001, Mark::Warn, "30.0 s old"),
        ] {
            let finding = judge(&lease, Millis::new(now));
            assert!(finding.mark == mark && finding.text.contains(part), "{finding}");
        }
    }
}
