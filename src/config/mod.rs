//! The `mcpServers` file: finding, reading, interpreting and editing it. `docs/configuration.md` describes its format.

mod adhoc;
mod edit;
mod endpoint;
mod entry_reader;
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

pub use adhoc::{AdhocTarget, Overrides};
pub use edit::EditedFile;
pub use environment::Environment;
pub use file::{parse, parse_value};
pub use find::{CONFIG_VARIABLE, FOUND_NAMES, discover, find, load, own_file};
pub use foreign::{ForeignFile, ForeignServer, Left, OtherClient, Reach, known_files, read_foreign, suspects};
pub use inputs::ConfigInput;
pub use jsonc::{Content, Document, FilePlace, Member, Node, SyntaxError};
pub use model::{Config, ConfigError, FoundBy, ServerConfig, ServerEntry};
pub use near::near_misses;
pub use oauth::{Assertion, Auth, IdentityProvider, OAuth, Prints, Secret, TokenProgram, TokenStore};
pub use span::parse_span;
pub use trust::TrustStore;
