"""Reading the metrics of a response."""

from collections.abc import Iterator

from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

PORT = 9464
TOKEN = "a-token-of-thirty-six-characters-0123"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read_samples(text: str) -> Samples:
    """Return the values of a response by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(client: FlaskClient) -> Samples:
    """Ask an app by its token."""
    response = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200, response.text
    return read_samples(response.text)


def value(samples: Samples, name: str, **labels: str) -> float | None:
    """Return the value of one metric, None if there is no such one."""
    return samples.get((name, frozenset(labels.items())))


def names(samples: Samples) -> Iterator[str]:
    return (name for name, _ in samples)
