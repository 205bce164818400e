//! What is held of the sources, the guides and the stored inputs of this repository.

mod architecture;
mod chaos_docs;
mod docs;
mod fuzz_corpus;
mod issuer_docs;
mod markdown;
mod wording;
mod workflows;
