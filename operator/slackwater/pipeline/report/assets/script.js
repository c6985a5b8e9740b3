
// Sorting, filtering and tooltips. Everything is there without it; it only adds. No markup is ever made from text.
"use strict";
(() => {
  document.documentElement.classList.add("lively");

  const table = document.getElementById("groups");
  const body = table?.tBodies[0];
  const rows = body ? [...body.rows] : [];

  const keyOf = (row, column) => row.cells[column].dataset.v;

  // Rows whose figure is not known stay last, whichever way is sorted.
  const order = (column, numeric, down) => (a, b) => {
    const [one, other] = [keyOf(a, column), keyOf(b, column)];
    if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
    const difference = numeric ? one - other : one.localeCompare(other, "en", { numeric: true });
    return down ? -difference : difference;
  };

  const headings = table ? [...table.tHead.rows[0].cells] : [];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const numeric = heading.classList.contains("n");
      const now = heading.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...[...rows].sort(order(column, numeric, down)));
    });
  });

  const box = document.getElementById("filter");
  const told = document.getElementById("shown");
  const everything = told?.textContent;
  box?.addEventListener("input", () => {
    const wanted = box.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const found = [0, 1].some((column) => keyOf(row, column).toLowerCase().includes(wanted));
      row.hidden = !found;
      count += found;
    }
    told.textContent = wanted ? `${count} of ${rows.length} groups` : everything;
  });

  // A tooltip shows the nearest row of the table behind the chart: there is one source of numbers.
  const tip = document.getElementById("tip");
  const nearest = (behind, x, y) => {
    let best = null;
    let least = Infinity;
    for (const row of behind.tBodies[0].rows) {
      const { x: rowX, y: rowY } = row.dataset;
      const distance = Math.abs(rowX - x) + (rowY === undefined ? 0 : 20 * Math.abs(rowY - y));
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  };
  const line = (text) => {
    const span = document.createElement("span");
    span.textContent = text;
    return span;
  };
  for (const canvas of document.querySelectorAll(".canvas")) {
    const behind = document.getElementById(canvas.dataset.behind);
    const plot = canvas.querySelector(".plot");
    const cursor = canvas.querySelector(".cursor");
    const names = [...behind.tHead.rows[0].cells].map((cell) => cell.textContent);
    const hide = () => {
      tip.hidden = true;
      cursor.style.visibility = "hidden";
    };
    canvas.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const row = nearest(behind, ((event.clientX - box.left) / box.width) * 1000, event.clientY - box.top);
      if (!row) return;
      const at = `${row.dataset.x / 10}%`;
      cursor.setAttribute("x1", at);
      cursor.setAttribute("x2", at);
      cursor.style.visibility = "visible";
      const said = [...row.cells].map((cell, index) => [names[index], cell.textContent]);
      tip.replaceChildren(...said.filter(([, words]) => words !== "–").map(([name, words]) => line(`${name}: ${words}`)));
      tip.hidden = false;
      const x = box.left + (row.dataset.x / 1000) * box.width;
      const room = document.documentElement.clientWidth;
      const left = Math.max(8, Math.min(x + 14, room - tip.offsetWidth - 8));
      tip.style.left = `${left + scrollX}px`;
      tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 14) + scrollY}px`;
    });
    canvas.addEventListener("pointerleave", hide);
    addEventListener("scroll", hide, { passive: true });
  }
})();
