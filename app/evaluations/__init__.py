"""Reviews as OpenTelemetry events (`gen_ai.evaluation.result`)."""
