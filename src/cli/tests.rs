use super::*;

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn global_options_stand_before_and_after_the_verb() {
    for line in [
        "qops -u sqlite:a -q pause q",
        "qops pause -u sqlite:a -q q",
        "qops pause q -u sqlite:a -q",
    ] {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(cli.globals.url.as_deref(), Some("sqlite:a"), "{line}");
        assert_eq!(cli.globals.loudness(), Loudness::Quiet, "{line}");
    }
    let cli = Cli::try_parse_from(["qops", "--json", "pause", "q"]).unwrap();
    assert_eq!(cli.globals.format(), Some(Format::Json));
}
