//! Turns schemas into a [`Form`] and text into values, and checks values against the schema. Nothing here does I/O, and
//! external `$ref`s are never fetched.

mod budget;
mod build;
mod check;
#[cfg(feature = "schema")]
mod checker;
mod choice;
mod choices;
mod cost;
mod decimal;
mod dialect;
mod draw;
mod ecma;
mod error;
mod fault;
mod field;
mod format;
mod keywords;
mod known_checkers;
#[cfg(feature = "schema")]
mod mend;
mod parse;
mod pattern;
#[cfg(all(test, feature = "schema"))]
mod properties;
mod resolve;
mod rules;
mod secret;
mod skeleton;
mod template;
#[cfg(test)]
mod tests;
#[cfg(not(feature = "schema"))]
mod unchecked;
mod value;
#[cfg(feature = "schema")]
mod weigh;
mod words;

#[cfg(not(feature = "schema"))]
use unchecked as checker;

pub use choice::{Choice, Choices};
pub use error::FieldError;
pub use field::{ChoiceField, Field, FieldKind, Form, ListField, NumberField, TextField};
pub use format::Format;
pub use pattern::Pattern;
pub(crate) use {
    build::field,
    checker::Checker,
    dialect::plain as plain_schema,
    fault::TooCostly,
    keywords::Keywords,
    pattern::size as pattern_size,
    resolve::{pointer, resolve},
    secret::names_secret,
    value::{same, unsendable},
    words::{bare, cut, nearest, quoted, range, type_of},
};
