//! JSON-RPC frames and MCP revisions as data. Nothing here does I/O.

mod contents;
mod error;
mod frame;
mod id;
mod lenient;
mod param_headers;
mod result_outline;
mod revision;
mod string_pieces;
mod tool;
mod tool_result;
mod uri_template;

pub use contents::{ResourceBody, ResourceContents};
pub use error::{RpcError, code};
pub use frame::{Frame, FrameError, FrameKind};
pub use id::Id;
pub use lenient::parse_lenient;
pub use param_headers::{check_headers, header_text, header_value, param_headers};
pub use result_outline::ResultOutline;
pub use revision::{Era, ProtocolChoice, Revision};
pub(crate) use string_pieces::StringPieces;
pub use tool::Tool;
pub use tool_result::{CallToolResult, ContentBlock};
pub use uri_template::UriTemplate;
