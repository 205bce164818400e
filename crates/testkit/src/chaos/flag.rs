//! The table of all faults.

use std::fmt;

/// The group of a fault: the place where it shows.
///
/// In the order in which faults are applied: messages are changed before they are put into lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Before the first answer, and in what belongs to the process.
    Start,
    /// In the lists of what is offered.
    Lists,
    /// In calls of tools.
    Calls,
    /// In the messages.
    Rpc,
    /// In the lines that carry them.
    Framing,
    /// In the HTTP that carries them.
    Http,
}

impl Group {
    /// The heading of a group.
    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Framing => "Framing",
            Self::Rpc => "JSON-RPC",
            Self::Lists => "Lists",
            Self::Calls => "Calls",
            Self::Http => "HTTP",
        }
    }
}

/// The argument that a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// The tool whose calls it applies to; all tools without one.
    Tool,
    /// A number: its unit, and its default.
    Number(&'static str, u64),
    /// A number, and after an `@` the tool.
    NumberAndTool(&'static str, u64),
}

macro_rules! flags {
    ($( $group:ident $flag:ident $name:literal $takes:expr, $about:literal; )*) => {
        /// One fault of a server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Flag {
            $( #[doc = $about] $flag, )*
        }

        impl Flag {
            /// All of them, group by group.
            pub const ALL: &[Self] = &[$( Self::$flag, )*];

            /// The name on the command line; a final `N` stands for a number.
            pub fn name(self) -> &'static str {
                match self { $( Self::$flag => $name, )* }
            }

            /// The group.
            pub fn group(self) -> Group {
                match self { $( Self::$flag => Group::$group, )* }
            }

            /// The argument that it takes.
            pub fn takes(self) -> Takes {
                match self { $( Self::$flag => $takes, )* }
            }

            /// The effect, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $( Self::$flag => $about, )* }
            }
        }
    };
}

impl Flag {
    /// Returns true if a server over stdio supports it.
    pub fn over_stdio(self) -> bool {
        self.group() != Group::Http
    }

    /// Returns true if a server over HTTP supports it: not the faults of pipes.
    pub fn over_http(self) -> bool {
        match self.group() {
            Group::Http | Group::Lists => true,
            Group::Rpc => self != Self::ReplyToCancelled,
            Group::Start => !matches!(
                self,
                Self::HoldPipes | Self::IgnoreTerm | Self::IgnoreEof | Self::ForkOnTerm
            ),
            Group::Framing => !matches!(
                self,
                Self::NoiseBefore | Self::NulBytes | Self::NeverNewline
            ),
            Group::Calls => !matches!(
                self,
                Self::CloseStdout | Self::CloseStdin | Self::StopReading | Self::StderrFlood
            ),
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

use Takes::{Nothing, Number, NumberAndTool, Tool};

flags! {
    Start Exit0 "exit-0" Nothing, "Exits with status 0 before it reads anything.";
    Start ExitN "exit-N" Number("STATUS", 1), "Exits with status N before it reads anything.";
    Start CrashAfterInit "crash-after-init" Nothing, "Crashes once it has answered `initialize` or `server/discover`.";
    Start SlowStart "slow-start" Number("SECONDS", 5), "Waits before it reads anything.";
    Start ExitOnProbe "exit-on-probe" Nothing, "Exits with status 1 when it is asked for `server/discover`.";
    Start SilentOnProbe "silent-on-probe" Nothing, "Does not answer `server/discover`.";
    Start ForkChild "fork-child" Number("SECONDS", 3600), "Starts a child that lives that long, whatever becomes of the server.";
    Start ForkSetsid "fork-setsid" Number("SECONDS", 3600), "Starts a child in a session of its own.";
    Start DoubleFork "double-fork" Number("SECONDS", 3600), "Starts a child in a session of its own, whose parent is gone.";
    Start HoldPipes "hold-pipes" Number("SECONDS", 3600), "Starts a child that holds stdin, stdout and stderr open.";
    Start IgnoreTerm "ignore-term" Nothing, "Ignores SIGTERM.";
    Start IgnoreEof "ignore-eof" Nothing, "Does not end when stdin does.";
    Start ForkOnTerm "fork-on-term" Number("SECONDS", 3600), "Ignores the end of stdin; starts a child when it gets SIGTERM, and exits.";
    Framing NoiseBefore "noise-before" Number("LINES", 3), "Writes lines of text before its first message.";
    Framing NoiseBetween "noise-between" Nothing, "Writes a line of text before each message.";
    Framing InvalidUtf8 "invalid-utf8" Tool, "Puts bytes that are not UTF-8 into the answer to a call.";
    Framing Bom "bom" Nothing, "Begins its output with a byte order mark.";
    Framing Crlf "crlf" Nothing, "Ends each line with a carriage return and a newline.";
    Framing BlankLines "blank-lines" Number("LINES", 2), "Writes empty lines before each message.";
    Framing SplitEveryByte "split-every-byte" Nothing, "Writes each byte separately.";
    Framing TwoPerLine "two-per-line" Tool, "Puts a notification on the line of the answer to a call, behind it.";
    Framing NulBytes "nul-bytes" Nothing, "Writes a line of NUL bytes before each message.";
    Framing HugeLine "huge-line" NumberAndTool("MIB", 64), "Answers the first call with a line of that many MiB.";
    Framing NeverNewline "never-newline" Tool, "Ends no line any more, from the answer to the first call on.";
    Framing Deep "deep" NumberAndTool("LEVELS", 100_000), "Answers the first call with arrays nested that deep.";
    Framing DupKeys "dup-keys" Tool, "Writes `id` and `result` of the answer to a call twice, with another result first.";
    Framing CaseKeys "case-keys" Tool, "Writes the members of the answer to a call as `Id`, `Result` and `Error`.";
    Framing Batch "batch" Tool, "Wraps the answer to a call into an array.";
    Rpc NoReply "no-reply" Tool, "Does not answer a call.";
    Rpc ReplyTwice "reply-twice" Tool, "Answers a call twice.";
    Rpc WrongId "wrong-id" Tool, "Answers a call under an id that was never used.";
    Rpc StringId "string-id" Tool, "Answers a call with its number as a string.";
    Rpc FloatId "float-id" Tool, "Answers a call with its number as a fraction, such as 7.0.";
    Rpc NullId "null-id" Tool, "Answers a call under the id null.";
    Rpc OtherInflightId "other-inflight-id" Tool, "Answers a call under the id of another request that waits, if there is one.";
    Rpc ResultAndError "result-and-error" Tool, "Answers a call with a result and an error at once.";
    Rpc Neither "neither" Tool, "Answers a call with neither a result nor an error.";
    Rpc ReplyToCancelled "reply-to-cancelled" Tool, "Answers a call after it was cancelled.";
    Rpc OutOfOrder "out-of-order" NumberAndTool("MS", 200), "Answers a call after the next request, or after that many milliseconds.";
    Rpc UnknownResultType "unknown-result-type" Tool, "Answers a call with a `resultType` that does not exist.";
    Rpc RequestFlood "request-flood" NumberAndTool("COUNT", 1000), "Makes that many `roots/list` requests before it answers a call.";
    Rpc PingFlood "ping-flood" NumberAndTool("COUNT", 1000), "Makes that many pings before it answers a call.";
    Lists RepeatCursor "repeat-cursor" Nothing, "Ends each page of the tools with the same cursor.";
    Lists CycleCursor "cycle-cursor" Nothing, "Ends the pages of the tools with two cursors in turn.";
    Lists EndlessCursor "endless-cursor" Nothing, "Has one more page of tools after each, with a new cursor and a new tool.";
    Lists EmptyCursor "empty-cursor" Nothing, "Has two pages of tools; the cursor of the second is the empty string.";
    Lists HugeCursor "huge-cursor" Number("BYTES", 1_000_000), "Has two pages of tools; the cursor of the second is that long.";
    Lists BadItem "bad-item" Nothing, "Puts things that are no tools among the tools.";
    Lists DupNames "dup-names" Nothing, "Lists the first tool again, with another description.";
    Lists LongNames "long-names" Number("BYTES", 1000), "Lists a tool with a name that long.";
    Lists UnicodeNames "unicode-names" Nothing, "Lists tools whose names look like others or like nothing.";
    Lists ManyTools "10k-tools" Number("COUNT", 10_000), "Offers that many tools.";
    Lists ListChangedStorm "list-changed-storm" Number("COUNT", 10_000), "Says that many times that the tools have changed, after it first listed them.";
    Calls Delay "delay" NumberAndTool("SECONDS", 1), "Answers a call that much later.";
    Calls DieOnCall "die-on-call" Tool, "Exits with status 1 in place of answering a call.";
    Calls DieAfterN "die-after-N" Number("CALLS", 1), "Exits with status 1 once it has answered N calls.";
    Calls CloseStdout "close-stdout" Tool, "Closes stdout in place of answering a call, and reads on.";
    Calls CloseStdin "close-stdin" Tool, "Answers a call, but closes stdin.";
    Calls StopReading "stop-reading" Tool, "Answers a call, but reads nothing more.";
    Calls ProgressForever "progress-forever" NumberAndTool("MS", 100), "Reports progress on a call all that many milliseconds, and never answers it.";
    Calls ProgressBackwards "progress-backwards" Tool, "Reports progress on a call backwards before it answers.";
    Calls LogFlood "log-flood" NumberAndTool("COUNT", 100_000), "Sends that many log messages before it answers a call.";
    Calls StderrFlood "stderr-flood" NumberAndTool("MIB", 64), "Writes that many MiB to stderr before it answers a call.";
    Calls BigResult "big-result" NumberAndTool("MIB", 1), "Answers a call with that many MiB of text.";
    Calls StructuredMismatch "structured-mismatch" Tool, "Answers a call with structured content that does not fit the tool's schema.";
    Calls InputRequiredForever "input-required-forever" Tool, "Asks for input on a call again and again, and never answers it.";
    Http Status "status" NumberAndTool("STATUS", 503), "Answers with this status and a page of text.";
    Http RetryAfter "429-retry-after" NumberAndTool("SECONDS", 1), "Answers every other time with status 429 and this Retry-After, beginning with the first.";
    Http Flap503 "503-flap" NumberAndTool("TIMES", 1), "Answers with status 503 that many times, then once as it should, and so on.";
    Http Forgets404 "404-session" Number("CALLS", 1), "Forgets a session after that many calls, and says so with status 404.";
    Http Forgets400 "session-400" Number("CALLS", 1), "Forgets a session after that many calls, and says so with status 400.";
    Http NoGet "405-get" Nothing, "Answers every GET with status 405.";
    Http Redirect "redirect" NumberAndTool("STATUS", 307), "Redirects to another path of the same origin, where it answers.";
    Http RedirectOtherOrigin "redirect-other-origin" NumberAndTool("STATUS", 307), "Redirects to another port, where it answers as well.";
    Http RedirectLoop "redirect-loop" NumberAndTool("STATUS", 307), "Redirects to the very same address.";
    Http RedirectChain "redirect-chain" NumberAndTool("HOPS", 20), "Redirects that many times within its origin before it answers.";
    Http RedirectDowngrade "redirect-downgrade" NumberAndTool("STATUS", 307), "Redirects to its own address with `http:`, which is a downgrade behind TLS.";
    Http RedirectToMetadata "redirect-to-metadata" NumberAndTool("STATUS", 307), "Redirects to the address at which clouds keep the secrets of a machine.";
    Http SlowHeaders "slow-headers" NumberAndTool("SECONDS", 5), "Begins its answer that much later.";
    Http SlowBody "slow-body" NumberAndTool("SECONDS", 5), "Sends the headers of its answer at once, and the body that much later.";
    Http SlowLoris "slow-loris" NumberAndTool("MS", 1000), "Sends its answer byte by byte, with that many milliseconds between two.";
    Http Truncate "truncate" Tool, "Closes the connection in the middle of the answer.";
    Http ResetMidway "reset-midway" Tool, "Resets the connection in the middle of the answer.";
    Http SseNoFinal "sse-no-final" Tool, "Ends the stream in good order, but without the answer.";
    Http SseDrop "sse-drop" Tool, "Closes the connection after an event with an id; in the legacy era the answer waits until the client resumes.";
    Http SseFlap "sse-flap" Number("TIMES", 1000), "Ends every stream of a legacy session after an event with an id, that many times in all.";
    Http SseRetry "sse-retry" NumberAndTool("MS", 500), "Ends the stream after an event with an id and this `retry`; in the legacy era the answer waits until the client resumes.";
    Http SseHugeEvent "sse-huge-event" NumberAndTool("MIB", 64), "Answers with an event of that many MiB.";
    Http SseCommentFlood "sse-comment-flood" NumberAndTool("COUNT", 1_000_000), "Sends that many comments before the answer.";
    Http GzipBomb "gzip-bomb" NumberAndTool("MIB", 1024), "Answers with a hundredth of that many MiB, which is all of it once it is unpacked.";
    Http WrongContentType "wrong-content-type" Tool, "Calls its answer a page of HTML.";
    Http Empty200 "empty-200" Tool, "Answers with status 200 and nothing.";
    Http Accepts202 "202-to-request" Tool, "Answers a request with status 202, as if it were a notification.";
    Http ForeignErrorId "foreign-error-id" Tool, "Answers with status 400 and an error under an id that is not the client's.";
    Http HugeBody "huge-body" NumberAndTool("MIB", 1024), "Answers with JSON of that many MiB.";
    Http HugeErrorBody "huge-error-body" NumberAndTool("MIB", 1024), "Answers with status 500 and that many MiB of text.";
    Http HugeHeaders "huge-headers" NumberAndTool("KIB", 1024), "Answers with that many KiB of headers.";
    Http EndpointOtherOrigin "endpoint-other-origin" Nothing, "Names another port as the place for messages; only with the older HTTP+SSE.";
}
