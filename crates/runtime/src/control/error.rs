//! Why orders cannot be given or taken.

use std::io;
use std::path::PathBuf;

/// Why orders cannot be given or taken.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens: start a bot, or name another's configuration.
    #[error("no bot listens at {}", path.display())]
    NoBotListens {
        /// The socket.
        path: PathBuf,
    },
    /// The socket belongs to another user: only the user who runs the bot can give it orders.
    #[error("{} belongs to somebody else: only the user who runs the bot can give it orders", path.display())]
    OtherOwner {
        /// The socket.
        path: PathBuf,
    },
    /// Another bot listens there: stop it, or give this one a socket of its own.
    #[error("another bot listens at {}: stop it, or set control.socket", path.display())]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// What lies there is no socket: move it away.
    #[error("{} is in the way: it is no socket; move it away, or set control.socket", path.display())]
    NotASocket {
        /// What lies there.
        path: PathBuf,
    },
    /// The path is longer than a socket's may be: choose a shorter one.
    #[error("{} is too long for a socket, which may have {most} bytes: set control.socket", path.display())]
    PathTooLong {
        /// The socket.
        path: PathBuf,
        /// The longest path.
        most: usize,
    },
    /// The socket cannot be made: make the folder writable, or name another.
    #[error("the socket {} cannot be made", path.display())]
    SocketNotMade {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The bot was reached and did not answer, so the order may have been taken: ask it how it stands.
    #[error("the bot at {} was reached, but did not answer: {problem}", path.display())]
    NoAnswer {
        /// The socket.
        path: PathBuf,
        /// What happened.
        problem: String,
    },
    /// The message is longer than messages may be: shorten the reason.
    #[error("the order has {bytes} bytes, and at most {most} are taken: shorten the reason")]
    ReasonTooLong {
        /// The order's length.
        bytes: usize,
        /// The longest message.
        most: usize,
    },
    /// This system has no sockets in the file system: use the file `HALT`.
    #[error("this system has no sockets in the file system: a run can only be halted by its HALT file")]
    NoSocketsHere,
}
