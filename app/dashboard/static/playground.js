// The page plays the agent itself; the company's part is played by the service with the demo key.

const WAIT_MS = 250;
const TRIES = 20;

const state = {};
const byId = (id) => document.getElementById(id);

async function call(method, url, { authorization, body } = {}) {
  const headers = authorization ? { Authorization: authorization } : {};
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

// The review may be seen before the telemetry; until then nobody knows how the interaction was delivered.
const isWhole = (record) => record?.classification === "confirmed" && record.surface !== "unknown";

function show(step, parts, isDone = true) {
  const result = byId(step).querySelector(".result");
  result.replaceChildren(
    ...parts.flatMap(([title, content]) => {
      const heading = Object.assign(document.createElement("h3"), { textContent: title });
      const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
      return [heading, Object.assign(document.createElement("pre"), { textContent: text })];
    }),
  );
  byId(step).className = isDone ? "done" : "failed";
}

const steps = {
  async product() {
    const { answer } = await call("POST", "/playground/product");
    state.interactionId = answer.interactionId;
    state.submit = answer.answer._agentFeedback.submitOutcome;
    show("product", [["Request", answer.request], [`Answer ${answer.status}`, answer.answer]]);
    return true;
  },

  async telemetry() {
    const { answer } = await call("POST", `/playground/telemetry/${state.interactionId}`);
    const isDone = answer.status === 202;
    show("telemetry", [
      ["Request", `${answer.request}\nAuthorization: ${answer.authorization}\n\n${JSON.stringify(answer.body, null, 2)}`],
      [`Answer ${answer.status}`, answer.answer],
    ], isDone);
    return isDone;
  },

  async review() {
    const body = { outcome: byId("outcome").value, note: byId("note").value };
    const { status, answer } = await call(state.submit.method, state.submit.url, {
      authorization: state.submit.authorization,
      body,
    });
    const shown = `${state.submit.method} ${state.submit.url}\nAuthorization: ${state.submit.authorization.slice(0, 24)}…`;
    show("review", [["Request", `${shown}\n\n${JSON.stringify(body, null, 2)}`], [`Answer ${status}`, answer]], status === 200);
    return status === 200;
  },

  async stored() {
    let answer = null;
    for (let tries = 0; tries < TRIES && !isWhole(answer); tries += 1) {
      if (tries) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      ({ answer } = await call("GET", `/playground/interactions/${state.interactionId}`));
    }
    const isDone = isWhole(answer);
    show("stored", [["Record", answer ?? "nothing yet"]], isDone);
    byId("verdict").textContent = isDone ? "The interaction is confirmed." : "Not confirmed yet; is the worker running?";
    return isDone;
  },
};

async function run(step) {
  const isDone = await steps[step]().catch((error) => {
    show(step, [["Failed", String(error)]], false);
    return false;
  });
  for (const button of document.querySelectorAll("[data-step]")) {
    button.disabled = !state.interactionId && button.dataset.step !== "product";
  }
  return isDone;
}

for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => run(button.dataset.step));
}

byId("run").addEventListener("click", async () => {
  byId("verdict").textContent = "";
  for (const step of Object.keys(steps)) {
    if (!(await run(step))) return;
  }
});
