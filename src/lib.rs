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
//! | kept servers | [`keeper`] | a process for each kept server; attaching to it |
//! | host | [`host`], [`client`], [`config`], [`auth`] | servers, negotiation, rounds, tasks, time, sign-ins |
//! | a server | [`demo`] | a small server built on the server's half of [`elicitation`] |
//! | pages | [`pages`] | the strict loopback server for pages in a browser |
//! | questions | [`elicitation`], [`form`], [`arguments`] | the bridge; schema to form; text to values |
//! | wire | [`transport`], [`protocol`] | bytes to frames; frames and revisions as data |
//! | ground | `text`, `files`, `system` | shortening text; reading and writing files; information about the system |
//!
//! `tests/layers.rs` checks the imports against this map. Code for one system only is in files named after it
//! (`unix.rs`), behind a few functions each: [`terminal`], process groups (`transport/stdio/group`), signals
//! (`commands/signals`), sockets (`keeper`), `files` and `system`.
//!
//! # Parts
//!
//! The package is divided by features. Without any of them, it serves other clients and servers, on every system and
//! without a runtime: frames and revisions ([`protocol`]), the bridge and the server's half ([`elicitation`]), schemas
//! as forms ([`form`]), a tool's arguments from words ([`arguments`]).
//!
//! ```toml
//! toolnexus = { version = "0.1", default-features = false }
//! ```
//!
//! | feature | adds |
//! | --- | --- |
//! | none | `protocol`, `form`, `arguments`; of `elicitation` the bridge and the server's half |
//! | `schema` | values checked against the whole of JSON Schema. Without it, a form checks what elicitation has (text, numbers, yes or no, choices, lists of choices, with all their rules); a field or a form that needs more is refused as "cannot be checked in this build", and never accepted unchecked |
//! | `client` | `host`, `client`, `config`, `transport` over stdio; links and resolvers; `schema` |
//! | `http` | servers at web addresses, sign-ins (`auth`), `pages`; `client` |
//! | `cli` | the program, and with it `resolver`, `keeper`, `demo`; `client`. Without `http` it speaks only stdio |
//!
//! `cli` and `http` are the default.
//!
//! # A reader's path
//!
//! **One question, from the wire to the answer.** A legacy server sends the request `elicitation/create`:
//! `transport/stdio/connection.rs` reads its line as a `protocol::Frame`; `client/driver/event_loop.rs` takes it from
//! the transport, `driver/inbound.rs` sees that it is a request, `driver/whose.rs` finds the call that it belongs to,
//! and `driver/questions.rs` asks. A modern server ends its `tools/call` with `input_required`:
//! `client/call/outcome.rs` reads that, `call/rounds.rs` begins a round, and `call/ask_round.rs` asks for each input.
//! Both call `elicitation::elicit` (`elicit.rs`): `bridge.rs` makes the `Request`, `question.rs` reads the form or the
//! link from it once, and the `Resolver` claims it. In the program that is `resolver/chain.rs`: an answers file, a
//! program, a deferred call, a person (`person.rs`, then `terminal/ask.rs`; or `browser.rs`, then `web`). The `Answer`
//! is checked against the form (`elicitation/held.rs`) and becomes an `ElicitResult` (`bridge.rs`).
//! `driver/questions.rs` writes it as the reply, if the question is still open; `call/rounds.rs` sends the call again
//! with `inputResponses`.
//!
//! **One argument, from argv to the wire.** `main.rs` passes the words to `cli/program.rs`; `commands/argv.rs` orders
//! them, and clap parses them as declared in `cli.rs` and `commands/options.rs`; `commands/call.rs` gets its `CallArgs`
//! and the `Context`. `commands/call/arguments.rs` splits `limit=10` and reads the files that are named;
//! `commands/server/select.rs` finds the server's configuration; `commands/server/command_host.rs` makes the `Host`,
//! which connects the `Client` (`host/registry.rs`, then `client/negotiate/open.rs`). With the tool's schema from
//! `tools/list`, `arguments/parse.rs` gives the words their types (`place.rs`, `convert.rs`), asks for what is missing
//! with the form engine, and checks the whole. `client/call/open_call.rs` adds `_meta` (`client/conversation.rs`),
//! `client/wire.rs` passes the frame to the driver, and the transport writes it.
//!
//! # Invariants
//!
//! * Nothing in `protocol`, `form`, `arguments` or `elicitation` does I/O.
//! * Nothing outside `terminal` and `output` prints; the host emits [`client::Notice`]s.
//! * Nothing in `host`, `client`, `auth` or `config` imports `terminal`, `output`, `cli` or `commands`.
//! * Only `elicitation` maps questions and answers to MCP.
//! * No reply is written twice, and no reply is written for a question that was withdrawn.
//! * No accept that breaks the schema is sent, and nothing is sent that nobody entered.
//! * No server text reaches a terminal before it is made safe.
//! * No external `$ref` is fetched, and only `add`, `remove`, `enable`, `disable` and `import` write a configuration
//!   file.
//!
//! # Messages
//!
//! 1. Say what happened, where, and what to do, in that order.
//! 2. Each error is a complete clause: "the server did not answer within 30 s", never "failed to …".
//! 3. The subject comes first; the reader is "you".
//! 4. Use short words that you would say aloud: "not a number", "separated by commas".
//! 5. Name the thing as the reader wrote it: the argument, the key, the file with its line.
//! 6. Show a wrong value, shortened; never show a secret.
//! 7. A hint is a command to copy, or the words to type.
//! 8. Use MCP's own terms, and no others, for what MCP names.
//! 9. Other people's words stay behind a bar, and never in our sentence.
//! 10. No full stop, no capital, no blame, and no excuse.

#![cfg_attr(
    not(all(feature = "cli", feature = "http")),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        reason = "a part of the features does not use, and does not document, everything"
    )
)]

#[cfg(all(not(unix), feature = "client"))]
compile_error!("toolnexus runs only on Unix (Linux, macOS) so far; without its features it works on every system");

pub mod arguments;
pub mod elicitation;
pub mod form;
pub mod protocol;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(feature = "client")]
mod files;
#[cfg(feature = "client")]
pub mod host;
#[cfg(feature = "client")]
pub mod prelude;
#[cfg(feature = "client")]
mod system;
#[cfg(feature = "client")]
mod text;
#[cfg(feature = "client")]
pub mod transport;

#[cfg(feature = "http")]
pub mod auth;
#[cfg(feature = "http")]
pub mod pages;

#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod cli;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod commands;
#[cfg(feature = "cli")]
pub mod demo;
#[cfg(feature = "cli")]
pub mod error;
#[cfg(feature = "cli")]
pub mod keeper;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod output;
#[cfg(feature = "cli")]
pub mod resolver;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod terminal;
#[cfg(all(feature = "cli", feature = "http"))]
mod web;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
