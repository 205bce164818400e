//! Faults of the start, and of the process.

use std::time::Duration;

use super::output::Ending;
use super::{Act, Chaos, ClientMessage, Fault, Flag, ServerMessage, process};

/// A fault of the start.
pub(super) struct Start(Chaos);

impl Start {
    pub(super) fn new(chaos: &Chaos) -> Self {
        Self(chaos.clone())
    }
}

impl Fault for Start {
    fn start(&mut self) -> Vec<Act> {
        let number = self.0.number();
        match self.0.flag() {
            Flag::Exit0 => vec![Act::End(Ending::Exit(0))],
            Flag::ExitN => {
                let status = i32::try_from(number).unwrap_or(1);
                vec![Act::End(Ending::Exit(status))]
            }
            Flag::SlowStart => vec![Act::Wait(Duration::from_secs(number))],
            flag @ (Flag::ForkChild | Flag::ForkSetsid | Flag::DoubleFork | Flag::HoldPipes) => {
                process::child(flag, number);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn on_client_message(&mut self, heard: &mut ClientMessage) {
        let request = heard.request.as_ref();
        if request.is_none_or(|request| request.method != "server/discover") {
            return;
        }
        match self.0.flag() {
            Flag::SilentOnProbe => heard.kept = true,
            Flag::ExitOnProbe => {
                heard.kept = true;
                heard.acts.push(Act::End(Ending::Exit(1)));
            }
            _ => {}
        }
    }

    fn on_server_message(&mut self, saying: &mut ServerMessage) {
        let greets = saying.answers.as_ref().is_some_and(|request| {
            ["initialize", "server/discover"].contains(&request.method.as_str())
        });
        if greets && self.0.flag() == Flag::CrashAfterInit {
            saying.after.push(Act::End(Ending::Abort));
        }
    }
}
