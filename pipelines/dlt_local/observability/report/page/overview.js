// The first view: one row for each group of datasets, in one update.
const EXPANDED_UP_TO = 12;
const chosen = { search: "", onlyFailed: false, state: null, sort: "state", descending: false, open: new Set() };

const isBad = state => state === "FAILED" || state === "SKIPPED";
if (data.datasets.length <= EXPANDED_UP_TO) groups.forEach(group => chosen.open.add(group));

// Views are queries: they have no rows of their own, and no state.
const rowsOf = group => group.members.filter(each => each.kind !== "view");
const listed = run => groups.filter(group => rowsOf(group).some(each => each.declared || run.results[each.index]));

const SORTS = {
  state: { value: row => STATES.indexOf(row.measures.state) },
  name: { value: row => row.name },
  rows: { value: row => -row.measures.rows },
  rejected: { value: row => -row.measures.rejected },
  lag: { value: row => row.measures.lag === null ? Infinity : -row.measures.lag },
  time: { value: row => -row.measures.seconds },
};
const COLUMNS = [["state", "state", ""], ["name", "table", ""], ["rows", "rows", "n"], ["rejected", "rejected", "n"],
  ["lag", "lag now", "n"], [null, "last updates", ""], ["time", "time", "n"]];

function groupRow(group, run) {
  const members = rowsOf(group), entries = group.entries.filter(each => each.kind !== "view");
  const name = members.length === 1 ? members[0].name : group.name;
  return { group, name, members, measures: measuresOf(members, run, entries.length ? entries : members.slice(0, 1)) };
}

function matching(run) {
  const words = chosen.search.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = name => words.every(word => name.toLowerCase().includes(word));
  const found = listed(run).map(group => groupRow(group, run)).filter(row =>
    (!chosen.onlyFailed || isBad(row.measures.state)) &&
    (!chosen.state || row.members.some(each => resultOf(run, each.index).state === chosen.state)) &&
    (fits(row.name) || row.members.some(each => fits(each.name))));
  const { value } = SORTS[chosen.sort], sign = chosen.descending ? -1 : 1;
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  return found.sort((a, b) => sign * compare(value(a), value(b)) || compare(a.name, b.name));
}

function cells(measures, datasets, entries) {
  const cell = (label, text, kind = "") => h("td", { class: `measure n ${kind}`, "data-label": label, "data-measure": label }, text);
  return [
    cell("rows", measures.rows ? number(measures.rows) : ""),
    cell("rejected", measures.rejected ? number(measures.rejected) : "", measures.rejected ? "late" : ""),
    cell("lag", measures.lag === null ? "" : duration(measures.lag), measures.isLate ? "late" : ""),
    h("td", { class: "measure spark-cell" }, sparkline(datasets, entries)),
    cell("time", measures.seconds ? duration(measures.seconds) : ""),
  ];
}

function badges(measures) {
  const badge = (text, title) => h("span", { class: "badge late", title }, text);
  return [
    measures.unmet > 0 && badge(`${number(measures.unmet)} unmet`, "rows that do not meet an expectation, and were kept"),
    measures.noted > 0 && badge(`${number(measures.noted)} noted`, "new rows with a note, such as a field that the spec does not have"),
    measures.isLate && badge("silent", "nothing newer for much longer than ever before"),
  ];
}

function memberRow(dataset, run) {
  const measures = measuresOf([dataset], run, [dataset]);
  return h("tr", { class: "member", "data-dataset": dataset.name }, h("td", { class: "is" }, stateLabel(measures.state)),
    h("td", { class: "name" }, link(dataset.name, "dataset", dataset.name), badges(measures),
      h("span", { class: "kind faint" }, `${dataset.private ? "private " : ""}${dataset.kind}`)),
    cells(measures, [dataset], [dataset]));
}

function rowsFor(row, run, isOpen, refresh) {
  const { group, members, measures } = row;
  if (members.length === 1) {
    const single = memberRow(members[0], run);
    single.className = "single";
    return [single];
  }
  const toggle = () => { chosen.open.has(group) ? chosen.open.delete(group) : chosen.open.add(group); refresh(); };
  const head = h("tr", { class: "group", "data-group": row.name }, h("td", { class: "is" }, stateLabel(measures.state)),
    h("td", { class: "name" }, h("button", { type: "button", class: "open", "aria-expanded": String(isOpen), onclick: toggle }, row.name),
      h("span", { class: "faint" }, ` ${members.length}`), badges(measures)),
    cells(measures, members, group.entries));
  return isOpen ? [head, ...members.map(each => memberRow(each, run))] : [head];
}

function overview(run) {
  const shown = run.results && Object.keys(run.results).length > 0;
  const list = h("div", {}), chips = h("div", { class: "chips", id: "states" });

  function refresh() {
    const rows = matching(run);
    const head = COLUMNS.map(([sort, text, kind]) => h("th", { class: kind,
        "aria-sort": sort && chosen.sort === sort ? (chosen.descending ? "descending" : "ascending") : null },
      sort ? h("button", { type: "button", onclick: () => sortBy(sort) }, text) : text));
    const body = rows.flatMap(row => rowsFor(row, run, chosen.open.has(row.group), refresh));
    list.replaceChildren(rows.length
      ? h("div", { class: "wide" }, h("table", { id: "datasets" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)))
      : h("p", { class: "faint", id: "nothing" }, "Nothing fits. Clear the search, or show all states."));
    chips.replaceChildren(...stateChips(run, refresh));
  }
  function sortBy(sort) {
    chosen.descending = chosen.sort === sort && !chosen.descending;
    chosen.sort = sort;
    refresh();
  }
  const areOpen = () => groups.every(group => chosen.open.has(group));
  const tools = h("div", { class: "tools" },
    h("input", { type: "search", id: "search", placeholder: "Search tables", "aria-label": "Search tables", value: chosen.search,
      oninput: event => { chosen.search = event.target.value; refresh(); } }),
    h("select", { id: "sort", "aria-label": "Sort by", onchange: event => { chosen.sort = event.target.value; chosen.descending = false; refresh(); } },
      Object.keys(SORTS).map(sort => h("option", { value: sort, selected: sort === chosen.sort }, `by ${sort}`))),
    h("label", {}, h("input", { type: "checkbox", id: "only-failed", checked: chosen.onlyFailed,
      onchange: event => { chosen.onlyFailed = event.target.checked; refresh(); } }), "only failed"),
    h("button", { type: "button", id: "expand", onclick: event => {
      areOpen() ? chosen.open.clear() : groups.forEach(group => chosen.open.add(group));
      event.target.textContent = areOpen() ? "close all" : "open all";
      refresh();
    } }, areOpen() ? "close all" : "open all"),
    h("a", { href: address("graph") }, "whole graph"));
  refresh();
  return [
    accountLine(run), shown && chips, errors(run),
    shown ? h("section", {}, tools, list) : h("p", { class: "faint" }, "No dataset has run in this update."),
    updates(run), notices(run),
  ];
}

function stateChips(run, refresh) {
  const found = new Map();
  for (const group of listed(run))
    for (const each of rowsOf(group)) {
      const state = resultOf(run, each.index).state;
      found.set(state, (found.get(state) || 0) + 1);
    }
  return STATES.filter(state => found.has(state)).map(state => h("button", { type: "button", "data-state": state,
    "aria-pressed": String(chosen.state === state),
    onclick: () => { chosen.state = chosen.state === state ? null : state; refresh(); } },
    h("span", { class: `state ${state}` }, `${number(found.get(state))} ${state === "NONE" ? "not run" : state}`)));
}

function accountLine(run) {
  const parts = [...account(run)].sort(([a], [b]) => a < b ? -1 : 1);
  if (!parts.length) return null;
  const counted = parts.map(([value, rows]) => `${number(rows)} ${value}`).join(" + ");
  return h("p", { id: "account" }, `${plural(sum(parts.map(([, rows]) => rows)), "new record")} = ${counted}`);
}

// The same cause often stops many tables: each text once, with the datasets that it names left to the list.
const ERRORS_SHOWN = 8;
function errors(run) {
  const failed = data.datasets.filter(each => resultOf(run, each.index).error);
  const boxes = [...run.errors.map(text => errorBox(text)),
    ...failed.map(each => errorBox(resultOf(run, each.index).error, resultOf(run, each.index), each))];
  if (!boxes.length) return null;
  const more = boxes.slice(ERRORS_SHOWN);
  return section("errors", plural(boxes.length, "error"), boxes.slice(0, ERRORS_SHOWN),
    more.length > 0 && h("details", {}, h("summary", {}, `${number(more.length)} more`), more));
}

function updates(shownRun) {
  const rows = runs.map((run, at) => [run, at]).reverse().map(([run, at]) => h("tr", { "data-update": shortId(run) },
    h("td", {}, run === shownRun ? moment(run.started) : h("a", { href: run === last ? "#/" : address("update", run.id) }, moment(run.started))),
    h("td", {}, shortId(run)), h("td", {}, stateLabel(run.state)),
    h("td", { class: "n" }, run.state === "CANCELED" ? "" : duration(run.seconds)),
    h("td", { class: "n" }, run.state === "CANCELED" ? "" : number(run.written))));
  return section("updates", "Last updates",
    table({}, [["started"], ["update"], ["state"], ["time", "n"], ["rows written", "n"]], rows));
}

const notices = run => run.notices.length > 0 && section("notices", "Notices", run.notices.map(each => h("p", {}, each)));
