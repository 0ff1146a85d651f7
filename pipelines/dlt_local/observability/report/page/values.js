// The data, and what follows from it. Nothing here touches the page.
const data = JSON.parse(document.getElementById("data").textContent);
const runs = data.runs;
const last = runs[runs.length - 1];

// Worst first: the state of a group is that of its worst dataset.
const STATES = ["FAILED", "SKIPPED", "CANCELED", "STOPPED", "RUNNING", "COMPLETED", "IDLE", "NONE"];
const RECENT = 12;

const number = count => count.toLocaleString("en");
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const shortId = run => run.id.slice(0, 6);
const moment = text => `${new Date(text).toISOString().slice(0, 19).replace("T", " ")} UTC`;
const sum = values => values.reduce((total, each) => total + (each || 0), 0);

function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days) return `${days} d ${hours % 24} h`;
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min ${Math.round(seconds) % 60} s`;
}

const NO_RESULT = { state: "NONE" };
const resultOf = (run, dataset) => run.results[dataset] || NO_RESULT;
const worst = states => STATES[Math.min(...states.map(each => STATES.indexOf(each)), STATES.length - 1)];

// What an update changed in a dataset: added, written and removed rows.
const moved = result => sum([result.rows, result.upserted, result.deleted]);
// A materialized view holds rows, and every update may write all of them again.
const rejected = result => sum([result.rejects, result.dropped]);

const groups = [];
for (const [index, dataset] of data.datasets.entries()) {
  dataset.index = index;
  dataset.readers = [];
  let group = groups.find(each => each.name === dataset.group);
  if (!group) groups.push(group = { name: dataset.group, members: [] });
  group.members.push(dataset);
  dataset.groupOf = group;
}
for (const dataset of data.datasets)
  for (const [input] of dataset.inputs) data.datasets[input].readers.push(dataset.index);

// Rows arrive in a group where it reads nothing of its own: later datasets only pass them on.
for (const group of groups) {
  const within = new Set(group.members.map(each => each.index));
  group.entries = group.members.filter(each => !each.inputs.some(([input]) => within.has(input)));
}

const newestKnown = dataset => {
  for (let at = runs.length - 1; at >= 0; at--) {
    const found = resultOf(runs[at], dataset.index).newest;
    if (found) return found;
  }
  return null;
};

// Seconds since the newest source time, now: it grows while nothing arrives, whether or not updates run.
function lagNow(dataset) {
  const newest = newestKnown(dataset);
  return newest === null ? null : Math.max((Date.now() - Date.parse(newest)) / 1000, 0);
}

// How many updates have found nothing newer; and whether that is longer than this feed was ever silent.
function silence(dataset) {
  const known = runs.map(run => ({ run, newest: resultOf(run, dataset.index).newest })).filter(each => each.newest);
  if (!known.length) return { updates: 0, isLate: false };
  const newest = known[known.length - 1].newest;
  const updates = known.length - 1 - known.findIndex(each => each.newest === newest);
  const times = [...new Set(known.map(each => Date.parse(each.newest)))].sort((a, b) => a - b);
  const longest = Math.max(...times.slice(1).map((time, at) => time - times[at]), 0);
  const silent = Date.parse(known[known.length - 1].run.started) - Date.parse(newest);
  return { updates, isLate: times.length > 2 && updates > 2 && silent > 3 * longest };
}

function measuresOf(datasets, run, entries) {
  const results = datasets.map(each => resultOf(run, each.index));
  const ran = results.filter(each => each !== NO_RESULT);
  const lags = datasets.map(lagNow).filter(each => each !== null);
  return {
    state: worst(results.map(each => each.state)),
    rows: sum(entries.map(each => moved(resultOf(run, each.index)))),
    rejected: sum(ran.map(rejected)),
    noted: sum(ran.map(each => each.noted)),
    unmet: sum(ran.map(each => each.unmet)),
    lag: lags.length ? Math.max(...lags) : null,
    isLate: datasets.some(each => silence(each).isLate),
    seconds: sum(ran.map(each => each.seconds)),
  };
}

// New rows by value, over all tables that say which of theirs are rejects: "1,204 new records = 1,180 change + 4 reject".
function account(run) {
  const parts = new Map();
  for (const result of Object.values(run.results))
    for (const [value, rows] of Object.entries(result.counted || {})) {
      const first = value.split(": ")[0];
      parts.set(first, (parts.get(first) || 0) + rows);
    }
  return parts;
}

const fileAndLine = place => place.slice(place.lastIndexOf("/") + 1);
