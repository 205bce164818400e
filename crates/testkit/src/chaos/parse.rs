//! The textual form of faults: `FLAG`, `FLAG=ARG`, `FLAG=NUMBER@TOOL`.

use std::fmt;
use std::str::FromStr;

use super::flag::{Flag, Takes};

/// Maximum number that a flag takes: larger ones test nothing new.
const LARGEST: u64 = 1_000_000_000;

/// A fault and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chaos {
    flag: Flag,
    number: Option<u64>,
    tool: Option<String>,
}

/// A text that does not name a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChaosError(String);

impl fmt::Display for ChaosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChaosError {}

impl Chaos {
    /// The fault itself.
    pub fn flag(&self) -> Flag {
        self.flag
    }

    /// The given number, or the default.
    pub fn number(&self) -> u64 {
        let default = match self.flag.takes() {
            Takes::Nothing | Takes::Tool => 0,
            Takes::Number(_, default) | Takes::NumberAndTool(_, default) => default,
        };
        self.number.unwrap_or(default)
    }

    /// The tool whose calls it applies to; `None` for all of them.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
}

impl From<Flag> for Chaos {
    fn from(flag: Flag) -> Self {
        Self {
            flag,
            number: None,
            tool: None,
        }
    }
}

impl FromStr for Chaos {
    type Err = ChaosError;

    fn from_str(text: &str) -> Result<Self, ChaosError> {
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        // The exact name first: `exit-0` is a flag of its own beside `exit-N`.
        if let Some(flag) = Flag::ALL.iter().find(|flag| flag.name() == name) {
            return with_argument(*flag, argument);
        }
        // `exit-3`: the number is a part of the name.
        let numbered = Flag::ALL.iter().find_map(|flag| {
            let digits = name.strip_prefix(flag.name().strip_suffix('N')?)?;
            Some((*flag, digits.parse().ok()?))
        });
        match numbered {
            Some((flag, number)) if argument.is_none() => Ok(Self {
                number: Some(number),
                ..flag.into()
            }),
            Some((flag, _)) => Err(ChaosError(format!("{} takes no argument", flag.name()))),
            None => Err(ChaosError(format!("there is no fault {name}"))),
        }
    }
}

fn with_argument(flag: Flag, argument: Option<&str>) -> Result<Chaos, ChaosError> {
    let mut chaos = Chaos::from(flag);
    let Some(argument) = argument else {
        return Ok(chaos);
    };
    let name = flag.name();
    // A tool name may contain `@`, a number cannot: the first `@` separates the two.
    let (number, tool) = match flag.takes() {
        _ if name.ends_with('N') => {
            return Err(ChaosError(format!("write a number for the N of {name}")));
        }
        Takes::Nothing => return Err(ChaosError(format!("{name} takes no argument"))),
        Takes::Tool => (None, Some(argument)),
        Takes::Number(..) => (Some(argument), None),
        Takes::NumberAndTool(..) => match argument.split_once('@') {
            Some(("", tool)) => (None, Some(tool)),
            Some((number, tool)) => (Some(number), Some(tool)),
            None => (Some(argument), None),
        },
    };
    if let Some(number) = number {
        let parsed = number.parse().ok().filter(|number| *number <= LARGEST);
        chaos.number = Some(parsed.ok_or_else(|| {
            ChaosError(format!(
                "{name} takes a whole number up to {LARGEST}, not {number:?}"
            ))
        })?);
    }
    if tool == Some("") {
        return Err(ChaosError(format!("{name} takes the name of a tool")));
    }
    chaos.tool = tool.map(str::to_owned);
    Ok(chaos)
}

impl fmt::Display for Chaos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(stem), Some(number)) = (self.flag.name().strip_suffix('N'), self.number) {
            return write!(f, "{stem}{number}");
        }
        f.write_str(self.flag.name())?;
        match (self.number, &self.tool, self.flag.takes()) {
            (Some(number), Some(tool), _) => write!(f, "={number}@{tool}"),
            (Some(number), None, _) => write!(f, "={number}"),
            (None, Some(tool), Takes::Tool) => write!(f, "={tool}"),
            (None, Some(tool), _) => write!(f, "=@{tool}"),
            (None, None, _) => Ok(()),
        }
    }
}

impl Flag {
    /// The full syntax, such as `huge-line[=MIB][@TOOL]`.
    pub fn usage(self) -> String {
        let name = self.name();
        match self.takes() {
            _ if name.ends_with('N') => name.to_owned(),
            Takes::Nothing => name.to_owned(),
            Takes::Tool => format!("{name}[=TOOL]"),
            Takes::Number(what, _) => format!("{name}[={what}]"),
            Takes::NumberAndTool(what, _) => format!("{name}[={what}][@TOOL]"),
        }
    }

    /// The default number; `None` if the number is part of the name.
    pub fn default_number(self) -> Option<u64> {
        match self.takes() {
            _ if self.name().ends_with('N') => None,
            Takes::Number(_, default) | Takes::NumberAndTool(_, default) => Some(default),
            Takes::Nothing | Takes::Tool => None,
        }
    }
}

/// The table of all faults as text, one per line with the transports that support it, by group.
pub fn table() -> String {
    let mut text = String::new();
    let mut group = None;
    for flag in Flag::ALL {
        if group != Some(flag.group()) {
            if group.is_some() {
                text.push('\n');
            }
            group = Some(flag.group());
            text.push_str(flag.group().title());
            text.push('\n');
        }
        let usage = flag.usage();
        let about = flag.summary();
        let over = match (flag.over_stdio(), flag.over_http()) {
            (true, true) => "both",
            (true, false) => "stdio",
            (false, _) => "http",
        };
        text.push_str(&format!("  {usage:<34}{over:<7}{about}"));
        if let Some(default) = flag.default_number() {
            text.push_str(&format!(" [default: {default}]"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        for text in [
            "crlf",
            "no-reply",
            "no-reply=echo",
            "noise-before=7",
            "huge-line",
            "huge-line=1",
            "huge-line=1@echo",
            "huge-line=@echo",
            "exit-0",
            "exit-7",
            "die-after-3",
        ] {
            assert_eq!(text.parse::<Chaos>().unwrap().to_string(), text);
        }
        let chaos: Chaos = "huge-line=@echo".parse().unwrap();
        assert_eq!((chaos.number(), chaos.tool()), (64, Some("echo")));
    }

    #[test]
    fn every_flag_is_found_by_its_name_once() {
        for flag in Flag::ALL {
            let name = flag.name().replace("-N", "-5");
            assert_eq!(name.parse::<Chaos>().unwrap().flag(), *flag);
            let same = Flag::ALL.iter().filter(|other| other.name() == flag.name());
            assert_eq!(same.count(), 1);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, why) in [
            ("nonsense", "there is no fault nonsense"),
            ("crlf=1", "crlf takes no argument"),
            ("exit-7=1", "exit-N takes no argument"),
            ("exit-N=7", "write a number for the N of exit-N"),
            ("exit-x", "there is no fault exit-x"),
            ("no-reply=", "no-reply takes the name of a tool"),
            (
                "deep=1000000001",
                "deep takes a whole number up to 1000000000, not \"1000000001\"",
            ),
            (
                "noise-before=x",
                "noise-before takes a whole number up to 1000000000, not \"x\"",
            ),
        ] {
            assert_eq!(text.parse::<Chaos>().unwrap_err().to_string(), why);
        }
    }
}
