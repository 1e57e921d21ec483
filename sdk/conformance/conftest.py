"""Which programs run, how a case gets one, and the table at the end."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from conformance import languages
from conformance.languages import Language, Program, UnusableFile
from conformance.processes import Agent, Product, Route, environment
from conformance.protocol import KEY
from conformance.recorder import Recorder, recording
from conformance.table import Table, outcome_of

Launch = Callable[..., Product]

_FIXTURE_KINDS = {"product_program": "product", "agent_program": "agent", "mcp_program": "mcp"}
_LANGUAGES = pytest.StashKey[list[Language]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--language", action="append", default=[], help="run this language only; may be repeated")
    group.addoption("--languages", type=Path, help="a file like languages.toml that says how other programs start")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--languages") or languages.OWN_LANGUAGES
    try:
        config.stash[_LANGUAGES] = languages.read_languages(path, config.getoption("--language"))
        if not hasattr(config, "workerinput"):
            for language in config.stash[_LANGUAGES]:
                languages.build(language, environment())
    except UnusableFile as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, kind in _FIXTURE_KINDS.items():
        if fixture in metafunc.fixturenames:
            programs = languages.programs(metafunc.config.stash[_LANGUAGES], kind)
            metafunc.parametrize(fixture, programs, ids=str, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        names = [str(params[fixture]) for fixture in _FIXTURE_KINDS if isinstance(params.get(fixture), Program)]
        capability = item.path.stem.removeprefix("test_").replace("_", " ")
        item.user_properties.append(("conformance", (capability, " + ".join(names))))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    yield
    table = Table()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        outcome = outcome_of(report) if isinstance(report, pytest.TestReport) else None
        if outcome:
            capability, program = dict(report.user_properties)["conformance"]
            table.add(capability, program, outcome)
    for line in ("", *table.lines()):
        terminalreporter.write_line(line)


@pytest.fixture(scope="module")
def _products(product_program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Product]]:
    """Start a product for each set of options of a module, and end all of them with it."""
    products: dict[str, Product] = {}
    failures: dict[str, str] = {}
    with ExitStack() as cleanup:

        def start(routes: Sequence[Route], options: Mapping[str, Any]) -> Product:
            name = json.dumps([routes, options])
            if name not in products:
                recorder = cleanup.enter_context(recording())
                defaults = {"apiKey": KEY, "endpoint": recorder.url}
                product = Product(
                    product_program, tmp_path_factory.mktemp("product"), routes, {**defaults, **options}, {}
                )
                cleanup.callback(product.kill)
                product.recorder = recorder
                products[name] = product
                try:
                    product.wait_until_it_listens()
                except AssertionError as error:
                    failures[name] = str(error)
            if name in failures:
                pytest.fail(failures[name], pytrace=False)
            return products[name]

        yield start


@pytest.fixture
def launch(_products: Callable[..., Product]) -> Launch:
    """Return a product with these routes and options and a clean record; a module starts it once."""

    def launch(routes: Sequence[Route], **options: Any) -> Product:
        product = _products(routes, options)
        product.flush()
        product.recorder.reset()
        return product

    return launch


@pytest.fixture
def start_alone(product_program: Program, tmp_path: Path) -> Iterator[Launch]:
    """Start a product of one's own, which is not waited for; an option that is None is left out.

    `{url}` in the values of `environ` stands for the recorder.
    """
    with ExitStack() as cleanup:

        def start(routes: Sequence[Route] = (), environ: Mapping[str, str] | None = None, **options: Any) -> Product:
            recorder = cleanup.enter_context(recording())
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            defaults = {"apiKey": KEY, "endpoint": recorder.url}
            variables = {name: value.replace("{url}", recorder.url) for name, value in (environ or {}).items()}
            given = {name: value for name, value in {**defaults, **options}.items() if value is not None}
            product = Product(product_program, folder, routes, given, variables)
            cleanup.callback(product.kill)
            product.recorder = recorder
            return product

        yield start


@pytest.fixture(scope="session")
def _agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Program], Agent]]:
    """Run each agent program once."""
    agents: dict[str, Agent] = {}
    with ExitStack() as cleanup:

        def start(program: Program) -> Agent:
            key = str(program)
            if key not in agents:
                errors = cleanup.enter_context((tmp_path_factory.mktemp("agent") / "stderr").open("wb"))
                agents[key] = Agent(program, errors)
                cleanup.callback(agents[key].end)
            return agents[key]

        yield start


@pytest.fixture(scope="session")
def agent(agent_program: Program, _agents: Callable[[Program], Agent]) -> Agent:
    """Run the agent program."""
    return _agents(agent_program)


@pytest.fixture
def customer_agent(product_program: Program, pytestconfig: pytest.Config, _agents: Callable[[Program], Agent]) -> Agent:
    """Run the agent program of the product's language, or that of another one where it has none."""
    agent_programs = languages.programs(pytestconfig.stash[_LANGUAGES], "agent")
    own = [program for program in agent_programs if program.language.name == product_program.language.name]
    if not agent_programs:
        pytest.skip("no language has an agent program")
    return _agents((own or agent_programs)[0])


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Run a recording service of one's own."""
    with recording() as recorder:
        yield recorder
