// What makes pages nicer with JavaScript; everything works without it.

// Instants in the reader's zone; UTC stays as the title.
const thisYear = new Date().getFullYear();
function write(element) {
  const moment = new Date(element.dateTime);
  const options = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  // As the server writes it, whatever the browser's language: 3 Sep, 14:05.
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-US", options).formatToParts(moment).map((part) => [part.type, part.value]));
  const year = moment.getFullYear() === thisYear ? "" : ` ${parts.year}`;
  const seconds = "seconds" in element.dataset ? `:${parts.second}` : "";
  element.textContent = `${parts.day} ${parts.month}${year}, ${parts.hour}:${parts.minute}${seconds}`;
}
function localize(root) {
  root.querySelectorAll("time[datetime]").forEach(write);
}
localize(document);

// Copy the text of an element; where the browser does not allow that, select it.
async function copy(event) {
  const button = event.currentTarget;
  const element = document.querySelector(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(element.textContent.trim());
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(element);
    button.textContent = "Selected, now copy it";
  }
}
function offerCopies(root) {
  for (const button of root.querySelectorAll("[data-copy][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", copy);
  }
}
offerCopies(document);
document.body.addEventListener("htmx:load", (event) => {
  localize(event.detail.elt);
  offerCopies(event.detail.elt);
});

// A list is walked with j and k; Enter opens the focused link, and in the list of feedback e opens it where it is triaged.
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
  else if (event.key === "e" && rows[selected]?.closest("[data-keyboard=triage]")) location.assign(rows[selected].querySelector("a").href + "#triage");
});

// One box ticks all rows of its form.
for (const box of document.querySelectorAll("[data-tick-all]")) {
  box.closest("label").hidden = false;
  box.addEventListener("change", () => {
    for (const other of box.form.querySelectorAll("[name=item]")) other.checked = box.checked;
  });
}
