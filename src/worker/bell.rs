//! The bell thread: it owns the store's watch and waits on it only while the store thread has nothing to do.

use super::slot::{Desk, News};
use crate::backend::{Ring, Watch};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct State {
    armed: bool,
    watch: Option<Box<dyn Watch>>,
    /// The thread has the watch in its hands.
    waiting: bool,
    closed: bool,
}

/// The store thread's side of the bell.
pub(super) struct Bell {
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// A watch is asked for no longer than this, so that the thread goes home in time.
const WAIT: Duration = Duration::from_secs(1);

fn lock(shared: &(Mutex<State>, Condvar)) -> MutexGuard<'_, State> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bell {
    /// Starts the thread; it rings at the desk.
    pub(super) fn start(desk: Arc<Desk>) -> io::Result<Self> {
        let shared = Arc::new((Mutex::default(), Condvar::new()));
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("bell".into())
            .spawn(move || listen(&theirs, &desk))?;
        Ok(Self { shared })
    }

    /// Whether there is no watch: never hung, or broken.
    pub(super) fn is_bare(&self) -> bool {
        let state = lock(&self.shared);
        state.watch.is_none() && !state.waiting
    }

    /// Hangs a watch.
    pub(super) fn hang(&self, watch: Box<dyn Watch>) {
        lock(&self.shared).watch = Some(watch);
        self.shared.1.notify_one();
    }

    /// From now on the next ring is told, once.
    pub(super) fn arm(&self) {
        let mut state = lock(&self.shared);
        if !state.armed {
            state.armed = true;
            self.shared.1.notify_one();
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        lock(&self.shared).closed = true;
        self.shared.1.notify_one();
    }
}

fn listen(shared: &(Mutex<State>, Condvar), desk: &Desk) {
    let mut state = lock(shared);
    loop {
        if state.closed {
            return;
        }
        let armed = state.armed;
        let Some(mut watch) = state.watch.take_if(|_| armed) else {
            state = shared.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        state.waiting = true;
        drop(state);
        let ring = watch.wait(WAIT);
        state = lock(shared);
        state.waiting = false;
        match ring {
            Ok(Ring::Quiet) => state.watch = Some(watch),
            Ok(Ring::Rang) => {
                state.watch = Some(watch);
                state.armed = false;
                desk.tell(News::Bell);
            }
            // A broken bell is a ring, too: the store thread polls and hangs a new one.
            Err(_) => {
                state.armed = false;
                desk.tell(News::Bell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Error, Kind, Result};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    struct Script(Receiver<Result<Ring>>);
    impl Watch for Script {
        fn wait(&mut self, _: Duration) -> Result<Ring> {
            self.0.recv().unwrap_or(Ok(Ring::Quiet))
        }
    }

    fn rings(desk: &Desk, within: Duration) -> usize {
        desk.wait(Some(Instant::now() + within), 0, false)
            .news
            .len()
    }

    #[test]
    fn it_rings_once_while_armed_and_says_when_it_is_broken() {
        let (desk, _ears) = Desk::new(1).unwrap();
        let bell = Bell::start(Arc::clone(&desk)).unwrap();
        let (script, watch) = channel();
        assert!(bell.is_bare());
        bell.hang(Box::new(Script(watch)));
        script.send(Ok(Ring::Quiet)).unwrap();
        script.send(Ok(Ring::Rang)).unwrap();
        script
            .send(Err(Error::new(Kind::Unreachable, "gone")))
            .unwrap();
        assert_eq!(rings(&desk, Duration::from_millis(30)), 0, "not armed");
        bell.arm();
        assert_eq!(rings(&desk, Duration::from_secs(10)), 1);
        assert!(!bell.is_bare());
        bell.arm();
        assert_eq!(rings(&desk, Duration::from_secs(10)), 1);
        assert!(bell.is_bare());
    }
}
