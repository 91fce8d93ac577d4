// Filters above each table of class "filter": a text, and for each column of few values what it must have.
// Without this script the tables are shown whole.
"use strict";

const MOST = 16; // values that a choice may offer

function parts(cell) {
  return cell.textContent.split(/[,;/] /).map((part) => part.trim()).filter(Boolean);
}

function choices(rows, column) {
  const found = new Set(rows.flatMap((row) => parts(row.cells[column])));
  const repeated = rows.filter((row) => row.cells[column].textContent.trim()).length > found.size;
  return repeated && found.size > 1 && found.size <= MOST ? [...found].sort() : [];
}

function choice(name, values) {
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
  label.append(`${name} `, select);
  return [label, select];
}

function filtered(table) {
  const rows = [...table.tBodies[0].rows];
  const bar = document.createElement("div");
  const text = Object.assign(document.createElement("input"), { type: "search", placeholder: "text in a row" });
  const count = Object.assign(document.createElement("output"), { ariaLive: "polite" });
  const selects = [];
  text.ariaLabel = "text in a row";
  bar.className = "filter-bar";
  bar.append(text);
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const values = choices(rows, column);
    if (values.length) {
      const [label, select] = choice(head.textContent.trim(), values);
      bar.append(label);
      selects.push([column, select]);
    }
  });
  const show = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits =
        row.textContent.toLowerCase().includes(wanted) &&
        selects.every(([column, select]) => !select.value || parts(row.cells[column]).includes(select.value));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length}`;
  };
  bar.append(count);
  bar.addEventListener("input", show);
  (table.closest(".table-wrapper") || table).before(bar);
  show();
}

document.querySelectorAll("table.filter").forEach((table) => {
  if (table.tHead && table.tBodies.length && table.tBodies[0].rows.length > 12) filtered(table);
});
