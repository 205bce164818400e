//! What it tells: logs, completions, progress, changes.

use serde_json::json;

use super::{ERAS, READY, ends, enter, home, leave, open, run};
use crate::home::Home;
use crate::prompt::tab;
use crate::pty::Pty;
use crate::serving::Serving;

#[test]
fn logs_are_shown_by_the_verb_from_the_level_on() {
    for era in ERAS {
        let home = home(era);
        let mut pty = run(&home, &["logs", "kit", "--level", "debug"]);
        pty.wait_for("debug test-server: tools/list was asked for\r\n");
        pty.send(b"\x03");
        assert_eq!(pty.finish().0, 130);
    }
}

/// Has the server log at two levels, and waits until it has.
fn logs(pty: &mut Pty) {
    for (level, text) in [("debug", "quiet"), ("error", "loud")] {
        enter(
            pty,
            &format!("call kit/log level={level} 'text={text} words' count=2"),
        );
        pty.wait_for(" of 2\r\n");
        pty.wait_for(READY);
    }
}

#[test]
fn what_is_logged_is_told_at_the_prompt_and_a_level_is_set_there() {
    for era in ERAS {
        let home = home(era);
        let mut pty = open(&home);
        logs(&mut pty);
        pty.wait_until(|screen| screen.contains("* kit: error test-server: loud words (2)"));
        assert!(
            !pty.written().contains(": quiet words"),
            "{}",
            pty.written()
        );
        // Everything, and then nothing but the worst.
        is_set(&mut pty, "debug", ("debug", "logged 1 of 1"));
        is_set(&mut pty, "alert", ("critical", "logged 0 of 1"));
        enter(&mut pty, "call kit/log level=alert");
        pty.wait_for("logged 1 of 1\r\n");
        leave(pty);
    }
}

/// Looks at the logs from a level on, until a message of some level becomes of it what that means.
fn is_set(pty: &mut Pty, level: &str, (logged, told): (&str, &str)) {
    // How long it takes until the server is told nobody knows.
    for _ in 0..1000 {
        enter(pty, &format!("logs kit --level {level} --for 100ms"));
        // The line itself is drawn once more, with what stands before it.
        pty.wait_for("--for 100ms");
        pty.wait_for(READY);
        let before = pty.written().len();
        enter(pty, &format!("call kit/log level={logged}"));
        pty.wait_for(" of 1\r\n");
        pty.wait_for(READY);
        if pty.written()[before..].contains(told) {
            return;
        }
    }
    panic!("the level was not set:\n{}", pty.screen());
}

/// A prompt that knows what the server offers.
fn open_and_list(home: &Home) -> Pty {
    let mut pty = open(home);
    enter(&mut pty, "prompts kit");
    pty.wait_for("travel(country, city?)");
    pty.wait_for(READY);
    pty
}

#[test]
fn tab_completes_an_argument_and_another_that_hangs_on_it() {
    for era in ERAS {
        let home = home(era);
        let mut pty = open_and_list(&home);
        let line = "prompt kit/travel country=France";
        tab(&mut pty, "prompt kit/travel country=F", line);
        // In all countries there are two cities that begin so.
        tab(&mut pty, "city=P", &format!("{line} city=Paris"));
        enter(&mut pty, "");
        pty.wait_for("Please plan a journey to Paris in France.");
        pty.wait_for(READY);
        let line = "prompt kit/travel country=Jordan city=P";
        tab(&mut pty, line, &format!("{line}etra"));
        enter(&mut pty, "");
        pty.wait_for("Please plan a journey to Petra in Jordan.");
        leave(pty);
    }
}

#[test]
fn tab_completes_what_a_template_has_left_open() {
    for era in ERAS {
        let home = home(era);
        let mut pty = open_and_list(&home);
        let line = "read kit note://{topic}/{number} topic=";
        tab(&mut pty, &format!("{line}t"), &format!("{line}trees"));
        tab(&mut pty, "number=99", &format!("{line}trees number=99"));
        enter(&mut pty, "");
        pty.wait_for("This is note 99 about trees.");
        leave(pty);
    }
}

#[test]
fn what_can_be_completed_is_got_and_read_by_plain_commands() {
    for era in ERAS {
        let home = home(era);
        let prompt = home.run(&["prompt", "kit/travel", "country=Japan", "city=Kyoto"]);
        let said = "Please plan a journey to Kyoto in Japan.";
        assert!(
            prompt.code == Some(0) && prompt.stdout.contains(said),
            "{prompt:?}"
        );
        let args = [
            "read",
            "kit",
            "note://{topic}/{number}",
            "topic=birds",
            "number=7",
        ];
        let note = home.run(&args);
        assert_eq!(
            (note.code, note.stdout.as_str()),
            (Some(0), "This is note 7 about birds.\n")
        );
        let gone = home.run(&["read", "kit", "note://birds/121"]);
        assert_ne!(gone.code, Some(0), "{gone:?}");
    }
}

const FILE: &str = "file:///readme.txt";

#[test]
fn a_resource_is_watched_while_others_change_it() {
    for era in ERAS {
        let serving = Serving::start(&["--growing", "--era", era]);
        let home = Home::new();
        let file = json!({"mcpServers": {"kit": {"url": serving.url()}}});
        home.write("config/switchboard/mcp.json", &file.to_string());
        let mut pty = run(&home, &["watch", "kit", FILE, "--read"]);
        changed(&home, &mut pty, "first");
        pty.send(b"\x03");
        assert_eq!(pty.finish().0, 130);
        let mut pty = open(&home);
        enter(&mut pty, &format!("watch kit {FILE} --read"));
        changed(&home, &mut pty, "second");
        pty.send(b"\x03");
        leave(pty);
    }
}

/// Changes it until whoever watches says so: when the server was told of them nobody knows.
fn changed(home: &Home, pty: &mut Pty, text: &str) {
    let shown = format!("{FILE}\r\n{text} time\r\n");
    let (uri, text) = (format!("uri={FILE}"), format!("text={text} time"));
    for _ in 0..1000 {
        let run = home.run(&["call", "kit/touch_resource", &uri, &text]);
        assert_eq!(run.code, Some(0), "{run:?}");
        if pty.written().contains(&shown) {
            return pty.wait_for(&shown);
        }
    }
    panic!("nothing was told:\n{}", pty.screen());
}

#[test]
fn progress_is_a_bar() {
    for era in ERAS {
        let home = home(era);
        let mut pty = run(
            &home,
            &["call", "kit/slow_operation", "duration=1.6", "steps=4"],
        );
        pty.wait_for("calling kit/slow_operation [#");
        pty.wait_for("finished 4 steps");
        ends(pty);
        let mut pty = open(&home);
        enter(&mut pty, "call kit/slow_operation duration=1.6 steps=4");
        pty.wait_for("calling kit/slow_operation [#");
        pty.wait_for("finished 4 steps");
        leave(pty);
    }
}
