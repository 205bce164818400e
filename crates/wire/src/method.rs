//! Traits that tie a method's name to its parameters and its result, and macros that declare them.

use serde::Serialize;

use crate::{FromRaw, RawError};

/// A request: its name on the wire, its parameters and its result.
pub trait Method {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// True if a modern server may answer with `input_required`.
    const ROUNDS: bool = false;
    /// The parameters to send. `_meta` is not part of them: the session adds that member.
    type Params: Serialize + Sync;
    /// The result to receive.
    type Result: FromRaw;

    /// Writes the parameters as JSON.
    ///
    /// # Errors
    /// Fails if they have no JSON form.
    fn write_params(params: &Self::Params, out: &mut Vec<u8>) -> Result<(), RawError> {
        Ok(serde_json::to_writer(out, params)?)
    }
}

/// A request of a server: its name on the wire, its parameters and our result.
///
/// Legacy servers send it as a request, modern ones inside an `input_required` result.
pub trait Ask {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// The parameters received.
    type Params: FromRaw;
    /// The result that we send back.
    type Result: Serialize;
}

/// A notification: its name on the wire and its parameters.
pub trait Notice {
    /// The notification's name on the wire.
    const NAME: &'static str;
    /// The parameters.
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

/// Declares a type for a server's request: `ask! { /// doc  Elicit = "elicitation/create", Params => Result }`.
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
