// Elements of the page. Text is always text: nothing of the data can become markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter(each => each !== null && each !== undefined && each !== false));
  return element;
}
const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const address = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;
const link = (text, ...parts) => h("a", { href: address(...parts) }, text);
const stateLabel = (state, id) => h("span", { class: `state ${state}`, id }, state === "NONE" ? "not run" : state);
const section = (id, title, ...content) => h("section", { id }, h("h2", {}, title), ...content);
const table = (attributes, heads, rows) =>
  h("div", { class: "wide" }, h("table", attributes,
    h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", { class: kind }, text)))), h("tbody", {}, rows)));

// An error ends with its fix: the line that people look for.
function errorText(text) {
  const [what, fix] = text.split("\n  fix: ");
  return h("pre", {}, what, fix && "\n  fix: ", fix && h("span", { class: "fix" }, fix));
}

function errorBox(text, result, dataset) {
  const marked = result && result.place ? Number(result.place.slice(result.place.lastIndexOf(":") + 1)) : null;
  return h("div", { class: "error" }, dataset && h("p", {}, link(dataset.name, "dataset", dataset.name)), errorText(text),
    result && result.excerpt && [
      h("p", { class: "faint" }, result.place),
      h("pre", { class: "source" }, result.excerpt.map(([line, code]) => {
        const shown = `${String(line).padStart(4)}  ${code}`;
        return [line === marked ? h("mark", {}, shown) : shown, "\n"];
      })),
    ]);
}

// The last updates as bars, oldest left: height by rows, colour by state.
function sparkline(datasets, entries) {
  const recent = runs.slice(-RECENT);
  const rows = recent.map(run => sum(entries.map(each => moved(resultOf(run, each.index)))));
  const most = Math.max(...rows, 1), height = 20;
  const bars = recent.map((run, at) => {
    const state = worst(datasets.map(each => resultOf(run, each.index).state));
    const tall = state === "NONE" ? 0 : Math.max(Math.round(height * rows[at] / most), state === "FAILED" ? 10 : 3);
    return s("rect", { x: at * 8, y: height - tall, width: 6, height: tall, class: rows[at] || state !== "COMPLETED" ? state : "IDLE" },
      s("title", {}, `${moment(run.started)}: ${state}, ${plural(rows[at], "row")}`));
  });
  return s("svg", { class: "spark", width: RECENT * 8, height, role: "img", "aria-label": "rows of the last updates" }, bars);
}
