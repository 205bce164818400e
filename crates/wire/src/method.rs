//! One method, one type.

use serde::Serialize;

use crate::{FromRaw, RawError};

/// A request: its name on the wire, its parameters and its result.
pub trait Method {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// Whether a modern server may answer with `input_required`.
    const ROUNDS: bool = false;
    /// What is sent. `_meta` is not part of it: the session owns that member.
    type Params: Serialize + Sync;
    /// What comes back.
    type Result: FromRaw;

    /// Writes the parameters as JSON.
    ///
    /// # Errors
    /// When they have no JSON form.
    fn write_params(params: &Self::Params, out: &mut Vec<u8>) -> Result<(), RawError> {
        Ok(serde_json::to_writer(out, params)?)
    }
}

/// A question of a server: its name on the wire, its parameters and our answer.
///
/// Legacy servers ask it as a request; modern ones inside an `input_required` result.
pub trait Ask {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// What is asked.
    type Params: FromRaw;
    /// What we answer.
    type Result: Serialize;
}

/// A notification: its name on the wire and its parameters.
pub trait Notice {
    /// The notification's name on the wire.
    const NAME: &'static str;
    /// What it carries.
    type Params;
}

/// Declares a request type: `method! { /// doc  CallTool = "tools/call", Params => Result }`.
macro_rules! method {
    ($(#[$meta:meta])* $Name:ident = $wire:literal, $Params:ty => $Result:ty $(, rounds = $rounds:literal)? $(, write = $write:path)?) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Name;

        impl $crate::Method for $Name {
            const NAME: &'static str = $wire;
            $( const ROUNDS: bool = $rounds; )?
            type Params = $Params;
            type Result = $Result;

            $( fn write_params(params: &$Params, out: &mut Vec<u8>) -> Result<(), $crate::RawError> {
                $write(params, out)
            } )?
        }
    };
}

/// Declares a question type: `ask! { /// doc  Elicit = "elicitation/create", Params => Result }`.
macro_rules! ask {
    ($(#[$meta:meta])* $Name:ident = $wire:literal, $Params:ty => $Result:ty) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Name;

        impl $crate::Ask for $Name {
            const NAME: &'static str = $wire;
            type Params = $Params;
            type Result = $Result;
        }
    };
}

/// Declares a notification type: `notice! { /// doc  Progressed = "notifications/progress", Params }`.
macro_rules! notice {
    ($(#[$meta:meta])* $Name:ident = $wire:literal, $Params:ty) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Name;

        impl $crate::Notice for $Name {
            const NAME: &'static str = $wire;
            type Params = $Params;
        }
    };
}
