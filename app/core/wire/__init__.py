"""JSON in and out: fields, schemas, the decoder and the encoder."""
