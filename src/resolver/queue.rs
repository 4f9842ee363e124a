use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::oneshot;

/// The queue for the one terminal, first come first served.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    state: Arc<Mutex<QueueState>>,
    /// How many wait.
    waiting: Arc<AtomicUsize>,
}

#[derive(Default)]
struct QueueState {
    /// Whether somebody is being served.
    busy: bool,
    last: u64,
    places: VecDeque<(u64, oneshot::Sender<QueueTurn>)>,
    /// Tells the one who is being served that the queue has changed.
    bell: Option<Box<dyn Fn() + Send>>,
}

impl std::fmt::Debug for QueueState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("busy", &self.busy).field("waiting", &self.places.len()).finish_non_exhaustive()
    }
}

/// How waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueTurn {
    /// It is this one's turn.
    Yours,
    /// Everybody who was waiting was sent away.
    SentAway,
}

/// A place in the queue, and then at the terminal, until it is dropped.
#[derive(Debug)]
pub(super) struct QueuePlace {
    queue: Queue,
    number: u64,
    turn: Option<oneshot::Receiver<QueueTurn>>,
    is_served: bool,
}

impl Queue {
    /// Takes the last place.
    pub(super) fn join(&self) -> QueuePlace {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        let is_served = !state.busy;
        let turn = if is_served {
            state.busy = true;
            None
        } else {
            let (sender, turn) = oneshot::channel();
            state.places.push_back((number, sender));
            Some(turn)
        };
        self.changed(&state);
        QueuePlace { queue: self.clone(), number, turn, is_served }
    }

    /// The number of waiting questions, kept up to date.
    pub(super) fn waiting(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Calls `bell` whenever that number changes.
    pub(super) fn ring(&self, bell: Box<dyn Fn() + Send>) {
        self.lock().bell = Some(bell);
    }

    /// Sends away everybody who is waiting.
    pub(super) fn send_away(&self) {
        let mut state = self.lock();
        for (_, sender) in state.places.drain(..) {
            _ = sender.send(QueueTurn::SentAway);
        }
        self.changed(&state);
    }

    fn changed(&self, state: &QueueState) {
        self.waiting.store(state.places.len(), Ordering::Relaxed);
        if let Some(bell) = &state.bell {
            bell();
        }
    }

    /// Serves the next one.
    fn next(&self, state: &mut QueueState) {
        state.bell = None;
        state.busy = false;
        while let Some((_, sender)) = state.places.pop_front() {
            if sender.send(QueueTurn::Yours).is_ok() {
                state.busy = true;
                break;
            }
        }
        self.changed(state);
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuePlace {
    /// Waits until this one is served or sent away. Cancel-safe.
    pub(super) async fn turn(&mut self) -> QueueTurn {
        let Some(turn) = &mut self.turn else { return QueueTurn::Yours };
        let turn = turn.await.unwrap_or(QueueTurn::SentAway);
        self.turn = None;
        self.is_served = turn == QueueTurn::Yours;
        turn
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        // The turn may have come without being noticed.
        let is_served =
            self.is_served || self.turn.as_mut().is_some_and(|turn| turn.try_recv() == Ok(QueueTurn::Yours));
        if is_served {
            self.queue.next(&mut state);
        } else {
            state.places.retain(|(number, _)| *number != self.number);
            self.queue.changed(&state);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn turn(place: &mut QueuePlace) -> Option<QueueTurn> {
        place.turn().now_or_never()
    }

    #[test]
    fn one_at_a_time_in_order() {
        let queue = Queue::default();
        let (mut first, mut second, mut third) = (queue.join(), queue.join(), queue.join());
        assert_eq!((turn(&mut first), turn(&mut second), turn(&mut third)), (Some(QueueTurn::Yours), None, None));
        assert_eq!(queue.waiting().load(Ordering::Relaxed), 2);
        drop(second);
        drop(first);
        assert_eq!(turn(&mut third), Some(QueueTurn::Yours));
        drop(third);
        assert_eq!(turn(&mut queue.join()), Some(QueueTurn::Yours));
    }

    #[test]
    fn a_turn_that_nobody_noticed_is_passed_on() {
        let queue = Queue::default();
        let (first, second, mut third) = (queue.join(), queue.join(), queue.join());
        drop(first);
        drop(second);
        assert_eq!(turn(&mut third), Some(QueueTurn::Yours));
    }

    #[test]
    fn those_who_wait_are_sent_away() {
        let queue = Queue::default();
        let rung = Arc::new(AtomicUsize::new(0));
        let (mut first, mut second) = (queue.join(), queue.join());
        let count = Arc::clone(&rung);
        queue.ring(Box::new(move || _ = count.fetch_add(1, Ordering::Relaxed)));
        queue.send_away();
        assert_eq!((turn(&mut first), turn(&mut second)), (Some(QueueTurn::Yours), Some(QueueTurn::SentAway)));
        drop((first, second));
        assert_eq!(turn(&mut queue.join()), Some(QueueTurn::Yours));
        assert!(rung.load(Ordering::Relaxed) > 0);
    }
}
