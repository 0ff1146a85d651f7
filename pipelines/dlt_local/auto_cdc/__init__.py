"""AUTO CDC on open-source Delta: arguments, checks, the pure fold of events, the one handler with effects."""
