//! The end of a process at any await or journal write.

use crate::prelude::*;
use candlewick_runtime::Notices;
use std::pin::Pin;
use std::task::{Context, Poll};

const MAX_POLLS: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    Never,
    AtWrite(u64),
    AtStep(u64),
}

#[derive(Debug)]
pub(crate) struct Fuse {
    crash: Crash,
    writes: AtomicU64,
    polls: AtomicU64,
    pub(crate) is_burnt: AtomicBool,
}

impl Fuse {
    pub(crate) fn new(crash: Crash) -> Arc<Self> {
        let (writes, polls) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { crash, writes, polls, is_burnt: AtomicBool::new(false) })
    }

    pub(crate) fn burn_by_writing(&self) -> bool {
        let writes = self.writes.fetch_add(1, Relaxed) + 1;
        if self.crash == Crash::AtWrite(writes) {
            self.is_burnt.store(true, Relaxed);
        }
        self.is_burnt.load(Relaxed)
    }

    pub(crate) fn is_spinning(&self) -> bool {
        self.polls.load(Relaxed) > MAX_POLLS
    }

    pub(crate) fn burn(&self) -> bool {
        let polls = self.polls.fetch_add(1, Relaxed) + 1;
        if self.crash == Crash::AtStep(polls) || polls > MAX_POLLS {
            self.is_burnt.store(true, Relaxed);
        }
        self.is_burnt.load(Relaxed)
    }
}

pub(crate) struct Mortal<T> {
    pub(crate) life: Pin<Box<dyn Future<Output = T>>>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) watched: (Watcher, Notices),
}

impl<T> Future for Mortal<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.fuse.burn() {
            return Poll::Ready(None);
        }
        let lived = self.life.as_mut().poll(context);
        let (watcher, notices) = &mut self.watched;
        while let Some(received) = notices.try_next() {
            watcher.take(received.notice);
        }
        if self.fuse.is_burnt.load(Relaxed) { Poll::Ready(None) } else { lived.map(Some) }
    }
}
