"""Webhooks: events are sent to addresses, signed, in order and at least once."""
