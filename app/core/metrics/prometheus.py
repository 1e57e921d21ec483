"""The metrics of one process, by prometheus_client.

Under gunicorn a process counts in mapped files that every process reads, each in those of its slot. The file of another
program, and of a test, is its own memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess, values
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from app.core.metrics.families import FAMILIES, REQUEST_DURATION, REQUESTS, Family, Kind
from app.core.metrics.readings import Distribution, Reading
from config import web_metrics

OTHER = "other"

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
"""Those that a label may have: a client can send any word."""


class PrometheusMetrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self._folder = web_metrics.files_folder()
        if self._folder:
            values.ValueClass = values.MultiProcessValue(web_metrics.own_slot)  # type: ignore[no-untyped-call]  # it has no types
        self._registry = CollectorRegistry()
        self._metrics = {
            family.name: _create(family, self._registry) for family in FAMILIES.values() if family.is_counted
        }
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def count(self, family: Family, *labels: str, amount: float = 1) -> None:
        """Add to a counter or gauge."""
        self._child(family, labels).inc(amount)

    def observe(self, family: Family, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        self._child(family, labels).observe(value)

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and observe its duration."""
        counter, histogram = self._children.get((route, method, status)) or self._find_children(route, method, status)
        counter.inc()
        histogram.observe(seconds)

    def format(self, readings: Sequence[Reading], zeros: Sequence[Reading]) -> bytes:
        """Return what all processes have counted, and readings, in Prometheus' text format.

        `zeros` are the counters that are there before anything has counted them.
        """
        counted_registry = self._registry
        if self._folder:
            counted_registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(counted_registry, path=self._folder)  # type: ignore[no-untyped-call]  # it has no types
        registry = CollectorRegistry()
        registry.register(_Counted(counted_registry, zeros))
        registry.register(_Readings(readings))
        return generate_latest(registry)

    def _child(self, family: Family, labels: tuple[str, ...]) -> Any:
        metric = self._metrics[family.name]
        return metric.labels(*labels) if labels else metric

    def _find_children(self, route: str, method: str, status: int) -> tuple[Any, Any]:
        method = method if method in _METHODS else OTHER
        children = self._child(REQUESTS, (route, method, str(status))), self._child(REQUEST_DURATION, (route, method))
        self._children[route, method, status] = children
        return children


class _Counted(Collector):
    """What processes have counted, and every family and counter that is declared and that none has counted yet."""

    def __init__(self, registry: CollectorRegistry, zeros: Iterable[Reading]) -> None:
        self._registry, self._zeros = registry, zeros

    def collect(self) -> Iterator[Metric]:
        """Yield each family with its metrics."""
        metrics = {metric.name: metric for metric in self._registry.collect()}
        for family in FAMILIES.values():
            if family.is_counted:
                name = _metric_name(family)
                metrics.setdefault(name, Metric(name, family.description, family.kind))
        for family, _, labels in self._zeros:
            metric, label_values = metrics[_metric_name(family)], dict(zip(family.labels, labels, strict=True))
            if not any(sample.labels == label_values for sample in metric.samples if sample.name == family.name):
                metric.add_sample(family.name, label_values, 0)
        yield from metrics.values()


class _Readings(Collector):
    """Readings as prometheus_client takes them, and every declared family of which there is none."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        """Yield each family with its metrics."""
        metrics: dict[str, Any] = {
            family.name: _READ_TYPES[family.kind](family.name, family.description, labels=family.labels)
            for family in FAMILIES.values()
            if not family.is_counted
        }
        for family, value, labels in self._readings:
            if isinstance(value, Distribution):
                metrics[family.name].add_metric(labels, _cumulative(family, value), value.total)
            else:
                metrics[family.name].add_metric(labels, value)
        yield from metrics.values()


_READ_TYPES: dict[Kind, Callable[..., Metric]] = {
    Kind.COUNTER: CounterMetricFamily,
    Kind.GAUGE: GaugeMetricFamily,
    Kind.HISTOGRAM: HistogramMetricFamily,
}


def _metric_name(family: Family) -> str:
    """Return the name that prometheus_client has for a family: that of a counter is without its suffix."""
    return family.name.removesuffix("_total") if family.kind is Kind.COUNTER else family.name


def _cumulative(family: Family, distribution: Distribution) -> list[tuple[str, float]]:
    """Return the upper bound of each bucket with the number of values below it."""
    bounds = [*map(str, family.buckets), "+Inf"]
    sums = [sum(distribution.counts[: position + 1]) for position in range(len(bounds))]
    return list(zip(bounds, map(float, sums), strict=True))


def _create(family: Family, registry: CollectorRegistry) -> Any:
    if family.kind is Kind.HISTOGRAM:
        return Histogram(family.name, family.description, family.labels, registry=registry, buckets=family.buckets)
    if family.kind is Kind.GAUGE:
        return Gauge(family.name, family.description, family.labels, registry=registry, multiprocess_mode="livesum")
    return Counter(family.name, family.description, family.labels, registry=registry)
