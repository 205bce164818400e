//! Tab, where a server knows what an argument may be.

use serde_json::json;

use super::{READY, enter, home, leave, shows};
use crate::home::Home;
use crate::pty::Pty;
use crate::script::Script;

/// A server that completes, as slowly as it is told to.
const COMPLETING: &str = r#"
def initialize(request):
    info = {"name": "completing", "version": "1"}
    capabilities = {"tools": {}, "prompts": {}, "completions": {}}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})

def heard(message):
    method, params = message.get("method"), message.get("params", {})
    if method == "prompts/list":
        arguments = [{"name": "country"}, {"name": "city"}]
        answer(message, {"prompts": [{"name": "trip", "arguments": arguments}]})
    elif method == "completion/complete":
        country = params.get("context", {}).get("arguments", {}).get("country")
        if country == "slow":
            time.sleep(1.5)
        all = ["Paris", "Pau", "Lyon"] if country != "IT" else ["Pisa", "Rome"]
        values = [one for one in all if one.startswith(params["argument"]["value"])]
        answer(message, {"completion": {"values": values}})
    else:
        return
    message["method"] = "done"
    del message["id"]
"#;

/// The home lasts as long as the prompt, which notices where its files are gone.
fn open(script: &Script) -> (Home, Pty) {
    let command = script.command();
    let path = command.split('\'').nth(1).unwrap();
    // The home's own PATH leads nowhere.
    let path_here = std::env::var("PATH").unwrap();
    let entry = json!({"command": "python3", "args": [path], "env": {"PATH": path_here}});
    let home = home(&json!({"srv": entry}), &json!({}));
    let mut pty = super::open(&home);
    enter(&mut pty, "prompts srv");
    shows(&pty, "trip(");
    (home, pty)
}

#[test]
fn tab_asks_the_server_what_an_argument_of_a_prompt_may_be() {
    let script = Script::new(COMPLETING);
    let (_home, mut pty) = open(&script);
    pty.send(b"prompt srv/trip country=IT city=P\t");
    pty.wait_until(|screen| screen.trim_end().ends_with("country=IT city=Pisa"));
    pty.send(b"\x15prompt srv/trip city=Par\t");
    pty.wait_until(|screen| screen.trim_end().ends_with("trip city=Paris"));
    pty.send(b"\x15");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn a_slow_server_does_not_keep_anybody_from_typing() {
    let script = Script::new(COMPLETING);
    let (_home, mut pty) = open(&script);
    pty.send(b"prompt srv/trip country=slow city=L\t");
    pty.send(b"x");
    pty.wait_until(|screen| screen.trim_end().ends_with("city=Lx"));
    pty.send(b"\x15");
    pty.wait_until(|screen| screen.trim_end().ends_with(READY.trim_end()));
    assert_eq!(leave(pty).0, 0);
}
