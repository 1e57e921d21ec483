"""The files of an export: NDJSON and CSV, which can be continued, and Parquet, which cannot."""

import csv
import io
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import orjson

from app.core.wire.encoder import object_dump
from app.core.wire.schemas import Schema
from app.exports.columns import Column, Kind, arrow_values, columns_of, csv_cell


class Format(StrEnum):
    """A file format, by its file name extension."""

    NDJSON = "ndjson"
    CSV = "csv"
    PARQUET = "parquet"


class ItemFile(Protocol):
    """A file that items are added to."""

    def write(self, items: Sequence[Any]) -> None:
        """Add items."""

    def sync(self) -> int:
        """Wait until everything is on the disk, and return the size in bytes."""

    def close(self) -> None:
        """Complete the file, and wait until it is on the disk; do nothing where that is done."""


class TextFile:
    """A file of lines, which is continued at `offset`; what is behind that is cut off."""

    def __init__(self, path: Path, header: bytes, encode: Callable[[Sequence[Any]], bytes], offset: int) -> None:
        self._encode = encode
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        self._file.truncate(offset)
        self._file.seek(offset)
        if offset == 0:
            self._file.write(header)

    def write(self, items: Sequence[Any]) -> None:
        """Add items."""
        self._file.write(self._encode(items))

    def sync(self) -> int:
        """Wait until everything is on the disk, and return the size in bytes."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Complete the file, and wait until it is on the disk."""
        if not self._file.closed:
            self.sync()
            self._file.close()


class ParquetFile:
    """A Parquet file, whose row groups are what is written at a time."""

    def __init__(self, path: Path, columns: Sequence[Column], dump: Callable[[Any], Any]) -> None:
        # The library takes longer to import than most commands run.
        import pyarrow as pa  # noqa: PLC0415  # see the line above
        import pyarrow.parquet as pq  # noqa: PLC0415  # as above

        types = {
            Kind.TEXT: pa.string(),
            Kind.INSTANT: pa.timestamp("us", tz="UTC"),
            Kind.DATE: pa.date32(),
            Kind.INTEGER: pa.int64(),
            Kind.NUMBER: pa.float64(),
            Kind.FLAG: pa.bool_(),
            Kind.JSON: pa.string(),
        }
        self._columns, self._dump = columns, dump
        self._schema = pa.schema([(column.name, types[column.kind]) for column in columns])
        self._make_table = pa.table
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")

    def write(self, items: Sequence[Any]) -> None:
        """Add items as one row group."""
        objects = [self._dump(item) for item in items]
        values = {
            column.name: arrow_values(column.kind, [entry[column.name] for entry in objects])
            for column in self._columns
        }
        self._writer.write_table(self._make_table(values, schema=self._schema))

    def sync(self) -> int:
        """Return the size in bytes; what is there is no Parquet file before it is closed."""
        return self._file.tell()

    def close(self) -> None:
        """Complete the file, and wait until it is on the disk."""
        if not self._file.closed:
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


class LineEncoder:
    """The lines of a file with the fields of a schema: CSV under a header, or NDJSON."""

    def __init__(self, format_: Format, schema: type[Schema]) -> None:
        self._dump, self._columns = object_dump(schema()), columns_of(schema())
        self.header = _csv([[column.name for column in self._columns]]).encode() if format_ is Format.CSV else b""
        """The first line, empty where there is none."""
        self.encode = self._csv_lines if format_ is Format.CSV else self._json_lines
        """Returns the lines of items."""

    def _csv_lines(self, items: Sequence[Any]) -> bytes:
        objects = map(self._dump, items)
        return _csv([[csv_cell(kind, entry[name]) for name, kind in self._columns] for entry in objects]).encode()

    def _json_lines(self, items: Sequence[Any]) -> bytes:
        return b"".join(map(_line, map(self._dump, items)))


def open_file(path: Path, format_: Format, schema: type[Schema], offset: int = 0) -> ItemFile:
    """Create a file, or continue a file of lines at an offset."""
    if format_ is Format.PARQUET:
        return ParquetFile(path, columns_of(schema()), object_dump(schema()))
    encoder = LineEncoder(format_, schema)
    return TextFile(path, encoder.header, encoder.encode, offset)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _line(entry: Any) -> bytes:
    return orjson.dumps(entry, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)


def _csv(rows: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()
