//! What a server asks and what it gets: the bridge between `elicitation/create` and `Request`/`Answer`, the server's
//! half, and the slot that answers. Nothing here does I/O.

mod answer;
mod bridge;
mod request;
mod result;
mod server_half;
mod wait_for;

#[cfg(feature = "client")]
mod elicit;
#[cfg(feature = "client")]
mod held;
#[cfg(feature = "client")]
mod host;
#[cfg(feature = "client")]
mod link;
#[cfg(feature = "client")]
mod question;
#[cfg(feature = "client")]
mod resolver;

pub use answer::{Answer, make_answer};
pub use bridge::{answer_to_elicit_result, elicitation_to_request, server_request_response};
pub use request::{Request, RequestKind};
pub use result::ElicitResult;
pub use server_half::{
    AskClient, Callback, ServerHalfError, Verdict, build_callback, build_request, build_url_request, parse_response,
    parse_result,
};
pub use wait_for::{IntoAnswer, ResolverError, WaitFor, wait_for};
#[cfg(feature = "client")]
pub use {
    elicit::{Asked, Elicited, Modes, check_elicitation, elicit},
    link::{Link, LinkRefused},
    question::{CallName, Cause, Origin, Question, QuestionBody, ServerName},
    resolver::{Outcome, Resolver, Unchecked, Waited, Why, wait_for_blocking, wait_for_question},
};
