(() => {
  // Tables that can be sorted: their headings become buttons.
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.hasAttribute("data-fixed")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent.trim();
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [value(a, column), value(b, column)];
          const [p, q] = [Number(x), Number(y)];
          const order = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y, undefined, { numeric: true }) : p - q;
          return up ? order : -order;
        });
        body.append(...rows);
      });
    });
  }
  // The text of the nearest point under the pointer.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  const show = (text, event) => {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 10)}px`;
  };
  for (const figure of document.querySelectorAll("figure[data-hover]")) {
    const svg = figure.querySelector("svg");
    const points = JSON.parse(figure.dataset.hover);
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width;
      const y = (event.clientY - box.top) / box.height;
      let best = null, least = 0.004;
      for (const point of points) {
        const far = (point[0] - x) ** 2 + 0.15 * (point[1] - y) ** 2;
        if (far < least) { least = far; best = point; }
      }
      if (best) show(best[2], event); else hide();
    });
  }
})();
