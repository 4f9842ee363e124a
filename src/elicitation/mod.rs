//! What a server asks, and what it is told: the bridge between `elicitation/create` and `Request`/`Answer`, the server's
//! half of it, and the slot that answers. Nothing here does I/O.

mod answer;
mod bridge;
mod elicit;
mod held;
mod host;
mod link;
mod question;
mod request;
mod resolver;
mod result;
mod server_half;
mod wait_for;

pub use answer::{Answer, make_answer};
pub use bridge::{answer_to_elicit_result, elicitation_to_request, server_request_response};
pub use elicit::{Asked, Elicited, Modes, check_elicitation, elicit};
pub use link::{Link, LinkRefused};
pub use question::{CallName, Cause, Origin, Question, QuestionBody, ServerName};
pub use request::{Request, RequestKind};
pub use resolver::{Outcome, Resolver, Unchecked, Waited, Why, wait_for_blocking, wait_for_question};
pub use result::ElicitResult;
pub use server_half::{
    AskClient, Callback, ServerHalfError, Verdict, build_callback, build_request, build_url_request, parse_response,
    parse_result,
};
pub use wait_for::{IntoAnswer, ResolverError, WaitFor, wait_for};
