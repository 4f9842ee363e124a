//! One client for one server: requests, the driver that owns the connection, negotiation, rounds and time limits.

mod again;
mod call;
mod caller;
mod capabilities;
mod client_handle;
mod clock;
mod conversation;
mod direct_client;
mod driver;
mod error;
mod exchange;
mod floor;
mod info;
mod known_tools;
mod listing;
mod negotiate;
mod notice;
mod options;
mod roots;
mod scope;
mod sign_in;
mod tool_request;
mod wire;

pub use call::{BeforeSending, CallEnd, CallReport, PendingCall, PendingInput, TaskSink};
pub use caller::Caller;
pub use client_handle::{Attach, Attached, Client, ToolCall};
pub use error::{ClientError, CredentialsFate, Unauthorized};
pub use info::ServerInfo;
#[cfg(feature = "cli")]
pub(crate) use listing::left_out;
pub use notice::{Notice, NoticeKind, NoticeSink};
pub use options::{ClientOptions, Times};
pub use sign_in::SignInOptions;
pub use tool_request::{ProgressSink, ToolError, ToolProgress, ToolRequest};

#[cfg(test)]
mod tests;
