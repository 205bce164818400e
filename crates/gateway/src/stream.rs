//! Clients on byte streams: standard input and output, Unix sockets.
