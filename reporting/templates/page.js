"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const state = new URLSearchParams();

  // Stores the sort order and the filter in the address, so that links keep them.
  const writeAddress = () => history.replaceState(null, "", "#" + state.toString());

  function setState(key, text) {
    if (text) state.set(key, text);
    else state.delete(key);
    writeAddress();
  }

  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? (cell.classList.contains("num") ? undefined : cell.textContent);
  };
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
      const current = button.closest("th").getAttribute("aria-sort");
      const opposite = { ascending: "descending", descending: "ascending" };
      const direction = opposite[current] ?? button.dataset.first;
      sort(button, direction);
      state.set("sort", button.dataset.key);
      state.set("order", direction);
      writeAddress();
    });
  }

  // The text of a row or of a timer in which the filter searches.
  const searchTexts = new Map();
  const searchText = (element) => {
    if (!searchTexts.has(element)) {
      const visible = element.tagName === "TR" ? element.textContent : element.querySelector("summary").textContent;
      searchTexts.set(element, (visible + " " + (element.dataset.find ?? "")).replaceAll("\u200b", "").toLowerCase());
    }
    return searchTexts.get(element);
  };

  function applyFilter(words) {
    if (!filter) return;
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (element) => parts.every((part) => searchText(element).includes(part));
    const isIndex = document.getElementById("platforms");
    const rows = all(isIndex ? "#platforms tbody tr" : "table.sortable tbody tr");
    const details = isIndex ? [] : all("details.timer");
    for (const element of [...rows, ...details]) element.hidden = !matches(element);
    const visible = rows.filter((row) => !row.hidden).length;
    const count = rows.length;
    const rowsInWords = count === 1 ? "1 row" : `${count} rows`;
    shown.textContent = visible === count ? rowsInWords : `${visible} of ${rowsInWords}`;
  }

  filter?.addEventListener("input", () => {
    applyFilter(filter.value);
    setState("filter", filter.value.trim());
  });

  // A fragment that names a timer opens it; other fragments hold a sort order and a filter.
  function applyAddress() {
    const fragment = location.hash.slice(1);
    if (!fragment.includes("=")) {
      const target = fragment && document.getElementById(decodeURIComponent(fragment));
      if (target && target.tagName === "DETAILS") {
        target.hidden = false;
        for (let outer = target; outer; outer = outer.parentElement.closest("details")) outer.open = true;
        target.scrollIntoView();
      }
      return;
    }
    const saved = new URLSearchParams(fragment);
    for (const [key, text] of saved) state.set(key, text);
    if (filter) filter.value = saved.get("filter") ?? "";
    applyFilter(filter?.value ?? "");
    const direction = saved.get("order");
    for (const button of buttons.filter((button) => button.dataset.key === saved.get("sort"))) {
      sort(button, ["ascending", "descending"].includes(direction) ? direction : button.dataset.first);
    }
  }

  // Shows explanations on hover and focus. Escape hides them; the pointer may move onto them.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let hideTimer = 0;
  const hide = () => { tip.hidden = true; };
  const hideSoon = () => { hideTimer = setTimeout(hide, 150); };
  function explain(element) {
    clearTimeout(hideTimer);
    const about = document.getElementById(element.getAttribute("aria-describedby"));
    if (!about) return;
    tip.textContent = about.textContent;
    tip.hidden = false;
    const [anchor, size] = [element.getBoundingClientRect(), tip.getBoundingClientRect()];
    const left = Math.max(8, Math.min(anchor.left, innerWidth - size.width - 8));
    const below = anchor.bottom + 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + size.height < innerHeight ? below : Math.max(8, anchor.top - size.height - 6)}px`;
  }
  for (const element of all("button[aria-describedby]")) {
    element.addEventListener("pointerenter", () => explain(element));
    element.addEventListener("pointerleave", hideSoon);
    element.addEventListener("focus", () => explain(element));
    element.addEventListener("blur", hide);
  }
  tip.addEventListener("pointerenter", () => clearTimeout(hideTimer));
  tip.addEventListener("pointerleave", hideSoon);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", hide, { passive: true });

  for (const button of all(".copy button")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.nextElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        // Pages from files may not write to the clipboard: the code is selected instead.
        getSelection().selectAllChildren(code);
      }
    });
  }

  // Opens all details for printing.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => { for (const element of opened) element.open = false; });

  all(".controls").forEach((element) => { element.hidden = false; });
  applyFilter("");
  addEventListener("hashchange", applyAddress);
  applyAddress();
})();
