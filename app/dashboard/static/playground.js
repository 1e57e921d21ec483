// The page plays the agent; the service plays the demo company with the demo keys.

const RETRY_INTERVAL_MS = 250;
const MAX_TRIES = 20;
const COPIED_MS = 2000;

const state = {};
const commands = {};
const byId = (id) => document.getElementById(id);

const loops = {
  review: ["product", "telemetry", "review", "stored"],
  context: ["shop", "answer", "ranking"],
};

function element(tag, properties = {}, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

const toText = (content) => (typeof content === "string" ? content : JSON.stringify(content, null, 2));

const block = (title, content) => [
  element("h4", { textContent: title }),
  element("pre", { tabIndex: 0, textContent: toText(content) }),
];

const folded = (title, content) =>
  element("details", {}, [
    element("summary", { textContent: title }),
    element("pre", { tabIndex: 0, textContent: toText(content) }),
  ]);

// The authorization is shown shortened: others may see the screen.
const requestText = ({ method, url, authorization, body }) =>
  `${method} ${url}\nAuthorization: ${authorization}\n\n${JSON.stringify(body, null, 2)}`;

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ method, url, authorization, keyCommand, body }) {
  const lines = [`curl -X ${method} ${quoted(url)}`];
  // The company's key is read from its file when the command runs, and is not part of it.
  if (keyCommand) lines.push(`-H "Authorization: Bearer $(${keyCommand})"`);
  else if (authorization) lines.push(`-H ${quoted(`Authorization: ${authorization}`)}`);
  if (body) lines.push(`-d ${quoted(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

async function call(method, path, { authorization, body } = {}) {
  const url = new URL(path, location.href).href;
  const headers = { Accept: "application/json", ...(authorization && { Authorization: authorization }) };
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  const exchange = { method, url, authorization, body, status: response.status, answer: await response.json() };
  if (url.includes("/playground") && !response.ok) throw new Error(exchange.answer.error);
  return exchange;
}

function show(step, exchange, nodes, isDone = true) {
  byId(step).querySelector(".result").replaceChildren(...nodes);
  byId(step).className = isDone ? "done" : "failed";
  commands[step] = exchange && curl(exchange);
  document.querySelector(`[data-curl=${step}]`).hidden = !exchange;
  return isDone;
}

function showExchange(step, exchange, isDone) {
  const authorization = `${exchange.authorization.slice(0, 24).replace(/…$/, "")}…`;
  return show(
    step,
    exchange,
    [
      ...block("Request", requestText({ ...exchange, authorization })),
      ...block(`Answer ${exchange.status}`, exchange.answer),
    ],
    isDone,
  );
}

// The review may be stored before the telemetry is; until then the surface is unknown.
const isComplete = (record) => record?.classification === "confirmed" && record.surface !== "unknown";

function reviewCard({ review, classification, operation, surface }) {
  const badges = [element("span", { className: `badge ${review.outcome}`, textContent: review.outcome })];
  if (classification === "confirmed") {
    badges.push(element("span", { className: "badge confirmed", textContent: "confirmed" }));
  }
  const time = new Date(review.createdAt);
  return element("article", { className: "card" }, [
    element("p", { className: "badges" }, badges),
    element("blockquote", { textContent: review.note }),
    element("p", { className: "quiet" }, [
      `${operation} · ${surface} · `,
      element("time", { dateTime: time.toISOString(), textContent: time.toLocaleString() }),
    ]),
  ]);
}

const shoeList = (shoes) =>
  element(
    "ol",
    { className: "shoes" },
    shoes.map((shoe) =>
      element("li", {}, [
        element("strong", { textContent: shoe.name }),
        element("span", {
          className: "quiet",
          textContent:
            `€${shoe.price} · ${shoe.rating} stars · ${shoe.delivery_days} days · ` +
            `${shoe.return_days} days to return · ${shoe.recycled_percent} % recycled`,
        }),
      ]),
    ),
  );

const steps = {
  async product() {
    const exchange = await call("POST", "/playground/product");
    const { interactionId, request, status, answer } = exchange.answer;
    state.interactionId = interactionId;
    state.submit = answer._agentFeedback.submitOutcome;
    return show("product", exchange, [...block("Request", request), ...block(`Answer ${status}`, answer)]);
  },

  async telemetry() {
    const { answer } = await call("POST", `/playground/telemetry/${state.interactionId}`);
    return showExchange("telemetry", answer, answer.status === 202);
  },

  async review() {
    const body = { outcome: byId("outcome").value, note: byId("note").value };
    const { method, url, authorization } = state.submit;
    const exchange = await call(method, url, { authorization, body });
    return showExchange("review", exchange, exchange.status === 200);
  },

  async stored() {
    let exchange = null;
    for (let tries = 0; tries < MAX_TRIES && !isComplete(exchange?.answer); tries += 1) {
      if (tries) await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
      exchange = await call("GET", `/playground/interactions/${state.interactionId}`);
    }
    const record = exchange.answer;
    const isDone = isComplete(record);
    const card = record?.review ? reviewCard(record) : element("p", { textContent: "There is no review yet." });
    show("stored", exchange, [card, folded("JSON", record)], isDone);
    byId("review-status").textContent = isDone
      ? "The interaction is confirmed."
      : "Not confirmed yet; is the worker running?";
    return isDone;
  },

  async shop() {
    const { answer: shop } = await call("POST", "/playground/shoes");
    state.userRef = shop.userRef;
    state.context = shop.answer._service.customerContext;
    return show(
      "shop",
      shop.call,
      [
        ...block("Request", shop.request),
        shoeList(shop.answer.shoes),
        folded(`Request of the shop's backend: ${new URL(shop.call.url).pathname}`, requestText(shop.call)),
        folded("The shop's answer, with the request for context", shop.answer),
      ],
      shop.call.status === 200,
    );
  },

  async answer() {
    const { method, url, authorization } = state.context.submit;
    const item = {
      key: "shopping.priority",
      type: "preference",
      value: byId("priority").value,
      provenance: "agent_reports_user_statement",
      remember: true,
    };
    const exchange = await call(method, url, { authorization, body: { status: "answered", items: [item] } });
    return showExchange("answer", exchange, exchange.status === 200);
  },

  async ranking() {
    const { answer: shop } = await call("POST", `/playground/shoes/${state.userRef}`);
    const priority = shop.answer.rankedBy;
    byId("context-status").textContent = priority ? `The shoes are ranked by ${priority}.` : "No context is known yet.";
    return show(
      "ranking",
      shop.call,
      [
        shoeList(shop.answer.shoes),
        folded(`Request of the shop's backend: ${new URL(shop.call.url).pathname}`, requestText(shop.call)),
        folded("The customer's context", shop.call.answer),
      ],
      Boolean(priority),
    );
  },
};

const isReady = (step) =>
  ["product", "shop"].includes(step) || Boolean(loops.review.includes(step) ? state.interactionId : state.context?.submit);

async function run(step) {
  const isDone = await steps[step]().catch((error) => show(step, null, block("Failed", String(error)), false));
  for (const button of document.querySelectorAll("[data-step]")) button.disabled = !isReady(button.dataset.step);
  return isDone;
}

async function copy(button) {
  const command = commands[button.dataset.curl];
  try {
    await navigator.clipboard.writeText(command);
    button.textContent = "Copied";
  } catch {
    // Without HTTPS or permission there is no clipboard; the command is shown instead.
    byId(button.dataset.curl).querySelector(".result").append(...block("curl", command));
    button.textContent = "Shown below";
  }
  setTimeout(() => (button.textContent = "Copy as curl"), COPIED_MS);
}

for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => run(button.dataset.step));
}
for (const button of document.querySelectorAll("[data-curl]")) {
  button.addEventListener("click", () => copy(button));
}
for (const button of document.querySelectorAll("[data-loop]")) {
  button.addEventListener("click", async () => {
    const loop = button.dataset.loop;
    byId(`${loop}-status`).textContent = "";
    for (const step of loops[loop]) {
      if (!(await run(step))) return;
    }
  });
}
