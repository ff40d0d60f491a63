//! Whether this process may open as many files as the plan needs: a limit does not pass by waiting.

use super::command::{Command, Input, Output};
use super::plan::Plan;
use super::unix::{self, Wake};
use crate::backend::{Error, Kind, Result};
use crate::queue::Hint;
use rustix::process::{Resource, getrlimit};

/// For what is not a slot's: our own threads, a store that is opened again, its bell and its temporary files.
const SPARE: usize = 32;

/// The most that a slot has open at once.
fn of_a_slot(command: &Command) -> usize {
    let stdin = usize::from(command.input == Input::Stdin);
    let look = usize::from(command.input == Input::Stdin && !command.has_any_place());
    let prefix = usize::from(command.output == Output::Prefix);
    // Both ends of every pipe until the command has its own; then one of each, and the watch for its end.
    let starting = 2 + 2 * stdin + look + 2 * prefix;
    let running = 2 + stdin + look + prefix;
    Wake::DESCRIPTORS + starting.max(running)
}

/// Refuses a plan with more commands at once than the limit on open files allows. The limit is not raised: commands
/// would inherit that, and some go through every number that they may have.
///
/// # Errors
/// [`Kind::Config`], with the way out.
pub(super) fn check(plan: &Plan) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let may = |limit: Option<u64>| {
        limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        })
    };
    let (soft, hard) = (may(limit.current), may(limit.maximum));
    let ours = unix::open_files() + SPARE;
    let slot = of_a_slot(&plan.command);
    let need = ours + slot * plan.jobs;
    if need <= soft {
        return Ok(());
    }
    let mut ways = vec![];
    if need <= hard {
        ways.push(format!("ulimit -n {need} before it"));
    } else {
        ways.push(format!(
            "a limit of {need} (ulimit -n; a service's LimitNOFILE=)"
        ));
    }
    let fit = soft.saturating_sub(ours) / slot;
    if fit > 0 {
        ways.push(format!("-j {fit}"));
    }
    let what = format!(
        "-j {} needs {need} open files, and this process may have {soft}",
        plan.jobs
    );
    Err(Error::new(Kind::Config, what).hint(Hint::from(ways.join(", or "))))
}
