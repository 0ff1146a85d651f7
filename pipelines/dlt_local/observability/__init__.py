"""What an update tells people: event log, progress, report, graph drawing; secrets redacted everywhere."""
