/* Run inside the page by tests/e2e_page.sh: uses it as a reader would and writes down what it then shows. */
(() => {
  const said = [];
  const say = (what, value) => said.push(`${what}=${value}`);
  const rows = () => [...document.querySelectorAll("#shapes tbody tr")];
  const shapes = () => rows().map((row) => row.cells[0].textContent.trim().split(" ")[0]).join(",");
  const head = (text) => [...document.querySelectorAll("#shapes th")].find((th) => th.textContent === text);
  const type = (text) => {
    const filter = document.getElementById("filter");
    filter.value = text;
    filter.dispatchEvent(new Event("input", { bubbles: true }));
  };
  say("ready", Number(document.documentElement.dataset.readyMs) < 1000 ? "in time" : document.documentElement.dataset.readyMs);
  say("warnings", [...document.querySelectorAll("#warnings summary")].map((one) => one.textContent).join("|"));
  say("details", [...document.querySelectorAll("#warnings li")].map((one) => one.textContent).join("|"));
  say("time-of", [...document.querySelectorAll(".tile span")].at(-1)?.textContent);
  say("heads", [...document.querySelectorAll("#headline th.group")].map((one) => one.textContent).join("|"));
  say("headline", [...(document.querySelector("#headline tbody tr")?.cells ?? [])].map((one) => one.textContent).join("|"));
  say("baselines", document.querySelectorAll("#headline tbody tr").length);
  say("dots", document.querySelectorAll("#scatter circle").length);
  say("heat", document.querySelectorAll("#heatmaps rect[data-cell]").length);
  head("device").click();
  say("falling", shapes());
  say("fastest", rows()[0].cells[6].textContent);
  head("device").click();
  say("rising", shapes());
  type("m>=128");
  say("filtered", shapes());
  say("count", document.getElementById("count").textContent);
  type("speedup<0");
  say("slower", shapes());
  type("64x64x64");
  say("time", rows()[0].cells[2].textContent);
  say("wide", document.documentElement.scrollWidth <= innerWidth ? "no" : "yes");
  const out = document.createElement("pre");
  out.textContent = "PAGE " + said.join("\nPAGE ") + "\n";
  document.body.append(out);
})();
