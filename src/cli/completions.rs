//! `completions`: the scripts that complete a command line in a shell. They are generated, committed and proven fresh by a
//! test, so that the program needs no generator.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use clap::ValueEnum;

/// `completions`
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    mkdir -p ~/.local/share/bash-completion/completions\n  \
    qops completions bash > ~/.local/share/bash-completion/completions/qops\n  \
    qops completions zsh > \"${fpath[1]}/_qops\"\n  \
    mkdir -p ~/.config/fish/completions\n  \
    qops completions fish > ~/.config/fish/completions/qops.fish\n  \
    qops completions powershell >> $PROFILE\n  \
    qops completions elvish >> ~/.config/elvish/rc.elv\n  \
    mkdir -p ~/.config/nushell/autoload\n  \
    qops completions nushell > ~/.config/nushell/autoload/qops.nu")]
pub struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// A shell that has completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    #[value(name = "powershell")]
    PowerShell,
    /// Elvish
    Elvish,
    /// Nushell
    Nushell,
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("../../completions/qops.bash"),
            Self::Zsh => include_str!("../../completions/_qops"),
            Self::Fish => include_str!("../../completions/qops.fish"),
            Self::PowerShell => include_str!("../../completions/_qops.ps1"),
            Self::Elvish => include_str!("../../completions/qops.elv"),
            Self::Nushell => include_str!("../../completions/qops.nu"),
        }
    }
}

/// Prints the script.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    if let Some(format) = ctx.format() {
        return Err(Fail::usage(format!("a script has no -o {format}")));
    }
    ctx.ui.out_bytes(args.shell.script().as_bytes())?;
    Ok(Code::Done)
}
