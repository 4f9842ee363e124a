//! Printing: results, notices, errors. Data goes to stdout, everything else to stderr.

mod contents;
mod example;
mod fold;
mod json;
mod log_level;
mod long_block;
mod mode;
mod notice;
mod offer;
mod part;
mod picture;
mod printer;
mod progress;
mod progress_line;
mod report;
mod result;
mod save;
mod shape;
mod signature;
mod tool;

pub use json::{one_line, pretty, safe_json};
pub use log_level::LogLevel;
pub use mode::{OutputMode, Verbosity};
pub use offer::{offer_line, prompt_line, prompt_list, resource_list};
pub use part::part;
pub use picture::Pictures;
pub use printer::{Printer, is_blocked};
pub use progress::Waiting;
pub use progress_line::Doing;
pub(crate) use report::UNANSWERED;
pub use report::{Detail, Report};
pub use result::ResultLook;
pub use save::{Saved, save_blocks};
pub(crate) use tool::shell_word;
pub use tool::{PageOptions, table, tool_list, tool_page};
