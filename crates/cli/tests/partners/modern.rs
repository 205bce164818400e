//! Servers of the modern era that others wrote: their questions come as rounds, their news by listening.
