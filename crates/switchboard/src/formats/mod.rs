//! Tools and results as the APIs of models want them.
