"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const state = new URLSearchParams();

  // Stores the sort order and the filter in the address, so that links keep them.
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
      // Unknown values come last in both directions.
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
    const rows = all("table.sortable tbody tr");
    for (const element of [...rows, ...all("details.timer")]) element.hidden = !fits(element);
    const visible = rows.filter((row) => !row.hidden).length;
    const count = rows.length;
    shown.textContent = visible === count ? `${count} rows` : `${visible} of ${count} rows`;
  }

  filter.addEventListener("input", () => {
    narrow(filter.value);
    keep("filter", filter.value.trim());
  });

  // A fragment that names a timer opens it; other fragments hold a sort order and a filter.
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
    const direction = asked.get("order");
    for (const button of buttons.filter((button) => button.dataset.key === asked.get("sort"))) {
      sort(button, ["ascending", "descending"].includes(direction) ? direction : button.dataset.first);
    }
  }

  // Shows explanations on hover and focus. Escape hides them; the pointer may move onto them.
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

  // Opens all details for printing.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => { for (const element of opened) element.open = false; });

  all(".controls").forEach((element) => { element.hidden = false; });
  narrow("");
  addEventListener("hashchange", follow);
  follow();
})();
