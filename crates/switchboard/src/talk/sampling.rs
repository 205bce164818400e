//! Questions for a model.
