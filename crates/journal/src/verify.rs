//! Verification of a journal's hash chain from the first to the last line.

use crate::chain::ChainHash;
use crate::reader::broken;
use crate::seal::Seals;
use crate::{JournalError, LoggedExchange, Reader, StoredLine};

const PAGE: u32 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    pub entries: u64,
    pub head_hash: ChainHash,
    pub exchanges: u64,
    /// Number of raw exchanges outside of the chain, written by an older program.
    pub exchanges_outside: u64,
}

impl Reader {
    /// Recomputes the chain from the first line to the last one recorded in the lease.
    ///
    /// Each raw exchange is checked against its seal.
    pub async fn verify(&mut self) -> Result<Verified, JournalError> {
        self.verify_each(|_| {}).await
    }

    /// Verifies and passes each line to `show`, in one walk, also before an error.
    pub async fn verify_each(&mut self, mut show: impl FnMut(&StoredLine)) -> Result<Verified, JournalError> {
        self.seals = Seals::default();
        let mut walk = self.walk(PAGE).await?;
        loop {
            let page = walk.next().await?;
            if page.is_empty() {
                break;
            }
            page.iter().for_each(&mut show);
        }
        let (head, mut next, mut outside) = (walk.head(), 1, 0);
        loop {
            let page = walk.reader().exchanges_from(next).await?;
            let Some((last, _)) = page.last() else { break };
            let (from, last) = (next, *last);
            // What a holder has written since is sealed by what it has written since.
            while walk.reader().seals.next(0).is_some() && !walk.reader().seals.holds(last) {
                if walk.next().await?.is_empty() {
                    break;
                }
            }
            outside += walk.reader().check_exchanges(from, &page)?;
            next = last + 1;
        }
        if let Some((id, seq)) = self.seals.next(next) {
            return Err(broken(self.url(), seq, &format!("raw exchange {id}, which it seals, is missing")));
        }
        let (exchanges, exchanges_outside) = (self.seals.count(), outside);
        Ok(Verified { entries: head.seq, head_hash: head.hash, exchanges, exchanges_outside })
    }

    fn check_exchanges(&self, from: u64, page: &[(u64, LoggedExchange)]) -> Result<u64, JournalError> {
        let (mut next, mut outside) = (from, 0);
        for (id, exchange) in page {
            if let Some((missing, seq)) = self.seals.next(next).filter(|(sealed, _)| sealed < id) {
                let reason = format!("raw exchange {missing}, which it seals, is missing");
                return Err(broken(self.url(), seq, &reason));
            }
            self.seals.check(*id, exchange).map_err(|unsound| self.unsound(&unsound))?;
            outside += u64::from(!self.seals.holds(*id));
            next = id + 1;
        }
        Ok(outside)
    }
}
