//! Why orders cannot be given or taken.

use std::io;
use std::path::PathBuf;

/// What to do about orders that cannot be given or taken.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Start a bot, or name another's configuration: nobody listens.
    #[error("no bot listens at {}", path.display())]
    StartBot {
        /// The socket.
        path: PathBuf,
    },
    /// Speak as the user who runs the bot.
    #[error("{} belongs to somebody else: only the user who runs the bot can give it orders", path.display())]
    BecomeOwner {
        /// The socket.
        path: PathBuf,
    },
    /// Stop the other bot, or give this one a socket of its own.
    #[error("another bot listens at {}: stop it, or set control.socket", path.display())]
    StopOther {
        /// The socket.
        path: PathBuf,
    },
    /// Move what lies there away: it is no socket.
    #[error("{} is in the way: it is no socket; move it away, or set control.socket", path.display())]
    MoveAway {
        /// What lies there.
        path: PathBuf,
    },
    /// Choose a shorter path: the system's sockets have short names.
    #[error("{} is too long for a socket, which may have {most} bytes: set control.socket", path.display())]
    ShortenPath {
        /// The socket.
        path: PathBuf,
        /// The longest path.
        most: usize,
    },
    /// Make the folder writable, or name another.
    #[error("the socket {} cannot be made", path.display())]
    MakeWritable {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Ask the bot how it stands: the order may have been taken.
    #[error("the bot at {} was reached, but did not answer: {problem}", path.display())]
    AskStatus {
        /// The socket.
        path: PathBuf,
        /// What happened.
        problem: String,
    },
    /// Shorten the reason: a message has a bound.
    #[error("the order has {bytes} bytes, and at most {most} are taken: shorten the reason")]
    ShortenReason {
        /// The order's length.
        bytes: usize,
        /// The longest message.
        most: usize,
    },
    /// Use the file `HALT`: this system has no such sockets.
    #[error("this system has no sockets in the file system: a run can only be halted by its HALT file")]
    UseHaltFile,
}
