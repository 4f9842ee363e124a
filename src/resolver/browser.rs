use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::{
    queue::{Queue, QueuePlace, QueueTurn},
    tally::{Tally, Turnout},
};
use crate::{
    elicitation::{Answer, Cause, Link, Outcome, Question, QuestionBody, Resolver, Waited, Why},
    form::Form,
    pages::{Address, Pages},
    terminal::open_in_browser,
    web::{About, Desk, Matter, SheetAnswer, during, started_by},
};

/// How long a browser that has sent an answer may take to fetch the page that confirms it, and how long the last pages
/// may take to be sent.
const PATIENCE: Duration = Duration::from_secs(3);
const GRACE: Duration = Duration::from_millis(500);

/// A person at a browser on this machine. Everything is asked in order of arrival, one question at a time, on a page
/// that exists from the first question on.
#[derive(Clone)]
pub struct Browser(Arc<BrowserParts>);

struct BrowserParts {
    desk: Arc<Desk>,
    pages: OnceCell<Pages>,
    queue: Queue,
    tally: Tally,
    options: BrowserOptions,
}

/// How a person is asked at a browser.
#[derive(Clone)]
pub struct BrowserOptions {
    /// Gets each question, and errors.
    pub sink: BrowserSink,
    /// Whether to start the browser.
    pub starts: bool,
    /// How long the person has for each question.
    pub limit: Duration,
}

crate::text::opaque! { BrowserOptions }

/// Gets what happens around questions at a browser.
pub type BrowserSink = Arc<dyn Fn(&BrowserNotice<'_>) + Send + Sync>;

/// What happens around questions at a browser.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum BrowserNotice<'a> {
    /// A question is waiting on the page at this address, which only the person may know.
    Waits(&'a Question, &'a str),
    /// No browser could be started, and why.
    NotStarted(&'a str),
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Browser")
    }
}

impl Browser {
    /// A person at a browser, which is not started before there is a question.
    pub fn new(options: BrowserOptions) -> Self {
        let queue = Queue::default();
        let desk = Desk::new(queue.waiting(), started_by());
        Self(Arc::new(BrowserParts { desk, pages: OnceCell::new(), queue, tally: Tally::default(), options }))
    }

    /// Sets the arguments of the call, to be shown with its questions.
    pub fn set_arguments(&self, arguments: &Map<String, Value>) {
        self.0.desk.set_during(during(arguments));
    }

    /// Ends the pages when the run is over: open pages say so.
    pub async fn close(&self) {
        let Some(pages) = self.0.pages.get() else { return };
        self.0.desk.close(PATIENCE).await;
        pages.close(GRACE).await;
    }
}

impl BrowserParts {
    async fn answer(
        self: Arc<Self>,
        question: Arc<Question>,
        stop: CancellationToken,
        mut place: QueuePlace,
    ) -> Outcome {
        let turn = tokio::select! {
            biased;
            () = stop.cancelled() => return Outcome::Withdrawn,
            turn = place.turn() => turn,
        };
        let said = match turn {
            QueueTurn::SentAway => SheetAnswer::Cancel,
            QueueTurn::Yours => match self.ask(&question, &stop).await {
                Ok(said) => said,
                Err(why) => return Outcome::Unanswerable(why),
            },
        };
        if said == SheetAnswer::CancelAll {
            self.queue.send_away();
        }
        let id = &question.request.id;
        match said {
            SheetAnswer::Send(_) if question.request.is_link() => Outcome::Answered(Answer::accept(id, None)),
            SheetAnswer::Send(content) => Outcome::Answered(Answer::accept(id, Some(Value::Object(content)))),
            SheetAnswer::Decline => Outcome::Answered(Answer::decline(id)),
            SheetAnswer::Cancel | SheetAnswer::CancelAll => Outcome::Answered(Answer::cancel(id)),
            SheetAnswer::Withdrawn => Outcome::Withdrawn,
            SheetAnswer::Late => Outcome::Unanswerable(self.late()),
        }
    }

    /// Asks, now that nothing else is being asked.
    async fn ask(&self, question: &Question, stop: &CancellationToken) -> Result<SheetAnswer, Why> {
        let turnout = self.tally.count(&question.origin);
        let matter = match question.body() {
            _ if turnout == Turnout::Silenced => return Ok(SheetAnswer::Cancel),
            QuestionBody::Form(form) => Matter::form(Form::clone(form)),
            QuestionBody::Link(link) => Matter::Link(Link::clone(link)),
            QuestionBody::Refused(refused) => {
                return Err(Why::new(format!("the link cannot be opened: {}", refused.reason)));
            }
        };
        let pages = self.pages.get_or_try_init(|| Pages::serve(Address::Secret, self.desk.clone())).await;
        let pages = pages.map_err(|error| Why::new(format!("no page can be served on this machine: {error}")))?;
        // The page that waits for the end of a sign-in follows by itself.
        if question.origin.cause != Cause::SignIn || question.request.is_link() {
            (self.options.sink)(&BrowserNotice::Waits(question, pages.url()));
        }
        if self.options.starts && !self.desk.is_watched() {
            self.start(pages.url());
        }
        let desk = Arc::clone(&self.desk);
        self.queue.ring(Box::new(move || desk.tell()));
        let id = &question.request.id;
        let limit = self.options.limit;
        if let Turnout::AskWhether(many) = turnout {
            let about = About { message: String::new(), ..About::of(question) };
            match self.desk.ask(id, about, Matter::GoOn(many), stop, limit).await {
                SheetAnswer::Send(_) => {}
                said => {
                    self.tally.silence(&question.origin);
                    return Ok(said);
                }
            }
        }
        Ok(self.desk.ask(id, About::of(question), matter, stop, limit).await)
    }

    /// Starts a browser on a separate thread, because that may take long.
    fn start(&self, url: &str) {
        let (url, sink) = (url.to_owned(), Arc::clone(&self.options.sink));
        std::thread::spawn(move || {
            if let Some(error) = open_in_browser(&url) {
                sink(&BrowserNotice::NotStarted(&error.to_string()));
            }
        });
    }

    fn late(&self) -> Why {
        let limit = self.options.limit.as_secs_f64();
        Why::new(format!("nobody answered it in the browser within {limit} s"))
            .with_hint("--elicit-timeout gives a person more time")
    }
}

impl Resolver for Browser {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let place = self.0.queue.join();
        Arc::clone(&self.0).answer(question, stop, place).boxed()
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        let desk = Arc::clone(&self.0.desk);
        async move { desk.wait(&link.request.id, &done, limit).await }.boxed()
    }
}
