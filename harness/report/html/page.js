/* Puts the page together and redraws what a choice changes. */
const byId = (id) => document.getElementById(id);

function fillSelect(id, list, selected, text) {
  byId(id).innerHTML = list.map((i) => `<option value="${i}"${i === selected ? " selected" : ""}>${esc(text(i))}</option>`).join("");
}

function drawControls() {
  const candidates = candidatesOf(state.group);
  fillSelect("group", D.groups.map((_, i) => i), state.group, groupName);
  fillSelect("candidate", candidates, state.candidate, name);
  fillSelect("baseline", baselinesOf(state.group, state.candidate), state.baseline, name);
  byId("candidate-label").hidden = candidates.length < 2;
  for (const input of document.querySelectorAll("#timing input")) {
    input.checked = input.value === state.timing;
    input.disabled = !hasTiming(input.value);
  }
}

const tile = (numbers, text, kind = "") => `<div class="tile ${kind}">${numbers}<span>${text}</span></div>`;
const figure = (value, label = "") => `<div><b>${value}</b>${label && `<small>${label}</small>`}</div>`;

function strongestText() {
  const leads = strongestLeads();
  if (!leads.length || name(state.baseline) === "strongest") return "";
  const geomean = Math.expm1(leads.reduce((sum, lead) => sum + Math.log1p(lead), 0) / leads.length);
  return `. Over the strongest baseline of each shape: ${signed(geomean)} geomean, ${leads.filter((lead) => lead > 0).length}/${leads.length} won`;
}

function speedupTile(row) {
  const noise = noiseOf(state.group);
  const figures = noise ? "" : figure(signed(row.mean), "paper");
  return tile(`<div class="figures">${figure(signed(row.geomean), "trimmed")}${figure(signed(row.median), "median")}${figures}</div>`,
    `${esc(name(state.candidate))} over ${esc(name(state.baseline))}, ${timeName(state.timing)} time; ${esc(groupName(state.group))}` + strongestText() +
    (noise ? `. <strong>No mean: ${noise}.</strong>` : ""), "wide");
}

function timeTile(cells) {
  const sum = (key) => cells.reduce((total, cell) => total + (cell[key] ?? 0), 0);
  const device = D.env[0]?.device?.kind === "cpu" ? "CPU" : "GPU";
  return tile(figure(duration(1e9 * sum("ws"))), `for all phases of ${plural(cells.length, "cell")}; ${duration(1e9 * sum("bs"))} of it the ${device} was busy with contenders' launches`);
}

/* All of what is selected. */
function drawTiles() {
  const row = summaryRow("speedups", state.timing, name(state.baseline));
  const { measured, converged } = outcomeOf(state.group);
  const cells = cellsOf(state.group).filter((cell) => known(cell.ws));
  const { headline } = D.groups[state.group];
  byId("tiles").innerHTML = (row ? speedupTile(row) +
    tile(figure(`${row.wins}/${row.n}`), `shapes won; ${row.clear_wins ?? "?"} clearly, ${row.clear_losses ?? "?"} clearly lost${leftOut(row)}`) : "") +
    tile(figure(`${converged}/${measured}`), `shapes reached the ${wantedOf(state.group)} asked for${state.timing === headline ? "" : `, in ${timeName(headline)} time`}`) +
    (cells.length ? timeTile(cells) : "");
}

function drawHeader() {
  const device = D.env[0]?.device ?? {};
  const title = `GEMM benchmark: ${device.name ?? "no device recorded"}`;
  byId("title").textContent = document.title = title;
  const f32 = device.peak_flops_f32 > 0; // as the screen says it
  const peak = f32 ? `, peak of f32 at most ${Number((device.peak_flops_f32 / 1e12).toPrecision(3))} TFLOPS` :
    device.peak_flops > 0 ? `, peak ${Math.round(device.peak_flops / 1e12)} TFLOPS at maximum clock` : "";
  byId("subtitle").textContent = (device.driver ? `${device.kind === "cpu" ? "Kernel" : "Driver"} ${device.driver}${peak}. ` : "") +
    D.runs.map((run) => run.started).filter(Boolean).sort().map((t) => t.replace("T", " ").replace("Z", " UTC")).slice(0, 1).map((t) => `Measured ${t}. `).join("") +
    D.groups.map((_, i) => `${plural(cellsOf(i).length, "shape")} ${groupName(i)}`).join("; ") + ".";
}

/* ---- warnings ---- */

const warnings = () => {
  const list = [];
  return { list, add: (text, items) => items.length && list.push({ text, items }) };
};

function addFailures({ add }, cells) {
  const isWrong = (x) => /wrong|implausible|tamper/.test(x[1]);
  const wrong = cells.flatMap((cell) => cell.x.filter(isWrong).map((x) => `${cell.shape}: ${name(x[0])} ${x[1]}: ${x[2]}`));
  add(`Failed verification: ${plural(wrong.length, "result")}`, wrong);
  const failed = cells.filter((cell) => cell.s === "skipped" || cell.s === "failed");
  add(`Not measured: ${plural(failed.length, "cell")}`, failed.map((cell) => `${cell.shape}: ${cell.s}: ${cell.r ?? ""}`));
  const left = new Map();
  for (const x of cells.flatMap((cell) => cell.x.filter((x) => !isWrong(x)))) {
    const why = `${name(x[0])}: ${x[1]}: ${x[2]}`;
    left.set(why, (left.get(why) ?? 0) + 1);
  }
  const contenders = new Set(cells.flatMap((cell) => cell.x.filter((x) => !isWrong(x)).map((x) => x[0])));
  add(`Left out: ${plural(contenders.size, "contender")} that could not run on every shape`, [...left].map(([why, n]) => `${why} (${plural(n, "cell")})`));
}

function addPrecision({ add }, group, cells) {
  const slow = cells.filter((cell) => cell.d > 0);
  add(`Throttled: thermal or hardware slowdown in ${plural(slow.length, "cell")}; those blocks are dropped`, slow.map((cell) => `${cell.shape}: ${cell.d} of ${cell.b} blocks dropped`));
  const wide = cells.filter((cell) => cell.p.length && !cell.c);
  const wanted = wantedOf(group);
  add(`Not converged: ${wide.length} of ${plural(outcomeOf(group).measured, "cell")} stopped before ${wanted === "precision" ? "their intervals were as narrow as asked for" : `all their intervals were within the ${wanted} asked for`}`,
    wide.sort((a, b) => b.w - a.w).map((cell) => `${cell.shape}: widest \u00b1${known(cell.w) ? (100 * cell.w).toFixed(2) : "?"}%, ${cell.wp ?? ""}`));
}

/* One interval in twenty may exclude 0; three standard deviations more are no chance. */
function addAa({ add }, group) {
  const alarms = aaRows(group).filter(({ with_interval: n, excludes_one: out }) => n >= 10 && out > 0.05 * n + 3 * Math.sqrt(0.0475 * n));
  add("A/A: more intervals of a copy over its original exclude 0 than chance explains",
    alarms.map((row) => `${timeName(row.timing, D.groups[group])} time: ${row.excludes_one} of ${row.with_interval}; standard deviation ${(100 * row.sd_log_ratio).toFixed(2)}%`));
}

function warningsOf(group) {
  const made = warnings(), cells = cellsOf(group), noise = noiseOf(group);
  addFailures(made, cells);
  if (noise) made.list.push({ text: `No mean, and the rest is a hint at best: ${noise}`, items: [] });
  addPrecision(made, group, cells);
  const early = cells.filter((cell) => cell.e);
  made.add(`Launched early: in ${early.length} of ${plural(cells.length, "cell")} a contender's launches are made so that one may begin while the one ahead still runs. ` +
    (cells.some((cell) => cell.p.some(([, timing]) => timeName(timing, D.groups[group]) === "device-row")) ? `Those of device-row did: that is a claim of throughput, not of a launch alone` : "Each was timed alone all the same"),
    [...new Set(early.flatMap((cell) => cell.e))].map((i) => `${name(i)}: ${plural(early.filter((cell) => cell.e.includes(i)).length, "cell")}`));
  const cached = cells.filter((cell) => cell.ro && !ROTATED[cell.ro]), emptied = cells.filter((cell) => cell.ro === "flush");
  made.add(`Rotated, but operands may still have been in the cache in ${plural(cached.length, "cell")}`, cached.map((cell) => cell.shape));
  made.add(`Rotated, and the cache emptied as well, in ${emptied.length} of ${plural(cells.length, "cell")}: the sets in between hold less than it`, emptied.map((cell) => cell.shape));
  addAa(made, group);
  return made.list;
}

function warningsOfAll() {
  const { list, add } = warnings();
  const inRuns = (n) => D.runs.length > 1 ? ` (${n} of ${D.runs.length} runs)` : "";
  const missing = D.runs.flatMap((run) => run.missing ?? []);
  add(`The run is not complete: ${plural(missing.length, "cell")} not measured yet`, missing);
  const unverified = D.runs.filter((run) => run.config?.verify?.enabled === false).length;
  if (unverified) list.push({ text: `Results of the contenders were not verified (--no-verify)${inRuns(unverified)}`, items: [] });
  const borrowed = D.summary.borrowed ?? [];
  add(`Libraries seen in ${plural(new Set(borrowed.map((row) => row.contender)).size, "candidate")}: such times are the library's, unless it is CUTLASS, which is built into kernels of one's own`,
    borrowed.map((row) => `${row.contender}: ${row.library} (${row.seen}), in ${plural(row.cells, "cell")}; ${row.declared ? "it says so" : "it does not say so"}`));
  const dirty = D.runs.filter((run) => /-dirty$/.test(run.build?.commit ?? ""));
  add(`The program was built from a tree with uncommitted changes${inRuns(dirty.length)}`, dirty.map((run) => run.build.commit));
  const devices = new Set(D.env.map((env) => `${env.device?.name}, driver ${env.device?.driver}`));
  if (devices.size > 1) add("Different devices or drivers in one report", [...devices]);
  return list.map((one) => D.groups.length > 1 ? { ...one, text: `Whole report: ${one.text}` } : one);
}

/* What the selection hides must not go unsaid. */
function warningsElsewhere() {
  const others = D.groups.map((_, i) => ({ group: groupName(i), list: i === state.group ? [] : warningsOf(i) })).filter(({ list }) => list.length);
  if (!others.length) return [];
  return [{ text: `Cells that are not selected have warnings of their own: ${others.map(({ group, list }) => `${group} (${list.length})`).join("; ")}`,
    items: others.flatMap(({ group, list }) => list.map(({ text }) => `${group}: ${text}`)) }];
}

function drawWarnings() {
  const list = [...warningsOf(state.group), ...warningsOfAll(), ...warningsElsewhere()];
  byId("warnings-section").hidden = !list.length;
  byId("warnings-note").textContent = D.groups.length > 1 ? `Of the cells selected above (${groupName(state.group)}) where nothing else is said.` : "";
  byId("warnings").innerHTML = list.map(({ text, items }) => items.length
    ? `<details class="warn"><summary>${esc(text)}</summary><ul>${items.slice(0, 400).map((item) => `<li>${esc(item)}</li>`).join("")}</ul></details>`
    : `<p class="warn">${esc(text)}</p>`).join("");
}

/* ---- provenance ---- */

function definitions(rows) {
  return "<dl>" + rows.filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([key, value]) => `<dt>${esc(key)}</dt><dd>${esc(value)}</dd>`).join("") + "</dl>";
}

function environment({ env, cells }) {
  const d = env.device ?? {}, h = env.host ?? {}, giga = (bytes) => known(bytes) ? (bytes / 2 ** 30).toFixed(0) + " GiB" : undefined;
  const libraries = Object.entries(env.libraries ?? {}).map(([plugin, about]) => [`library ${plugin}`,
    Object.entries(about).filter(([, v]) => typeof v === "string").map(([k, v]) => `${k} ${v}`).join(", ")]);
  return definitions([["device", d.name], ["UUID", d.uuid], ["cells measured there", cells || undefined], [d.kind === "cpu" ? "kernel" : "driver", d.driver], ["clocks", known(d.max_sm_clock_mhz) ? `SM up to ${d.max_sm_clock_mhz} MHz, memory up to ${d.max_memory_clock_mhz} MHz` : undefined],
    ["power limit", known(d.power_limit_mw) ? d.power_limit_mw / 1000 + " W" : undefined], ["memory", giga(d.memory_bytes)], ...libraries,
    ["host", [h.system, h.kernel, h.cpu, known(h.cpus) ? h.cpus + " CPUs" : "", giga(h.memory_bytes)].filter(Boolean).join(", ")]]);
}

function runDetails(run) {
  return definitions([["started", run.started], ["command", (run.argv ?? []).join(" ")], ["seed", run.seed], ["config", run.config_path],
    ["config hash", run.config_hash], ["plan hash", run.plan_hash], ["program hash", run.program_hash ?? run.build?.program_hash], ["commit", run.build?.commit], ["compiler", [run.build?.compiler, run.build?.flags].filter(Boolean).join(", ")],
    ["sittings", run.sittings?.length], ["complete", run.complete ? "yes" : "no"]]) +
    (run.config ? `<details><summary>Configuration with all defaults</summary><pre>${esc(JSON.stringify(run.config, null, 2))}</pre></details>` : "");
}

function drawProvenance() {
  const seen = new Map();
  D.env.forEach((env, i) => {
    const key = JSON.stringify([env.device, env.libraries, env.host]);
    seen.set(key, { env, cells: (seen.get(key)?.cells ?? 0) + D.cells.filter((cell) => cell.v === i).length });
  });
  byId("provenance").innerHTML = [...seen.values()].slice(0, 8).map(environment).join("") + D.runs.map(runDetails).join("");
}

/* ---- the whole ---- */

function draw() {
  settle();
  for (const part of [drawControls, drawOverview, drawTiles, drawWarnings, drawHeadline, drawAa, drawScatter, drawDistribution, drawHeatmaps, drawTables, drawShapes]) part();
  keepState();
}

function chooseColumn(target) {
  const head = target.closest("th[data-column]");
  if (!head) return;
  const column = Number(head.dataset.column);
  state.down = column === state.sort ? !state.down : column >= 4;
  state.sort = column;
  drawShapes();
  keepState();
  document.querySelector(`#shapes th[data-column="${column}"]`).focus({ preventScroll: true });
}

function listen() {
  for (const id of ["group", "candidate", "baseline"])
    byId(id).addEventListener("change", (event) => { state[id] = Number(event.target.value); draw(); });
  byId("timing").addEventListener("change", (event) => { state.timing = event.target.value; draw(); });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("filter").addEventListener("input", (event) => { state.filter = event.target.value; drawShapes(); keepState(); });
  byId("more").addEventListener("click", () => { state.all = true; drawShapes(); });
  byId("download").addEventListener("click", download);
  const choose = (target) => { chooseColumn(target); openDetail(D.cells[target.closest("tr[data-cell]")?.dataset.cell]); };
  byId("shapes").addEventListener("click", (event) => choose(event.target));
  byId("shapes").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(event.target);
  });
  byId("overview").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-group]");
    if (row) { state.group = Number(row.dataset.group); state.candidate = Number(row.dataset.candidate); draw(); }
  });
  byId("detail").addEventListener("close", () => { state.cell = null; keepState(); });
  byId("detail").addEventListener("click", (event) => { if (event.target === byId("detail") || event.target.id === "detail-close") byId("detail").close(); });
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== stateText()) { readState(); draw(); } });
  byId("headline").addEventListener("click", (event) => {
    const baseline = Number(event.target.closest("tr[data-baseline]")?.dataset.baseline ?? -1);
    if (baseline >= 0) { state.baseline = baseline; draw(); }
  });
  const heat = byId("heatmaps");
  heat.addEventListener("pointermove", (event) => {
    const cell = D.cells[event.target.dataset?.cell];
    showTip(event, cell ? describe(cell) : "");
  });
  heat.addEventListener("click", (event) => openDetail(D.cells[event.target.dataset?.cell]));
  heat.addEventListener("pointerleave", () => showTip(null, ""));
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawScatter(); drawDistribution(); } });
}

byId("timing").insertAdjacentHTML("beforeend", TIMINGS.map((t, i) => `<label title="${esc(D.timings[i].help)}"><input type="radio" name="timing" value="${t}"><span>${t}</span></label>`).join(""));
state.timing = D.groups[0]?.headline ?? TIMINGS[0];
drawHeader();
readState();
const asked = state.cell;
draw();
drawProvenance();
listen();
if (asked) openDetail(asked);
document.documentElement.dataset.readyMs = performance.now().toFixed(0);
