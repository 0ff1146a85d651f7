// The view of one dataset: what it is, how it went, and what is wrong with its rows.
const present = (values, show) => values && values.length > 0 && show(values);

function datasetView(dataset) {
  const result = resultOf(last, dataset.index);
  return [
    h("p", {}, link("All tables"), dataset.groupOf.members.length > 1 && [" › ", dataset.groupOf.name]),
    h("h2", { id: "dataset" }, dataset.name, " ", dataset.kind !== "view" && stateLabel(result.state)),
    dataset.comment && h("p", {}, dataset.comment),
    facts(dataset, result),
    result.error && section("error", "Error", errorBox(result.error, result)),
    neighbours(dataset),
    rejects(dataset),
    notes(dataset),
    present(dataset.expectations, expectations),
    present(dataset.columns, columns),
    query(dataset),
    pastUpdates(dataset),
  ];
}

// One dataset of a group says it for all of them.
const definedIn = dataset => dataset.groupOf.members.map(each => each.defined_in).find(Boolean);

function facts(dataset, result) {
  const newest = newestKnown(dataset), { updates, isLate } = silence(dataset);
  const fact = (name, ...value) => value[0] && [h("dt", {}, name), h("dd", { "data-fact": name }, ...value)];
  const links = numbers => numbers.map((index, at) => [at > 0 && ", ", link(data.datasets[index].name, "dataset", data.datasets[index].name)]);
  return h("dl", { class: "facts" },
    fact("kind", `${dataset.private ? "private " : ""}${dataset.kind}${dataset.declared ? "" : ", no longer declared"}`),
    fact("declared at", dataset.place), fact("defined in", definedIn(dataset)),
    fact("reads", ...links(dataset.inputs.map(([input]) => input))), fact("read by", ...links(dataset.readers)),
    fact("newest row", newest && `${moment(newest)}, ${duration(lagNow(dataset))} ago`,
      updates > 0 && h("span", { class: isLate ? "late" : "faint" }, ` (nothing newer in the last ${plural(updates, "update")})`)),
    fact("lag on arrival", result.lag && duration(result.lag)),
    fact("out of order", dataset.counts.outOfOrder > 0 && plural(dataset.counts.outOfOrder, "row")));
}

function neighbours(dataset) {
  const { shown, isWhole } = around(dataset);
  if (shown.length < 2) return null;
  return section("graph", "Graph", graph(shown, { chosen: dataset, height: 360 }),
    !isWhole && h("p", { class: "faint" }, "Only neighbours are shown: the ", link("whole graph", "graph"), " has all."));
}

function rejects(dataset) {
  const { by, rows } = dataset.counts, values = Object.entries(rows).sort(([, a], [, b]) => b - a);
  return [
    values.length > 0 && section("counts", `${dataset.name} by ${by}`,
      table({ "data-breakdown": dataset.name }, [[by], ["rows", "n"]],
        values.map(([value, count]) => h("tr", {}, h("td", {}, value), h("td", { class: "n" }, number(count)))))),
    present(dataset.samples, samples => section("samples", "Some rejects",
      table({}, Object.keys(samples[0]).map(name => [name]), samples.map(each =>
        h("tr", {}, Object.values(each).map(value => h("td", { class: value.length > 30 && "long" }, value))))))),
  ];
}

function notes(dataset) {
  const { notes: found, hint } = dataset.counts;
  return found.length > 0 && section("notes", "Notes",
    table({}, [["note"], ["rows", "n"], ["first"]], found.map(([text, rows, first]) =>
      h("tr", {}, h("td", { class: "long" }, text), h("td", { class: "n" }, number(rows)), h("td", {}, first || "")))),
    hint && h("p", { class: "faint" }, hint));
}

function expectations(found) {
  const bar = ([started, passed, failed]) => h("div", { class: "bar", title: `${moment(started)}: ${number(passed)} passed, ${number(failed)} failed` },
    failed > 0 && h("i", { style: `height: ${Math.max(28 * failed / (passed + failed), 3).toFixed(1)}px` }));
  return section("expectations", "Expectations",
    table({}, [["expectation"], ["condition"], ["on violation"], ["passed", "n"], ["failed", "n"], ["last updates"]], found.map(each => {
      const passed = sum(each.results.map(result => result[1])), failed = sum(each.results.map(result => result[2]));
      return h("tr", { "data-expectation": each.name }, h("td", {}, each.name), h("td", { class: "long" }, h("code", {}, each.condition)),
        h("td", {}, each.onViolation), h("td", { class: "n", "data-measure": "passed" }, number(passed)),
        h("td", { class: failed ? "n FAILED" : "n", "data-measure": "failed" }, number(failed)),
        h("td", {}, h("div", { class: "bars" }, each.results.slice(-RECENT).map(bar))));
    })));
}

const columns = found => section("columns", plural(found.length, "column"),
  table({}, [["column"], ["type"], ["comment"]], found.map(({ name, type, comment }) =>
    h("tr", {}, h("td", {}, name), h("td", { class: type.length > 30 && "long" }, h("code", {}, type)), h("td", { class: "long" }, comment || "")))));

function query(dataset) {
  const text = data.texts[dataset.place];
  return text && section("query", "Declaration", h("p", { class: "faint" }, dataset.place),
    h("div", { class: "wide" }, h("pre", { class: "source", style: "padding: .5rem .7rem" },
      text.lines.map((line, at) => `${String(text.first + at).padStart(4)}  ${line}\n`).join(""))));
}

function pastUpdates(dataset) {
  const known = runs.filter(run => run.results[dataset.index]).reverse();
  const measures = ["rows", "upserted", "deleted", "dropped", "rejects"];
  return known.length > 0 && section("history", "Last updates",
    table({}, [["started"], ["state"], ...measures.map(name => [name, "n"]), ["time", "n"], ["lag on arrival", "n"]], known.map(run => {
      const result = resultOf(run, dataset.index);
      return h("tr", { "data-update": shortId(run) },
        h("td", {}, h("a", { href: run === last ? "#/" : address("update", run.id) }, moment(run.started))), h("td", {}, stateLabel(result.state)),
        measures.map(name => h("td", { class: "n", "data-measure": name }, result[name] ? number(result[name]) : "")),
        h("td", { class: "n" }, result.seconds ? duration(result.seconds) : ""), h("td", { class: "n" }, result.lag ? duration(result.lag) : ""));
    })));
}
