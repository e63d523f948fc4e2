"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const state = new URLSearchParams();

  // What is worth a link: the order and the filter.
  const remember = () => history.replaceState(null, "", "#" + state.toString());

  function keep(key, text) {
    if (text) state.set(key, text);
    else state.delete(key);
    remember();
  }

  const value = (row, column) => row.cells[column].dataset.v;
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  };

  function sort(button, direction) {
    const head = button.closest("th");
    const table = head.closest("table");
    const body = table.tBodies[0];
    const column = head.cellIndex;
    const sign = direction === "descending" ? -1 : 1;
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const [x, y] = [value(a, column), value(b, column)];
      // What is not known comes last, whichever way.
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return sign * compare(x, y);
    });
    body.append(...rows);
    all("th[aria-sort]", table.tHead).forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", direction);
  }

  const buttons = all("table.sortable thead button");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const now = button.closest("th").getAttribute("aria-sort");
      const other = { ascending: "descending", descending: "ascending" };
      const direction = other[now] ?? button.dataset.first;
      sort(button, direction);
      state.set("sort", button.dataset.key);
      state.set("order", direction);
      remember();
    });
  }

  const hay = new Map();
  const text = (element) => {
    if (!hay.has(element)) {
      const told = element.tagName === "TR" ? element.textContent : element.querySelector("summary").textContent;
      hay.set(element, (told + " " + (element.dataset.find ?? "")).toLowerCase());
    }
    return hay.get(element);
  };

  function narrow(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (element) => wanted.every((word) => text(element).includes(word));
    const tables = all("table.sortable tbody").filter((body) => !body.closest("section[hidden]"));
    const rows = all("table.sortable tbody tr");
    for (const element of [...rows, ...all("details.timer")]) element.hidden = !fits(element);
    const shownRows = tables.flatMap((body) => [...body.rows]);
    const visible = shownRows.filter((row) => !row.hidden).length;
    const count = shownRows.length;
    shown.textContent = visible === count ? `${count} rows` : `${visible} of ${count} rows`;
  }

  filter.addEventListener("input", () => {
    narrow(filter.value);
    keep("filter", filter.value.trim());
  });

  // Of matrices of one figure each, one is shown; of their columns, those of the timers that are asked for.
  const turns = all("section[data-figure]");
  const figure = document.getElementById("figure");
  const timers = document.getElementById("timers");
  const columns = document.createElement("style");
  document.head.append(columns);

  function turn(wanted) {
    const chosen = turns.find((section) => section.dataset.figure === wanted) ?? turns[0];
    for (const section of turns) section.hidden = section !== chosen;
    figure.value = chosen.dataset.figure;
    narrow(filter.value);
  }

  function choose(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const rules = turns.flatMap((section) => {
      const table = section.querySelector("table");
      const heads = [...table.tHead.rows[0].cells].slice(1).map((head) => head.textContent.toLowerCase());
      const left = heads.map((head, at) => (wanted.every((word) => head.includes(word)) ? 0 : at + 2)).filter(Boolean);
      return left.map((at) => `#${table.id} tr > :nth-child(${at}) { display: none; }`);
    });
    columns.textContent = rules.join("\n");
  }

  if (figure && turns.length) {
    for (const section of turns) {
      const option = document.createElement("option");
      option.value = option.textContent = section.dataset.figure;
      figure.append(option);
    }
    figure.addEventListener("change", () => { turn(figure.value); keep("figure", figure.value); });
    timers.addEventListener("input", () => { choose(timers.value); keep("timers", timers.value.trim()); });
  }

  // A link to a timer opens it; any other fragment is an order and a filter.
  function follow() {
    const fragment = location.hash.slice(1);
    if (!fragment.includes("=")) {
      const target = fragment && document.getElementById(fragment);
      if (target && target.tagName === "DETAILS") {
        target.hidden = false;
        target.open = true;
        target.scrollIntoView();
      }
      return;
    }
    const asked = new URLSearchParams(fragment);
    for (const [key, text] of asked) state.set(key, text);
    filter.value = asked.get("filter") ?? "";
    narrow(filter.value);
    if (figure && turns.length) {
      turn(asked.get("figure"));
      timers.value = asked.get("timers") ?? "";
      choose(timers.value);
    }
    const direction = asked.get("order");
    for (const button of buttons.filter((button) => button.dataset.key === asked.get("sort"))) {
      sort(button, ["ascending", "descending"].includes(direction) ? direction : button.dataset.first);
    }
  }

  // Explanations, on hover and on focus; Escape puts them away, and the pointer may rest on them.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let leaving = 0;
  const hide = () => { tip.hidden = true; };
  const leave = () => { leaving = setTimeout(hide, 150); };
  function explain(element) {
    clearTimeout(leaving);
    const about = document.getElementById(element.getAttribute("aria-describedby"));
    if (!about) return;
    tip.textContent = about.textContent;
    tip.hidden = false;
    const [at, size] = [element.getBoundingClientRect(), tip.getBoundingClientRect()];
    const left = Math.max(8, Math.min(at.left, innerWidth - size.width - 8));
    const below = at.bottom + 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + size.height < innerHeight ? below : Math.max(8, at.top - size.height - 6)}px`;
  }
  for (const element of all("button[aria-describedby]")) {
    element.addEventListener("pointerenter", () => explain(element));
    element.addEventListener("pointerleave", leave);
    element.addEventListener("focus", () => explain(element));
    element.addEventListener("blur", hide);
  }
  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", leave);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", hide, { passive: true });

  // On paper everything lies open.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => { for (const element of opened) element.open = false; });

  all(".controls").forEach((element) => { element.hidden = false; });
  narrow("");
  if (figure && turns.length) turn("");
  addEventListener("hashchange", follow);
  follow();
})();
