//! A schema to a [`Form`], text to values, and values checked against the schema. Nothing here does I/O, and external
//! `$ref`s are never fetched.

mod field;

pub use field::{Choice, ChoiceField, Field, FieldKind, Form, Format, ListField, NumberField, TextField};
