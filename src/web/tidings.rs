use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::BoxStream};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    desk::Desk,
    sheet::{Sheet, SheetEnding, SheetStage},
};
use crate::pages::ServerSentEvent;

/// How often a page gets a sign of life, so that a closed one is noticed.
const PULSE: Duration = Duration::from_secs(15);

/// A listening page, until it is dropped.
struct PageListener(Arc<Desk>);

/// The listener, its changes, the last news, and whether there is no more to say.
type TidingsStream = (PageListener, watch::Receiver<()>, Option<Value>, bool);

impl Drop for PageListener {
    fn drop(&mut self) {
        self.0.state().listeners -= 1;
    }
}

/// The news about the question `number`, for a page that shows it (0 is none), until the run is over.
pub(super) fn tidings(desk: Arc<Desk>, number: u64) -> BoxStream<'static, ServerSentEvent> {
    desk.state().listeners += 1;
    let changes = desk.changes();
    let begin = (PageListener(desk), changes, None, false);
    futures_util::stream::unfold(begin, move |(listener, mut changes, mut last, is_over): TidingsStream| async move {
        if is_over {
            return None;
        }
        loop {
            let news = listener.0.news(number);
            let is_over = news["state"] == "gone";
            if last.as_ref() != Some(&news) {
                last = Some(news.clone());
                let event = ServerSentEvent { name: "news", data: news.to_string() };
                return Some((event, (listener, changes, last, is_over)));
            }
            match tokio::time::timeout(PULSE, changes.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => {
                    let event = ServerSentEvent { name: "pulse", data: String::new() };
                    return Some((event, (listener, changes, last, is_over)));
                }
            }
        }
    })
    .boxed()
}

impl Desk {
    /// The news for a page that shows the question `number`.
    fn news(&self, number: u64) -> Value {
        let waiting = self.waiting();
        let state = self.state();
        let sheet = state.sheets.get(&number);
        let next = state.current().map(|sheet| sheet.number).filter(|next| *next != number);
        let over = |sheet: &Sheet, ending: SheetEnding| ending.words(&sheet.about);
        let (name, (title, words)) = match sheet.map(|sheet| (&sheet.stage, sheet)) {
            Some((SheetStage::Over(ending), sheet)) => {
                (if state.is_gone { "gone" } else { "over" }, over(sheet, *ending))
            }
            _ if state.is_gone => ("gone", ("The command has ended".to_owned(), "You can close this page.".to_owned())),
            Some((SheetStage::Open(_), _)) => ("open", Default::default()),
            Some((SheetStage::Waiting(_) | SheetStage::Opened, _)) => ("opened", Default::default()),
            None => ("idle", Default::default()),
        };
        json!({"state": name, "title": title, "words": words, "next": next, "waiting": waiting})
    }
}
