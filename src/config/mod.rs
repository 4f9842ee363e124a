//! The `mcpServers` file: found, read, understood and edited. What it may say is in `docs/configuration.md`.

mod adhoc;
mod edit;
mod endpoint;
mod entry;
mod environment;
mod expand;
mod file;
mod find;
mod fingerprint;
mod foreign;
mod inputs;
mod jsonc;
mod model;
mod near;
mod oauth;
mod others_keys;
mod span;
mod trust;

pub use adhoc::{Overrides, Target};
pub use edit::EditedFile;
pub use environment::Environment;
pub use file::{parse, parse_value};
pub use find::{CONFIG_VARIABLE, FOUND_NAMES, discover, find, load, own_file};
pub use foreign::{Client, ForeignFile, ForeignServer, Left, Reach, known_files, read_foreign, suspects};
pub use inputs::Input;
pub use jsonc::{Content, Document, Member, Node, Place, SyntaxError};
pub use model::{Config, ConfigError, Entry, FoundBy, ServerConfig};
pub use near::near_misses;
pub use oauth::{Assertion, Auth, OAuth, Prints, Secret, TokenProgram, TokenStore};
pub use span::parse_span;
pub use trust::TrustStore;
