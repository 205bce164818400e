//! Whether a value fits a JSON schema, within bounds.
