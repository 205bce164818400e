//! What happens in a host, for whoever wants to know.
