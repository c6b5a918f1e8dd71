//! Check of the journal's lease, which keeps two processes from trading with one journal.

use super::bound::{LOOK, within};
use super::finding::{Check, Finding};
use super::price_api::span;
use candlewick_journal::{Holder, JournalError, JournalUrl, Lease, LeaseTerms, Reader};

pub(super) async fn check(url: &JournalUrl) -> Finding {
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
            Ok(Some(lease)) => {
                let judge_here = Holder::of_this_process("candlewick doctor");
                judge(&lease, LeaseTerms::default().is_over(&lease, &judge_here))
            }
            Err(_) => Check::Lease.warn("not known: the journal cannot be read", "mend that first"),
        }
    };
    within(LOOK, late, judged).await
}

fn judge(lease: &Lease, is_over: bool) -> Finding {
    let Lease { holder, silence, duration, .. } = lease;
    let text = format!("{holder} holds the journal; its last sign of life is {} old", span(*silence));
    if is_over {
        Check::Lease
            .warn(text, "it has died, or cannot be seen any more: the next run takes the journal over")
    } else if silence > duration {
        Check::Lease.warn(text, "it lives and does nothing: let it go on, or end it")
    } else {
        Check::Lease.ok(format!("{text}: a second run would be refused"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_sdk::Millis;

    #[test]
    fn a_dead_or_silent_holder_is_worth_a_word() {
        for (silence, is_over, mark, part) in [
            (
                3_000,
                false,
                Mark::Ok,
                "candlewick 1 (process 7 on h) holds the journal; its last sign of life is 3.0 s old",
            ),
            (30_000, false, Mark::Ok, "30.0 s old: a second run would be refused"),
            (30_001, false, Mark::Warn, "lives and does nothing"),
            (3_000, true, Mark::Warn, "takes the journal over"),
        ] {
            let program = "candlewick 1".into();
            let holder = Holder { program, pid: 7, started: None, host: "h".into(), machine: String::new() };
            let (since, heartbeat) = (Millis::ZERO, Millis::MINUTE);
            let (silence, duration) = (Millis::new(silence), Millis::from_seconds(30));
            let lease = Lease { holder, since, heartbeat, silence, duration };
            let finding = judge(&lease, is_over);
            assert!(finding.mark == mark && finding.to_string().contains(part), "{finding}");
        }
    }
}
