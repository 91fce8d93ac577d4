
"use strict";
(function () {
  const one = (id) => document.getElementById(id);
  const form = one("filters");
  if (!form) return;
  const files = Array.from(document.querySelectorAll(".file"), (section) => ({
    section,
    programs: (section.dataset.p || "").split(" "),
    findings: Array.from(section.querySelectorAll(".finding"), (element) => ({
      element,
      code: element.dataset.c,
      words: (section.firstElementChild.textContent + " " + element.firstElementChild.textContent).toLowerCase(),
    })),
    count: section.querySelector(".count"),
  }));
  const total = files.reduce((sum, file) => sum + file.findings.length, 0);
  const value = (id) => (one(id) ? one(id).value : "");

  function filter() {
    const severities = new Set(Array.from(form.querySelectorAll("[name=severity]:checked"), (box) => box.value));
    const words = value("text").toLowerCase().split(" ").filter(Boolean);
    const rule = value("rule"), fix = value("fix"), program = value("program");
    const promised = value("promise") ? new Set(value("promise").split(" ")) : null;
    let shown = 0;
    for (const file of files) {
      const here = !program || file.programs.includes(program);
      let left = 0;
      for (const finding of file.findings) {
        const data = finding.element.dataset;
        const kept = here && severities.has(data.s) && finding.code.startsWith(rule) && (!fix || data.x === fix) &&
          (!promised || promised.has(finding.code)) && words.every((word) => finding.words.includes(word));
        finding.element.hidden = !kept;
        left += kept;
      }
      file.section.hidden = !left;
      file.count.textContent = left === file.findings.length ? String(left) : left + " of " + file.findings.length;
      shown += left;
    }
    one("shown").textContent = shown + " of " + total;
    one("none").hidden = shown > 0;
  }

  function openAll(open) {
    for (const file of files) for (const finding of file.findings) if (!finding.element.hidden) finding.element.open = open;
  }

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  one("open").addEventListener("click", () => openAll(true));
  one("close").addEventListener("click", () => openAll(false));
  one("clear").addEventListener("click", () => {
    form.reset();
    filter();
  });
  for (const button of document.querySelectorAll(".only")) {
    button.hidden = !one("program");
    button.addEventListener("click", () => {
      one("program").value = button.dataset.p;
      filter();
      form.scrollIntoView();
    });
  }
  window.addEventListener("beforeprint", () => openAll(true));
  filter();
})();
