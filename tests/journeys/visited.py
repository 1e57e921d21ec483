"""A site with a real nginx, everybody who comes to it, and a count by hand of what that should amount to."""

import re
import socket
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from tests.journeys.nginx import Nginx
from tests.journeys.stack import wait_until
from tests.journeys.visitors import AGENTS, ASSISTANTS, CLIENTS, GOOGLEBOT, NO_AGENTS, NO_ASSISTANTS, OPENAI, Visit

SECRET_PAGE = "/private/report-8843.html"
SECRET_QUERY = "customer=jane-8843"
PAGE_MOUNTS = {"index.html": "<h1>Shop</h1>", "guide.html": "<h1>Guide</h1>"}
REQUEST_PATHS = ("/", "/guide.html", SECRET_PAGE)

ATTESTED = "published_ip_range"

Counts = dict[str, Counter[str]]


@dataclass
class Site:
    """An nginx, and everything that was asked of it."""

    nginx: Nginx
    visits: list[Visit] = field(default_factory=list)

    def receive(self, visits: Iterable[Visit]) -> None:
        """Make requests, each with its number in the query, by one client after the other."""
        for visit in visits:
            number = len(self.visits)
            self.visits.append(visit)
            separator = "&" if "?" in visit.page else "?"
            url = f"{self.nginx.url}{visit.page}{separator}visit={number}&{SECRET_QUERY}"
            CLIENTS[number % len(CLIENTS)](url, visit)
        # nginx answers first and writes after.
        wait_until(lambda: sorted(self.numbers()) == list(range(len(self.visits))), 30)

    def receive_noise(self) -> None:
        """Send what is no HTTP; it is in the log all the same."""
        with socket.create_connection(("127.0.0.1", urlsplit(self.nginx.url).port or 0), timeout=30) as connection:
            connection.sendall(b"GPTBot/1.2 https://chatgpt.com/\r\n\r\n")
            while connection.recv(4096):
                pass
        wait_until(lambda: any('"GPTBot/1.2 ' in line for line in self.nginx.lines()), 30)

    def numbers(self) -> list[int]:
        matches = (re.search(r"[?&]visit=(\d+)&", line) for line in self.nginx.lines())
        return [int(number[1]) for number in matches if number]

    def counts(self) -> Counts:
        """Count by hand: each line of the log is one of the requests that were made, and it is known what that was."""
        counts: Counts = defaultdict(Counter)
        for line in self.nginx.lines():
            number = re.search(r"[?&]visit=(\d+)&", line)
            visit = self.visits[int(number[1])] if number else Visit()
            if not (visit.agent or visit.assistant):
                continue
            day = datetime.strptime(line.split("[")[1].split("]")[0], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
            counts["totals"]["events"] += 1
            if visit.agent:
                counts["totals"]["fetches"] += 1
                counts["byActorProvider"][visit.agent[0]] += 1
                counts["byFetchClass"][visit.agent[1]] += 1
                counts["byEvidenceTier"]["source_attested" if visit.is_attested else "claimed"] += 1
                counts["fetches"][day.date().isoformat()] += 1
            if visit.is_attested:
                counts["byNetworkEvidenceMethod"][ATTESTED] += 1
            if visit.assistant:
                counts["totals"]["referrals"] += 1
                counts["byReferralProvider"][visit.assistant] += 1
                counts["referrals"][day.date().isoformat()] += 1
        return dict(counts)

    @property
    def events(self) -> int:
        return self.counts()["totals"]["events"]


def many_visits() -> Iterator[Visit]:
    """Everybody: agents as they are and as they pretend to be, people from assistants, and others."""
    for place, (user_agent, provider, fetch_class) in enumerate(AGENTS):
        agent, page = (provider, fetch_class), REQUEST_PATHS[place % len(REQUEST_PATHS)]
        yield Visit(user_agent, page=page, agent=agent)
        yield Visit(user_agent, page=page, agent=agent, method="HEAD", address=OPENAI, is_attested=provider == "openai")
        is_googlebot = "Googlebot" in user_agent
        yield Visit(user_agent, page=page, agent=agent, address=GOOGLEBOT, is_attested=is_googlebot)
        yield Visit(user_agent, ASSISTANTS[0][0], "POST", page, OPENAI)
    for place, (referrer, assistant) in enumerate(ASSISTANTS):
        page = REQUEST_PATHS[place % len(REQUEST_PATHS)]
        yield Visit(referrer=referrer, page=page, assistant=assistant, address=OPENAI)
        yield Visit(NO_AGENTS[place], referrer, page=page, assistant=assistant)
        user_agent, *agent = AGENTS[place]
        yield Visit(user_agent, referrer, page=page, agent=(agent[0], agent[1]), assistant=assistant)
    # What is asked for may name what the visitor does not.
    for page in ("/", "/?about=GPTBot,chatgpt.com,claude.ai"):
        yield from (Visit(user_agent, page=page, address=OPENAI) for user_agent in NO_AGENTS)
        yield from (Visit(referrer=referrer, page=page) for referrer in NO_ASSISTANTS)
    yield from (Visit(page=page) for page in ("/GPTBot/1.2", "/?utm_source=https://chatgpt.com/", "/(GPTBot;)"))
    yield Visit(method="DELETE", user_agent=AGENTS[0][0])


def few_visits(times: int) -> list[Visit]:
    agents = [Visit(text, agent=(provider, purpose)) for text, provider, purpose in AGENTS[:times]]
    return [*agents, *(Visit(referrer=page, assistant=name) for page, name in ASSISTANTS[:times]), Visit()]
