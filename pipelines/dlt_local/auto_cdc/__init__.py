"""AUTO CDC on open-source Delta: arguments, checks, the pure fold of events into versions, and the one handler with effects."""
