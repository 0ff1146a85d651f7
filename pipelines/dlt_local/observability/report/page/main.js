// Which view is shown follows from the address, so that the browser's back button and links work.
function header(run) {
  const ago = (Date.now() - Date.parse(run.started)) / 1000;
  document.getElementById("header").replaceChildren(
    h("h1", {}, h("a", { href: "#/", style: "color: inherit" }, data.pipeline), " ", stateLabel(run.state, "state")),
    h("p", { class: "faint" }, `update ${shortId(run)}, started ${moment(run.started)} (${duration(Math.max(ago, 0))} ago), took ${duration(run.seconds)}, `,
      h("span", { id: "written" }, number(run.written)), " rows written"),
    ...(run === last ? [] : [h("p", { id: "earlier" }, "An earlier update. ", h("a", { href: "#/" }, "Show the last one"))]));
}

// A large graph starts at its upper left corner, at a scale at which it can be read.
function wholeGraph() {
  const datasets = data.datasets.filter(each => each.declared);
  const room = Math.min(1300, 1.1 * window.innerWidth);
  const start = (size, all) => size[1] < 1400 && size[0] < 1.4 * room ? all : { x: 0, y: 0, width: room, height: room };
  const find = h("input", { type: "search", id: "find", placeholder: "Find in the graph", "aria-label": "Find in the graph",
    oninput: event => document.querySelectorAll("svg.graph g").forEach(each =>
      each.classList.toggle("dimmed", !each.dataset.dataset.toLowerCase().includes(event.target.value.toLowerCase()))) });
  return [
    h("p", {}, link("All tables")), h("div", { class: "tools" }, find),
    datasets.length ? graph(datasets, { isWhole: true, height: Math.max(window.innerHeight - 240, 320), start })
      : h("p", { class: "faint" }, "No update has had a graph yet."),
    h("p", { class: "faint" }, "Drag to move, scroll or pinch to zoom, click a dataset to open it."),
  ];
}

function route() {
  const [kind, name] = location.hash.slice(2).split("/").map(decodeURIComponent);
  const view = document.getElementById("view");
  const run = kind === "update" && runs.find(each => each.id === name) || last;
  const dataset = kind === "dataset" && data.datasets.find(each => each.name === name);
  header(run);
  const content = dataset ? datasetView(dataset) : kind === "graph" ? wholeGraph() : overview(run);
  fill(view, {}, []).replaceChildren();
  fill(view, {}, content);
  if (dataset || kind) window.scrollTo(0, 0);
}

window.addEventListener("hashchange", route);
route();
