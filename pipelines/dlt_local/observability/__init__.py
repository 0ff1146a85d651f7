"""What an update reports: event log, progress, report page, graph drawing; secrets are redacted everywhere."""
