//! Questions as pages on this machine, for a person who has no terminal.
//!
//! A `desk` has the questions: one at a time, links that were opened and are waited for, and how each of them ended.
//! `site` serves it, with a sheet (`sheet`) for each question, and turns what a browser sends into answers; `tidings`
//! tells open pages about changes. A form becomes a tree of controls (`node`), typed text a `draft` that is read by the
//! same rules as everywhere else (`read`), and pages are made of both: `form_page` with its `controls` (`choosing`,
//! `captions`), `review_page`, `link_page`, `end_page`, all with the same head (`about`). Nothing that was typed is
//! kept after the answer. `program` finds out who started this one.

mod about;
mod captions;
mod choosing;
mod controls;
mod desk;
mod draft;
mod end_page;
mod filling;
mod form_page;
mod link_page;
mod node;
mod program;
mod read;
mod review_page;
mod sheet;
mod site;
mod tidings;

pub(crate) use about::{About, during};
pub(crate) use desk::Desk;
pub(crate) use program::started_by;
pub(crate) use sheet::{Matter, SheetAnswer};
