//! toolnexus: a command-line host for the Model Context Protocol (MCP).
//!
//! A **host** reads configuration and owns one **client** for each **server**. A client moves JSON-RPC **frames** over
//! a **transport**. When a server asks something, in whatever way its revision of the protocol asks, the question
//! becomes a [`elicitation::Request`]; the `wait_for` slot turns it into an [`elicitation::Answer`]; the answer becomes an
//! MCP `ElicitResult` and goes back. Everything that crosses a boundary is data, so every boundary can be tested
//! without a peer.
//!
//! # Code map
//!
//! Imports point down only.
//!
//! | layer | place | knows |
//! | --- | --- | --- |
//! | edge | `main.rs` | parse, run, exit code |
//! | command line | [`cli`], [`commands`], [`error`] | clap types; a file for each subcommand; exit codes |
//! | resolvers | [`resolver`] | answers files, programs, deferred calls, people, and their order |
//! | people | [`terminal`], [`output`], `web` | prompts, the line editor, the browser; rendering; questions as pages |
//! | pages | [`pages`] | the strict server on loopback for pages in a browser |
//! | kept servers | [`keeper`] | a process for each kept server; attaching to it |
//! | host | [`host`], [`client`], [`config`], [`auth`] | servers, negotiation, rounds, tasks, time, sign-ins |
//! | questions | [`elicitation`], [`form`], [`arguments`] | the bridge; schema to form; text to values |
//! | text | `text` | where text is cut; an error with its causes |
//! | wire | [`transport`], [`protocol`] | bytes to frames; frames and revisions as data |
//!
//! [`demo`] is a small server on the server's half of [`elicitation`].
//!
//! # Invariants
//!
//! * Nothing in `protocol`, `form`, `arguments` or `elicitation` does I/O.
//! * Nothing outside `terminal` and `output` prints; the host emits [`client::Notice`]s.
//! * Nothing in `host`, `client`, `auth` or `config` imports `terminal`, `output`, `cli` or `commands`.
//! * No second place maps questions and answers to MCP: `elicitation` is the only one.
//! * No reply is written twice, and none for a question that was withdrawn.
//! * No accept is sent that breaks the schema, and nothing is sent that nobody entered.
//! * No server text reaches a terminal before it is made safe.
//! * No external `$ref` is fetched, and only `add`, `remove`, `enable`, `disable` and `import` write a configuration
//!   file.

//! # Messages
//!
//! 1. Say what happened, where, and what to do, in that order.
//! 2. Each error is a clause that stands alone: "the server did not answer within 30 s", never "failed to …".
//! 3. The subject comes first; the person who reads is "you".
//! 4. Short words that one would say aloud: "not a number", "separated by commas".
//! 5. Name the thing as the person wrote it: the argument, the key, the file with its line.
//! 6. A value that is wrong is shown, cut; a secret never.
//! 7. A hint is a command that can be copied, or the words to type.
//! 8. MCP's own terms, and no others, for what MCP names.
//! 9. Words that are not ours stand behind a bar, and never in our sentence.
//! 10. No full stop, no capital, no blame, and no excuse.

#[cfg(not(unix))]
compile_error!("toolnexus runs on Unix (Linux, macOS) alone so far");

pub mod arguments;
pub mod auth;
#[doc(hidden)]
pub mod cli;
pub mod client;
#[doc(hidden)]
pub mod commands;
pub mod config;
pub mod demo;
pub mod elicitation;
pub mod error;
mod files;
pub mod form;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
pub mod keeper;
#[doc(hidden)]
pub mod output;
pub mod pages;
pub mod prelude;
pub mod protocol;
pub mod resolver;
#[doc(hidden)]
pub mod terminal;
mod text;
pub mod transport;
mod web;
