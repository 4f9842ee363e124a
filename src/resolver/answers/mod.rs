//! Answers from a file: the format, which entry answers which question, and what is sent. `docs/answers.md` describes
//! it.

mod error;
mod fill;
mod model;
mod overlay;
mod parse;
mod suggest;
mod url_pattern;
mod when;

mod answers_resolver;

pub use answers_resolver::{Answers, LinkSink};
pub use error::AnswersError;
pub use fill::{FillError, FillSource, fill};
pub use model::{Action, AnswersEntry, AnswersFile, Otherwise};
pub use overlay::{Overlay, TypedAnswer};
pub use suggest::suggest;
pub(in crate::resolver) use suggest::{link_condition, message_condition};
pub use url_pattern::UrlPattern;
pub use when::{Glob, When};

#[cfg(test)]
mod tests;
