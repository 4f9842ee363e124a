//! Servers that outlive a command, like ssh's `ControlPersist`: one keeper process for each kept server, the same
//! binary, which holds the client; a private socket, named by a keyed hash of the configuration; commands that attach
//! to it with their own resolver and printer.

mod attach;
mod attached;
mod attachment;
mod attend;
mod calls;
mod command_link;
mod folder;
mod frame;
mod guard;
mod hearing;
mod idle;
mod latest;
mod listed;
mod log;
mod memory;
mod message;
mod notices;
mod outbox;
mod party;
mod process;
mod setup;
mod start;
mod survey;
mod sweep;
#[cfg(unix)]
mod unix;

pub use attach::{Attaching, Keep};
pub use folder::{Folder, FolderRefused};
#[cfg(feature = "fuzzing")]
pub(crate) use frame::fuzzed_messages;
pub use guard::guard;
pub use message::Standing;
pub use process::{Unready, keep};
pub use setup::KeeperSetup;
pub use survey::{KeptEnding, KeptServer, end, log_of, survey};

use unix::{KeeperSignals, Listener, ReadHalf, Stream, file_of, is_heard, is_own_peer, leave_terminal, listen};
