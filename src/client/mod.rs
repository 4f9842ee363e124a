//! One client for one server: requests, the driver that owns the connection, negotiation, rounds and time.

mod call;
mod error;
mod handle;
mod info;
mod notice;
mod options;

pub use call::{CallEnd, CallReport, PendingCall, PendingInput};
pub use error::ClientError;
pub use handle::{Client, ToolCall};
pub use info::ServerInfo;
pub use notice::{Notice, NoticeKind, NoticeSink};
pub use options::{ClientOptions, ProtocolChoice, Times};
