//! Signals and a closed output become news at the desk.

use super::slot::{Desk, News};
use super::unix;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::Arc;

/// Hears signals until it is dropped.
pub(super) struct Ears(Handle);

impl Drop for Ears {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Tells the desk each signal, except those that were ignored when the program began (`nohup`).
pub(super) fn listen(desk: &Arc<Desk>) -> io::Result<Ears> {
    let ignored = unix::ignored_signals();
    let wanted = [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT];
    let mut signals = Signals::new(
        wanted
            .into_iter()
            .filter(|signal| !ignored.contains(signal)),
    )?;
    let handle = signals.handle();
    let desk = Arc::clone(desk);
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in &mut signals {
                desk.tell(News::Signal(signal));
            }
        })?;
    Ok(Ears(handle))
}

/// Stops this process alone, as whoever sent TSTP expects; its commands are in groups of their own and run on.
pub(super) fn stop_ourselves() {
    // Without a handler of its own for STOP there is nothing that could fail here but a missing right to signal
    // ourselves; then we simply run on.
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGSTOP);
}

/// Whether nobody reads our standard output any more.
pub(super) fn output_is_closed() -> bool {
    let stdout = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
        && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Tells the desk when nobody reads our standard output any more. Commands that inherit it are told by the system; we
/// write nothing there ourselves and would never know.
pub(super) fn watch_output(desk: &Arc<Desk>) -> io::Result<()> {
    let stdout = rustix::stdio::stdout();
    let is_pipe = fstat(stdout).is_ok_and(|stat| {
        matches!(
            FileType::from_raw_mode(stat.st_mode),
            FileType::Fifo | FileType::Socket
        )
    });
    if !is_pipe {
        return Ok(());
    }
    let copy = rustix::io::fcntl_dupfd_cloexec(stdout, 3)?;
    let desk = Arc::clone(desk);
    std::thread::Builder::new()
        .name("output".into())
        .spawn(move || {
            loop {
                let mut fds = [PollFd::new(&copy, PollFlags::empty())];
                match poll(&mut fds, None) {
                    Err(rustix::io::Errno::INTR) | Ok(0) => {}
                    Ok(_)
                        if fds[0]
                            .revents()
                            .intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) =>
                    {
                        return desk.tell(News::OutputClosed);
                    }
                    Ok(_) | Err(_) => return,
                }
            }
        })?;
    Ok(())
}
