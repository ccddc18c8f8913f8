extension InspectionPage {
    /// The map of the file, on a canvas: up to some thousand cells, each filled from below by what is in it, live bytes
    /// in full colour and dead ones pale.
    static let mapScript = #"""
        let highlighted = null;
        let layout = null;
        const cells = data.map.cells, cellBytes = data.map.cellBytes;

        function setUpMap() {
          $("map-note").textContent = (cellBytes === 4096 ? "Each cell is a block of 4096 bytes"
            : "Each cell stands for " + size(cellBytes) + " (" + number(cellBytes / 4096) + " blocks)")
            + ", row by row. Live bytes have the full colour, dead ones are pale; what shares a cell is stacked. "
            + "The arrow keys move from cell to cell.";
          const canvas = $("map");
          let current = 0;
          const at = (event) => {
            const box = canvas.getBoundingClientRect();
            const column = Math.floor((event.clientX - box.left - layout.left) / layout.cell);
            const row = Math.floor((event.clientY - box.top - layout.top) / layout.cell);
            const index = row * layout.columns + column;
            return column >= 0 && column < layout.columns && row >= 0 && index < cells.length ? index : null;
          };
          canvas.addEventListener("mousemove", (event) => {
            const index = at(event);
            if (index === null) hideTip(); else showTip(describeCell(index), event.clientX, event.clientY);
          });
          canvas.addEventListener("mouseleave", hideTip);
          canvas.addEventListener("keydown", (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -layout.columns, ArrowDown: layout.columns }[event.key];
            if (!step) return;
            event.preventDefault();
            current = Math.max(0, Math.min(cells.length - 1, current + step));
            const box = canvas.getBoundingClientRect();
            showTip(describeCell(current), box.left + layout.left + (current % layout.columns) * layout.cell,
              box.top + layout.top + Math.floor(current / layout.columns) * layout.cell);
          });
          canvas.addEventListener("blur", hideTip);
        }

        function describeCell(index) {
          const start = index * cellBytes, end = Math.min(start + cellBytes, data.fileBytes);
          const lines = [number(start) + " – " + number(end - 1), hex(start) + " – " + hex(end - 1)];
          const cell = cells[index];
          for (let place = 0; place < cell.length; place += 3) {
            const name = titles[kinds[cell[place]].name][0];
            if (cell[place + 1]) lines.push(name + ", live: " + size(cell[place + 1]));
            if (cell[place + 2]) lines.push(name + (kinds[cell[place]].name === "prepared" ? "" : ", dead") + ": "
              + size(cell[place + 2]));
          }
          return lines.join("\n");
        }

        function drawMap() {
          const canvas = $("map"), width = canvas.parentElement.clientWidth, left = 74, top = 5;
          const widest = width - left < 640 ? 64 : 128;
          const columns = Math.min(widest, cells.length > 1200 ? 128 : cells.length > 120 ? 64 : 32);
          const cell = Math.max(3, Math.min(30, (width - left) / columns));
          const rows = Math.max(1, Math.ceil(cells.length / columns)), height = Math.ceil(top + rows * cell) + 1;
          const ratio = window.devicePixelRatio || 1;
          layout = { left, top, cell, columns };
          canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
          const pen = canvas.getContext("2d"), colours = getComputedStyle(document.documentElement);
          const colour = (name) => colours.getPropertyValue("--" + name).trim();
          const palette = kinds.map((kind) => colour(kind.name)), empty = colour("empty");
          const pale = parseFloat(colour("dead")), gap = cell > 5 ? 1 : .5;
          const snap = (value) => Math.round(value * ratio) / ratio;
          pen.scale(ratio, ratio);
          pen.font = "11px system-ui, sans-serif"; pen.textAlign = "right"; pen.fillStyle = colour("soft");
          const labels = Math.max(1, Math.ceil(16 / cell));
          for (let row = 0; row < rows; row += labels) {
            pen.fillText(size(row * columns * cellBytes), left - 10, top + row * cell + Math.min(cell, 16) / 2 + 4);
          }
          cells.forEach((contents, index) => {
            const column = index % columns, row = Math.floor(index / columns);
            const x = snap(left + column * cell), y = snap(top + row * cell);
            const across = snap(left + (column + 1) * cell) - x - gap, down = snap(top + (row + 1) * cell) - y - gap;
            pen.globalAlpha = 1; pen.fillStyle = empty; pen.fillRect(x, y, across, down);
            let bottom = y + down;
            for (const state of [1, 2]) {
              for (let place = 0; place < contents.length; place += 3) {
                const part = contents[place + state] / cellBytes * down;
                if (!part) continue;
                const isDim = highlighted !== null && highlighted !== contents[place];
                const isSolid = state === 1 || kinds[contents[place]].name === "unreadable";
                pen.globalAlpha = (isSolid ? 1 : pale) * (isDim ? .12 : 1);
                pen.fillStyle = palette[contents[place]];
                pen.fillRect(x, bottom - part, across, part);
                bottom -= part;
              }
            }
          });
          document.body.dataset.cells = cells.length;
        }
        """#
}
