// What makes pages nicer with JavaScript; everything works without it.

document.documentElement.classList.add("js");

// Instants in the reader's zone; UTC stays as the title.
const parts = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
const toMinutes = new Intl.DateTimeFormat(undefined, parts);
const toSeconds = new Intl.DateTimeFormat(undefined, { ...parts, second: "2-digit" });
function localize(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const format = "seconds" in element.dataset ? toSeconds : toMinutes;
    element.textContent = format.format(new Date(element.dateTime));
  }
}
localize(document);

// A part of a page that is looked at again every few seconds while the page is visible, until all of it is done.
const REFRESH_MS = 3000;
for (const element of document.querySelectorAll("[data-refresh]")) {
  let text = null;
  const timer = setInterval(async () => {
    if (document.hidden || element.contains(document.activeElement)) return;
    const response = await fetch(element.dataset.refresh, { signal: AbortSignal.timeout(10000) }).catch(() => null);
    if (!response?.ok || response.redirected) return;
    const newText = await response.text();
    if (newText === text) return;
    text = newText;
    const isOpen = element.querySelector("details")?.open;
    element.innerHTML = newText;
    if (isOpen) element.querySelector("details")?.setAttribute("open", "");
    localize(element);
    if (!element.querySelector(".open")) clearInterval(timer);
  }, REFRESH_MS);
}

// A choice of the scope is sent at once.
for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// Copy the text of an element; where the browser does not allow that, select it.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const element = document.querySelector(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(element.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(element);
      button.textContent = "Selected, now copy it";
    }
  });
}

// The preview of a form follows what is typed; the latest answer stays.
for (const form of document.querySelectorAll("form[data-preview]")) {
  const target = document.getElementById("preview");
  let timer, latest;
  const show = async () => {
    const request = (latest = fetch(form.dataset.preview, { method: "POST", body: new FormData(form), headers: { Accept: "text/html" } }));
    const response = await request.catch(() => null);
    const page = response && new DOMParser().parseFromString(await response.text(), "text/html");
    if (request === latest && page?.getElementById("preview")) target.innerHTML = page.getElementById("preview").innerHTML;
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 500);
  });
}

// A list is walked with j and k; Enter opens the focused link, and e opens it where it is triaged.
const rows = [...document.querySelectorAll("[data-keyboard] tbody tr, [data-keyboard] > article")];
let selected = -1;
function select(number) {
  if (!rows.length) return;
  rows[selected]?.removeAttribute("aria-selected");
  selected = Math.max(0, Math.min(rows.length - 1, number));
  rows[selected].setAttribute("aria-selected", "true");
  rows[selected].querySelector("a")?.focus({ preventScroll: true });
  rows[selected].scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j") select(selected + 1);
  else if (event.key === "k") select(selected - 1);
  else if (event.key === "e" && selected >= 0) location.assign(rows[selected].querySelector("a").href + "#triage");
});
