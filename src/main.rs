//! The program: one line, so that everything can be called from a test.

fn main() -> std::process::ExitCode {
    qops::run(std::env::args_os())
}
