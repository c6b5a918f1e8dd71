//! A journal held against its own chain, from its first line to its last.

use crate::chain::ChainHash;
use crate::reader::broken;
use crate::seal::Seals;
use crate::{JournalError, LoggedExchange, Reader, StoredLine};

/// How many lines a page holds while a chain is verified.
const PAGE: u32 = 1_000;

/// A chain that holds from its first line to its last, and the exchanges that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many lines.
    pub entries: u64,
    /// The hash of the last.
    pub head_hash: ChainHash,
    /// How many raw exchanges the chain covers.
    pub exchanges: u64,
    /// How many it does not: an earlier program wrote them.
    pub exchanges_outside: u64,
}

impl Reader {
    /// Computes the chain again, from the first line to the last that the lease remembers, and holds each raw exchange
    /// against its seal.
    ///
    /// # Errors
    /// [`JournalError::BrokenChain`] at the first line that is missing or not as it was written.
    pub async fn verify(&mut self) -> Result<Verified, JournalError> {
        self.verify_each(|_| {}).await
    }

    /// The same, and shows each line that is as it was written on the way, in one walk.
    ///
    /// # Errors
    /// As [`Reader::verify`]; lines were shown before.
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

    /// Holds the exchanges from this number on against their seals; how many have none.
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
