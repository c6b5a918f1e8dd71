//! The durable record of a Session's events and actions.
