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

function drawTiles() {
  const tile = (value, text) => `<div class="tile"><b>${value}</b><span>${text}</span></div>`;
  const main = summaryRow("speedups", state.timing, name(state.baseline));
  const counts = D.summary.counts ?? {}, convergence = D.summary.convergence ?? {};
  byId("tiles").innerHTML = (!main ? "" :
    tile(signed(main.geomean), `geometric mean of ${esc(name(state.candidate))} over ${esc(name(state.baseline))}, ${state.timing} time`) +
    tile(`${main.wins}/${main.n}`, `shapes won; ${main.clear_wins} clearly, ${main.clear_losses} clearly lost`)) +
    tile(`${convergence.converged ?? 0}/${convergence.measured ?? 0}`, "cells reached the precision asked for") +
    tile(duration(1e9 * (counts.busy_seconds ?? 0)), `of ${D.env[0]?.device?.kind === "cpu" ? "CPU" : "GPU"} time for ${plural(counts.cells ?? D.cells.length, "cell")}`);
}

function drawHeader() {
  const device = D.env[0]?.device ?? {};
  const title = `GEMM benchmark: ${device.name ?? "no device recorded"}`;
  byId("title").textContent = document.title = title;
  const peak = known(device.peak_flops) ? `, peak ${Math.round(device.peak_flops / 1e12)} TFLOPS at maximum clock` : "";
  byId("subtitle").textContent = (device.driver ? `${device.kind === "cpu" ? "Kernel" : "Driver"} ${device.driver}${peak}. ` : "") +
    D.runs.map((run) => run.started).filter(Boolean).sort().map((t) => t.replace("T", " ").replace("Z", " UTC")).slice(0, 1).map((t) => `Measured ${t}. `).join("") +
    D.groups.map((_, i) => `${plural(cellsOf(i).length, "shape")} ${groupName(i)}`).join("; ") + ".";
}

/* ---- warnings ---- */

function warningList() {
  const list = [];
  const types = (g) => `${g.dtype} accumulated in ${g.accumulate}`, several = new Set(D.groups.map(types)).size > 1;
  const key = (cell) => `${D.groups[cell.g].mode} ${cell.shape}${several ? `, ${types(D.groups[cell.g])}` : ""}`;
  const add = (text, items = []) => list.push({ text, items });
  const missing = D.runs.reduce((sum, run) => sum + (run.missing?.length ?? 0), 0) || (D.summary.missing ?? []).length;
  if (missing) add(`The run is not complete: ${plural(missing, "cell")} not measured yet`, D.runs.flatMap((run) => run.missing ?? []));
  const wrong = D.cells.flatMap((cell) => cell.x.filter((x) => /wrong|implausible|tamper/.test(x[1])).map((x) => `${key(cell)}: ${name(x[0])} ${x[1]}: ${x[2]}`));
  if (wrong.length) add(`Failed verification: ${plural(wrong.length, "result")}`, wrong);
  const failed = D.cells.filter((cell) => cell.s === "skipped" || cell.s === "failed");
  if (failed.length) add(`Not measured: ${plural(failed.length, "cell")}`, failed.map((cell) => `${key(cell)}: ${cell.s}: ${cell.r ?? ""}`));
  const left = (D.summary.left_out ?? []).map((row) => `${row.contender ?? row.name ?? ""}: ${row.status}: ${row.reason ?? ""} (${plural(row.cells, "cell")})`);
  if (left.length) add(`Left out: ${plural(left.length, "contender")} that could not run on every shape`, left);
  const slow = D.cells.filter((cell) => cell.d > 0);
  if (slow.length) add(`Throttled: thermal or hardware slowdown in ${plural(slow.length, "cell")}; those blocks are dropped`, slow.map((cell) => `${key(cell)}: ${cell.d} of ${cell.b} blocks dropped`));
  const wide = D.cells.filter((cell) => !cell.c && (cell.s === "ok" || cell.s === "partial"));
  if (wide.length) add(`Not converged: ${plural(wide.length, "cell")} ended before that, with wider intervals than asked for`,
    wide.sort((a, b) => b.w - a.w).map((cell) => `${key(cell)}: \u00b1${known(cell.w) ? (100 * cell.w).toFixed(2) : "?"}%, ${cell.wp ?? ""}`));
  const early = D.cells.filter((cell) => cell.e);
  if (early.length) add(`Launched early: in ${plural(early.length, "cell")} a launch may overlap the one ahead, for whose end it must wait (docs/trust.md, between)`,
    [...new Set(early.flatMap((cell) => cell.e))].map((i) => `${name(i)}: ${plural(early.filter((cell) => cell.e.includes(i)).length, "cell")}`));
  /* One in twenty may; three standard deviations more are no chance. */
  const alarms = (D.summary.aa ?? []).filter(({ with_interval: n, excludes_one: out }) => n >= 10 && out > 0.05 * n + 3 * Math.sqrt(0.0475 * n));
  if (alarms.length) add("A/A: more intervals of a contender against its own copy exclude 0 than chance explains",
    alarms.map((row) => `${row.mode} ${row.timing}: ${row.excludes_one} of ${row.with_interval}; std ${(100 * row.sd_log_ratio).toFixed(2)}%`));
  if (D.runs.some((run) => run.config?.verify?.enabled === false)) add("Results of the contenders were not verified (--no-verify)");
  const dirty = D.runs.filter((run) => /-dirty$/.test(run.build?.commit ?? ""));
  if (dirty.length) add("The program was built from a tree with uncommitted changes", dirty.map((run) => run.build.commit));
  const devices = new Set(D.env.map((env) => `${env.device?.name}, driver ${env.device?.driver}`));
  if (devices.size > 1) add("Different devices or drivers in one report", [...devices]);
  return list;
}

function drawWarnings() {
  const list = warningList();
  byId("warnings-section").hidden = !list.length;
  byId("warnings").innerHTML = list.map(({ text, items }) => items.length
    ? `<details class="warn"><summary>${esc(text)}</summary><ul>${items.slice(0, 400).map((item) => `<li>${esc(item)}</li>`).join("")}</ul></details>`
    : `<details class="warn"><summary>${esc(text)}</summary></details>`).join("");
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
  for (const part of [drawControls, drawTiles, drawHeadline, drawAa, drawScatter, drawDistribution, drawHeatmaps, drawShapes]) part();
}

function chooseColumn(target) {
  const head = target.closest("th[data-column]");
  if (!head) return;
  const column = Number(head.dataset.column);
  state.down = column === state.sort ? !state.down : column >= 4;
  state.sort = column;
  drawShapes();
  document.querySelector(`#shapes th[data-column="${column}"]`).focus({ preventScroll: true });
}

function listen() {
  for (const id of ["group", "candidate", "baseline"])
    byId(id).addEventListener("change", (event) => { state[id] = Number(event.target.value); draw(); });
  byId("timing").addEventListener("change", (event) => { state.timing = event.target.value; draw(); });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("filter").addEventListener("input", (event) => { state.filter = event.target.value; drawShapes(); });
  byId("more").addEventListener("click", () => { state.all = true; drawShapes(); });
  byId("shapes").addEventListener("click", (event) => chooseColumn(event.target));
  byId("shapes").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    chooseColumn(event.target);
  });
  byId("headline").addEventListener("click", (event) => {
    const baseline = Number(event.target.closest("tr[data-baseline]")?.dataset.baseline ?? -1);
    if (baseline >= 0) { state.baseline = baseline; draw(); }
  });
  const heat = byId("heatmaps");
  heat.addEventListener("pointermove", (event) => {
    const cell = D.cells[event.target.dataset?.cell];
    showTip(event, cell ? describe(cell) : "");
  });
  heat.addEventListener("pointerleave", () => showTip(null, ""));
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawScatter(); drawDistribution(); } });
}

byId("timing").insertAdjacentHTML("beforeend", TIMINGS.map((t) => `<label><input type="radio" name="timing" value="${t}"><span>${t}</span></label>`).join(""));
state.timing = D.groups[0]?.headline ?? "device";
drawHeader();
draw();
drawWarnings();
drawProvenance();
listen();
document.documentElement.dataset.readyMs = performance.now().toFixed(0);
