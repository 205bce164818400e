//! Questions for a person.
