//! What all servers offer, under names that models can use.
