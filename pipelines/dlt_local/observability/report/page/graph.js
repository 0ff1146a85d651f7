// Draws datasets in layers from left to right, each to the right of everything that it reads.
const BOX = { width: 210, height: 44, across: 70, down: 14, margin: 16 };
const COLOURS = { "streaming table": "#2f6f9f", "materialized view": "#3d7d4d", view: "#8a7a3a", sink: "#8a4a4a" };
const LIGHTS = { COMPLETED: "#7fd18c", IDLE: "#b8bcc4", FAILED: "#ff6b5e", SKIPPED: "#f0b429", RUNNING: "#8ec1f0" };

// Lines that pass a layer get a place in it, so that they run between the boxes.
function layout(datasets) {
  const shown = new Set(datasets.map(each => each.index)), layer = new Map(), layers = [];
  const put = (name, at) => (layers[at] = layers[at] || []).push(name);
  const inputs = each => each.inputs.filter(([input]) => shown.has(input));
  for (const each of datasets) {
    layer.set(each.index, Math.max(-1, ...inputs(each).map(([input]) => layer.get(input))) + 1);
    put(each.index, layer.get(each.index));
  }
  const lines = [];
  for (const each of datasets)
    for (const [input, rows] of inputs(each)) {
      const path = [input];
      for (let at = layer.get(input) + 1; at < layer.get(each.index); at++) {
        path.push(`${input}>${each.index}@${at}`);
        put(path[path.length - 1], at);
      }
      lines.push({ path: [...path, each.index], rows });
    }
  untangle(layers, lines);
  return { layers, lines };
}

function untangle(layers, lines) {
  const beside = { left: new Map(), right: new Map() };
  const note = (side, name, other) => side.set(name, [...(side.get(name) || []), other]);
  for (const { path } of lines)
    for (let at = 1; at < path.length; at++) {
      note(beside.left, path[at], path[at - 1]);
      note(beside.right, path[at - 1], path[at]);
    }
  const sort = (names, fixed, neighbours) => {
    const row = new Map(fixed.map((name, at) => [name, at]));
    const mean = new Map(names.map((name, at) => {
      const rows = (neighbours.get(name) || []).map(other => row.get(other));
      return [name, rows.length ? sum(rows) / rows.length : at];
    }));
    names.sort((a, b) => mean.get(a) - mean.get(b));
  };
  const forwards = () => { for (let at = 1; at < layers.length; at++) sort(layers[at], layers[at - 1], beside.left); };
  const backwards = () => { for (let at = layers.length - 2; at >= 0; at--) sort(layers[at], layers[at + 1], beside.right); };
  // Forwards last: then what is made from one dataset stays together.
  for (const sweep of [forwards, backwards, forwards]) sweep();
}

function drawing(datasets, chosen) {
  const { layers, lines } = layout(datasets), corner = new Map();
  const tall = Math.max(...layers.map(each => each.length)) * (BOX.height + BOX.down) - BOX.down;
  // Each layer takes the whole height, so that what belongs together is side by side.
  layers.forEach((names, at) => {
    const pitch = (tall + BOX.down) / names.length;
    names.forEach((name, row) =>
      corner.set(name, [BOX.margin + at * (BOX.width + BOX.across), BOX.margin + (row + 0.5) * pitch - (BOX.height + BOX.down) / 2]));
  });
  const size = [2 * BOX.margin + layers.length * (BOX.width + BOX.across) - BOX.across, 2 * BOX.margin + tall];
  const ends = new Map();
  const counts = lines.filter(line => line.rows).map(line => {
    const target = line.path[line.path.length - 1], [x, y] = corner.get(target), above = ends.get(target) || 0;
    ends.set(target, above + 1);
    return s("text", { class: "count", x: x - 6, y: y + BOX.height / 2 + 13 + 12 * above },
      s("title", {}, "rows in the last update"), number(line.rows));
  });
  const picture = s("svg", { class: "graph", viewBox: `0 0 ${size[0]} ${size[1]}` },
    lines.map(line => s("path", { d: curve(line.path, corner) })), counts,
    datasets.map(each => box(each, corner.get(each.index), each === chosen)));
  return { picture, size, corner };
}

function curve(path, corner) {
  let [x, y] = corner.get(path[0]);
  let drawn = `M${x + BOX.width} ${y += BOX.height / 2}`;
  path.slice(1).forEach((name, at) => {
    const bend = BOX.across / 2, [left, top] = corner.get(name), middle = top + BOX.height / 2;
    drawn += ` C${left - bend} ${y} ${left - bend} ${middle} ${left} ${middle}`;
    if (at < path.length - 2) drawn += ` L${left + BOX.width} ${middle}`;
    y = middle;
  });
  return drawn;
}

const fitted = text => text.length > 27 ? `…${text.slice(-26)}` : text;

function box(dataset, [x, y], isChosen) {
  const result = resultOf(last, dataset.index), rows = moved(result);
  const below = result === NO_RESULT ? dataset.kind : result.state + (rows ? ` · ${plural(rows, "row")}` : "");
  const go = () => { location.hash = address("dataset", dataset.name); };
  return s("g", { transform: `translate(${x} ${y})`, class: isChosen && "this", "data-dataset": dataset.name, tabindex: 0,
                  role: "link", onclick: go, onkeydown: event => event.key === "Enter" && go() },
    s("title", {}, `${dataset.name}\n${dataset.private ? "private " : ""}${dataset.kind}\n${dataset.place}`),
    s("rect", { width: BOX.width, height: BOX.height, rx: 6, fill: COLOURS[dataset.kind] || "#555",
                stroke: dataset.private && "#fff", "stroke-dasharray": dataset.private && "4 3" }),
    s("text", { x: 10, y: 19 }, fitted(dataset.name)), s("text", { class: "small", x: 10, y: 35 }, below),
    result !== NO_RESULT && s("circle", { cx: BOX.width - 13, cy: 13, r: 5, fill: LIGHTS[result.state] || "#fff" }));
}

// A drawing that can be moved and zoomed: by the buttons, by dragging, by two fingers, by the wheel with Ctrl.
function graph(datasets, options = {}) {
  const { picture, size, corner } = drawing(datasets, options.chosen);
  const room = Math.min(size[1], options.height || 420);
  let view = { x: 0, y: 0, width: size[0], height: size[1] };
  const show = () => picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const zoom = (factor, at = { x: 0.5, y: 0.5 }) => {
    const width = Math.min(Math.max(view.width / factor, 150), size[0] * 4), scale = width / view.width;
    view = { x: view.x + view.width * (1 - scale) * at.x, y: view.y + view.height * (1 - scale) * at.y,
             width, height: view.height * scale };
    show();
  };
  const fit = () => { view = { x: 0, y: 0, width: size[0], height: size[1] }; show(); };
  const share = event => {
    const area = picture.getBoundingClientRect();
    return { x: (event.clientX - area.left) / area.width, y: (event.clientY - area.top) / area.height };
  };
  picture.style.height = `${room}px`;
  if (options.start) view = options.start(size, view);
  else if (size[0] > 1.4 * window.innerWidth) {
    // On a phone the whole could not be read: it starts around the chosen dataset.
    const [x, y] = corner.get(options.chosen.index), width = window.innerWidth, height = Math.min(room, size[1]);
    view = { x: x + (BOX.width - width) / 2, y: y + (BOX.height - height) / 2, width, height };
  }
  show();

  const held = new Map();
  let wasMoved = false;
  picture.addEventListener("pointerdown", event => { held.set(event.pointerId, event); if (held.size === 1) wasMoved = false; });
  picture.addEventListener("pointermove", event => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const area = picture.getBoundingClientRect();
    if (held.size === 2) {
      const other = [...held.values()].find(each => each.pointerId !== event.pointerId);
      const apart = each => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY) || 1;
      zoom(apart(event) / apart(before), share(other));
      wasMoved = true;
    } else if (wasMoved || Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 3) {
      // The drawing keeps its proportions: one of the two scales fits.
      const scale = Math.max(view.width / area.width, view.height / area.height);
      view.x -= (event.clientX - before.clientX) * scale;
      view.y -= (event.clientY - before.clientY) * scale;
      wasMoved = true;
      show();
    } else return;
    held.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    picture.addEventListener(end, event => held.delete(event.pointerId));
  picture.addEventListener("click", event => { if (wasMoved) event.stopPropagation(); }, true);
  picture.addEventListener("wheel", event => {
    if (!options.isWhole && !event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, share(event));
  }, { passive: false });

  const button = (text, label, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  return h("div", { class: `graph-box${options.isWhole ? " whole" : ""}` },
    h("div", { class: "zoom" }, button("+", "zoom in", () => zoom(1.4)), button("−", "zoom out", () => zoom(1 / 1.4)),
      button("fit", "show all of it", fit)), picture);
}

// A dataset with what it is made from and what is made from it; only its neighbours where that is too much.
const MOST = 40;
function around(dataset) {
  const reach = (next, depth) => {
    const found = new Set([dataset.index]);
    let edge = [dataset.index];
    for (let step = 0; step < depth && edge.length; step++) {
      edge = edge.flatMap(index => next(data.datasets[index])).filter(index => !found.has(index) && found.add(index));
    }
    return found;
  };
  const up = each => each.inputs.map(([input]) => input), down = each => each.readers;
  const within = depth => new Set([...reach(up, depth), ...reach(down, depth)]);
  let found = within(Infinity), isWhole = true;
  if (found.size > MOST) [found, isWhole] = [within(1), false];
  const kept = data.datasets.filter(each => found.has(each.index));
  const shown = kept.length > MOST ? [...kept.filter(each => each !== dataset).slice(0, MOST - 1), dataset] : kept;
  shown.sort((a, b) => a.index - b.index);
  return { shown, isWhole: isWhole && shown.length === kept.length };
}
