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
//! # A reader's path
//!
//! **One question, from the wire to the answer.** A legacy server sends the request `elicitation/create`:
//! `transport/stdio/connection.rs` reads its line as a `protocol::Frame`; `client/driver/event_loop.rs` takes it off the
//! transport, `driver/inbound.rs` sees that it is a request, `driver/whose.rs` finds the call that it belongs to, and
//! `driver/questions.rs` asks. A modern server ends its `tools/call` with `input_required`: `client/call/outcome.rs` reads
//! that, `call/rounds.rs` begins a round, and `call/ask_round.rs` asks for each input. Both come to `elicitation::elicit`
//! (`elicit.rs`): `bridge.rs` makes the `Request`, `question.rs` reads the form or the link from it once, and the
//! `Resolver` claims it. In the program that is `resolver/chain.rs`: an answers file, a program, a deferred call, a person
//! (`person.rs`, then `terminal/ask.rs`; or `browser.rs`, then `web`). The `Answer` is held against the form
//! (`elicitation/held.rs`) and becomes an `ElicitResult` (`bridge.rs`). `driver/questions.rs` writes it as the reply, if the
//! question is still open; `call/rounds.rs` sends the call again with `inputResponses`.
//!
//! **One argument, from argv to the wire.** `main.rs` gives the words to `cli/program.rs`; `commands/argv.rs` orders them
//! before clap reads them as `cli.rs` and `commands/options.rs` say; `commands/call.rs` gets its `CallArgs` and the
//! `Context`. `commands/arguments.rs` splits `limit=10` and reads the files that are named; `commands/select.rs` finds the
//! server's configuration; `commands/command_host.rs` makes the `Host`, which connects the `Client` (`host/registry.rs`,
//! then `client/negotiate/open.rs`). With the tool's schema from `tools/list`, `arguments/parse.rs` types the words
//! (`place.rs`, `convert.rs`), asks for what is missing with the form engine, and checks the whole. `client/call/open_call.rs`
//! adds `_meta` (`client/conversation.rs`), `client/wire.rs` hands the frame to the driver, and the transport writes it.
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
