import Foundation
import Roost
import RoostIndex
import RoostStorage

/// One page that shows an inspection in pictures: no network, no other files, of bounded size.
///
/// Its script draws from the JSON in the element `data`, the same that `roost inspect --json` prints, and says in the
/// body's `data-…` attributes what it has drawn, so that a test can tell.
struct InspectionPage {
    let html: String

    init(title: String, _ inspection: StoreInspection, _ derived: [DerivedStore] = []) {
        let place = URL(fileURLWithPath: title)
        self.init(name: place.lastPathComponent, path: place.path, inspection, derived)
    }

    /// - Parameter path: Where the file is; empty where it is not to be shown.
    init(name: String, path: String, _ inspection: StoreInspection, _ derived: [DerivedStore]) {
        let name = InspectionPage.escaped(name)
        // A tree may be named </script>; within JSON strings the escape means the same.
        let data = InspectionJSON.text(of: inspection, path: path, derived).replacingOccurrences(
            of: "<", with: "\\u003c")
        html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(name) – roost inspect</title>
            <style>
            \(InspectionPage.style)
            </style>
            </head>
            <body>
            \(InspectionPage.markup(name: name, path: InspectionPage.escaped(path)))
            <script type="application/json" id="data">\(data)</script>
            <script>
            \(InspectionPage.script)
            \(InspectionPage.mapScript)
            \(InspectionPage.chartScript)
            \(InspectionPage.treeScript)
            draw();
            </script>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: "\"", with: "&quot;")
    }

    private static func markup(name: String, path: String) -> String {
        """
        <main>
        <header>
          <div><p class="eyebrow">roost inspect</p><h1>\(name)</h1><p class="path">\(path)</p></div>
          <button id="theme" type="button" aria-label="Switch between light and dark">◐</button>
        </header>
        <section class="tiles" id="tiles"></section>
        <section id="problems" hidden></section>
        <section>
          <h2>Where the bytes are</h2>
          <p class="note">Live is what the newest commit needs and a compaction keeps; dead is what only older commits
          lead to. Point at a kind to find it in the map.</p>
          <div id="bar" class="bar"></div>
          <div id="legend" class="legend"></div>
        </section>
        <section>
          <h2>The file, from its first byte to its last</h2>
          <p class="note" id="map-note"></p>
          <div class="map"><canvas id="map" tabindex="0" role="img" aria-label="Map of the file's blocks"></canvas></div>
        </section>
        <section>
          <div class="row"><h2>Commits</h2><div class="choice" id="axis">
            <button type="button" data-axis="number" aria-pressed="true">by commit</button>
            <button type="button" data-axis="time" aria-pressed="false">by time</button></div></div>
          <p class="note">How the file grew, and below how many bytes each commit appended. Pale is
          the file, full what was alive; a triangle is a checkpoint.</p>
          <svg id="timeline" role="img" aria-label="Commits on a time line"></svg>
        </section>
        <section>
          <h2>Trees</h2>
          <p class="note">Each bar is a level of the tree, the root on top and the leaves at the bottom; its width grows with
          the logarithm of the number of nodes, its filled part is how full they are.</p>
          <div id="trees" class="trees"></div>
        </section>
        <section id="derived" hidden>
          <h2>Indexes and views</h2>
          <p class="note">They stand in files of their own, and can always be rebuilt from the documents.</p>
        </section>
        <footer>Made by roost \(RoostVersion.number). This page is complete in itself: it loads nothing.</footer>
        </main>
        <div id="tip" role="status" hidden></div>
        """
    }
}

// MARK: - Trees

extension InspectionPage {
    /// A card for each tree: its levels as a pyramid, how full its leaves are, how large its values.
    static let treeScript = #"""
        function drawTrees() {
          const most = Math.max(2, ...data.trees.flatMap((tree) => tree.levels.map((level) => level.nodes)));
          const shown = data.trees.slice(0, 200);
          for (const tree of shown) {
            const card = element("div", { class: "tree" });
            card.append(element("h3", {}, tree.name), element("p", {}, describeTree(tree)));
            if (tree.levels.length) {
              const pair = element("div", { class: "pair" });
              pair.append(histogram("How full the leaves are", fillBars(tree.levels[0]), "var(--node)"));
              if (tree.valueSizes.some(Boolean)) {
                pair.append(histogram("How large the values are", sizeBars(tree), "var(--value)"));
              }
              card.append(pyramid(tree, most), pair);
            }
            $("trees").append(card);
          }
          if (shown.length < data.trees.length) {
            $("trees").append(element("p", { class: "note" }, "and " + plural(data.trees.length - shown.length,
              "tree", "trees") + " more: roost inspect --json lists all"));
          }
          document.body.dataset.trees = shown.length;
        }

        function describeTree(tree) {
          const parts = [tree.entries ? plural(tree.entries, "entry", "entries") : "empty"];
          if (tree.levels.length) parts.push("depth " + tree.levels.length);
          if (tree.nodeBytes) parts.push(size(tree.nodeBytes) + " of nodes");
          if (tree.valueBytes) parts.push(size(tree.valueBytes) + " of values");
          if (tree.borrowedValues) parts.push(number(tree.borrowedValues) + " values in another tree");
          if (tree.unreadableNodes) parts.push(number(tree.unreadableNodes) + " nodes unreadable");
          if (tree.reduction) parts.push("reduction " + tree.reduction);
          return parts.join(" · ");
        }

        function pyramid(tree, most) {
          const [width, row, room] = [480, 24, 330], levels = [...tree.levels].reverse();
          const picture = svg("svg", { viewBox: `0 0 ${width} ${levels.length * row}`, role: "img",
            "aria-label": "levels of " + tree.name });
          levels.forEach((level, index) => {
            const height = tree.levels.length - 1 - index;
            const length = room * (.06 + .94 * Math.log2(Math.max(level.nodes, 1)) / Math.log2(most));
            const full = level.nodes ? Math.min(1, level.pageBytes / (level.nodes * data.nodeSize)) : 0;
            const start = (room - length) / 2, top = index * row + 3;
            const name = height === 0 ? "leaves" : index === 0 ? "the root" : "level " + height;
            const tip = [name + ": " + plural(level.nodes, "node", "nodes"),
              number(level.entries) + (height === 0 ? " entries" : " children") + ", "
                + (level.entries / Math.max(level.nodes, 1)).toFixed(1) + " each",
              percent(level.pageBytes, level.nodes * data.nodeSize) + " full, " + size(level.storedBytes) + " in the file",
              level.changedNodes ? number(level.changedNodes) + " changed since the last checkpoint" : null,
            ].filter(Boolean).join("\n");
            const group = svg("g", { "data-tip": tip });
            const shape = { y: top, height: row - 7, rx: 4, fill: "var(--node)" };
            group.append(svg("rect", { ...shape, x: start, width: length, opacity: "var(--dead)" }),
              svg("rect", { ...shape, x: start, width: Math.max(length * full, 2) }),
              svg("text", { x: room + 14, y: top + 13 }, plural(level.nodes, height ? "node" : "leaf",
                height ? "nodes" : "leaves") + ", " + percent(full, 1) + " full"));
            picture.append(group);
          });
          return picture;
        }

        function fillBars(leaves) {
          return leaves.fill.map((count, bin) => ({ count, label: bin % 3 === 0 || bin === 9 ? bin * 10 + " %" : "",
            tip: plural(count, "leaf", "leaves") + " " + (bin === 9 ? "90 % full or more"
              : bin * 10 + " to " + (bin * 10 + 10) + " % full") }));
        }
        function sizeBars(tree) {
          let [low, high] = [tree.valueSizes.findIndex(Boolean), tree.valueSizes.length - 1];
          while (high > 0 && !tree.valueSizes[high]) high -= 1;
          if (low < 0) [low, high] = [0, 0];
          high = Math.max(high, low + 4);
          const bars = [];
          for (let bin = low; bin <= high; bin += 1) {
            const [from, to] = bin === 0 ? [0, 0] : [2 ** (bin - 1), 2 ** bin - 1];
            bars.push({ count: tree.valueSizes[bin] || 0, label: (bin - low) % Math.ceil((high - low + 1) / 5) ? "" : size(from)
              .replace(" bytes", " B"), tip: plural(tree.valueSizes[bin] || 0, "value", "values") + " of "
              + (from === to ? size(from) : number(from) + " to " + number(to) + " bytes") });
          }
          return bars;
        }
        function histogram(title, bars, fill) {
          const [width, height] = [230, 70], most = Math.max(1, ...bars.map((bar) => bar.count));
          const picture = svg("svg", { viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": title });
          const step = width / bars.length;
          picture.append(svg("line", { x1: 0, x2: width, y1: height, y2: height, stroke: "var(--line)" }));
          bars.forEach((bar, index) => {
            const tall = bar.count ? Math.max(2, bar.count / most * (height - 4)) : 0;
            const group = svg("g", { "data-tip": bar.tip });
            group.append(svg("rect", { x: index * step, y: 0, width: step, height, fill: "transparent" }),
              svg("rect", { x: index * step + 1, y: height - tall, width: Math.max(1, step - 2), height: tall, rx: 2, fill }),
              svg("text", { x: index * step + 1, y: height + 13 }, bar.label));
            picture.append(group);
          });
          const box = element("div");
          box.append(element("h4", {}, title), picture);
          return box;
        }
        """#
}

// MARK: - Map

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

// MARK: - Timeline

extension InspectionPage {
    /// The time line: the file's growth and its live bytes above, what each commit appended below.
    static let chartScript = #"""
        let axis = "number";

        function setUpTimeline() {
          for (const button of $("axis").querySelectorAll("button")) {
            button.addEventListener("click", () => {
              axis = button.dataset.axis;
              for (const other of $("axis").querySelectorAll("button")) {
                other.setAttribute("aria-pressed", String(other === button));
              }
              drawTimeline();
            });
          }
        }

        function describeSpan(span) {
          const one = span.count === 1;
          return [(one ? "Commit " + number(span.last) : "Commits " + number(span.first) + " – " + number(span.last)),
            one ? when(span.lastTime) : when(span.firstTime) + " –\n" + when(span.lastTime),
            size(span.bytes) + (one ? "" : " in " + plural(span.count, "commit", "commits")),
            span.checkpoints ? (one ? "a checkpoint" : plural(span.checkpoints, "checkpoint", "checkpoints")) : null,
            "file then: " + size(span.end), "alive then: about " + size(span.liveBytes)].filter(Boolean).join("\n");
        }

        function drawTimeline() {
          const chart = $("timeline"), spans = data.timeline;
          chart.replaceChildren();
          const width = Math.max(300, Math.round(chart.getBoundingClientRect().width));
          const [left, right, growth, gap, bars] = [74, 10, 170, 26, 70];
          chart.setAttribute("viewBox", `0 0 ${width} ${growth + gap + bars + 26}`);
          document.body.dataset.spans = spans.length;
          if (!spans.length) return;
          const first = spans[0], last = spans[spans.length - 1], room = width - left - right;
          const byTime = axis === "time" && last.lastTime > first.firstTime;
          const range = byTime ? [first.firstTime, last.lastTime] : [first.first, last.last + 1];
          const x = (value) => left + (value - range[0]) / (range[1] - range[0]) * room;
          const begin = (span) => x(byTime ? span.firstTime : span.first);
          const finish = (span) => x(byTime ? span.lastTime : span.last + 1);
          const most = Math.max(...spans.map((span) => span.end), 1);
          const y = (bytes) => growth - Math.min(bytes, most) / most * (growth - 8);

          const step = 2 ** Math.ceil(Math.log2(most / 5));
          for (let bytes = 0; bytes <= most; bytes += step) {
            chart.append(svg("line", { x1: left, x2: width - right, y1: y(bytes), y2: y(bytes), stroke: "var(--line)" }));
            chart.append(svg("text", { x: left - 10, y: y(bytes) + 4, "text-anchor": "end" }, size(bytes)));
          }
          const area = (field) => {
            let path = `M${begin(first)} ${growth}`;
            for (const span of spans) path += ` L${begin(span)} ${y(span[field])} L${finish(span)} ${y(span[field])}`;
            return path + ` L${finish(last)} ${growth} Z`;
          };
          chart.append(svg("path", { d: area("end"), fill: "var(--accent)", opacity: "var(--dead)" }));
          chart.append(svg("path", { d: area("liveBytes"), fill: "var(--accent)", opacity: ".9" }));

          const base = growth + gap + bars, tallest = Math.max(...spans.map((span) => span.bytes / span.count), 1);
          const isMarked = spans.filter((span) => span.checkpoints).length <= 90;
          spans.forEach((span) => {
            const from = begin(span), to = Math.max(finish(span), from + 1);
            const space = to - from > 4 ? 1 : 0;
            const height = Math.max(1, span.bytes / span.count / tallest * bars);
            const group = svg("g", { "data-tip": describeSpan(span), class: "span" });
            group.append(svg("rect", { x: from, y: base - height, width: Math.max(.8, to - from - space), height,
              fill: "var(--operations)", rx: to - from > 8 ? 2 : 0 }));
            if (span.checkpoints && isMarked) {
              const middle = (from + to) / 2;
              group.append(svg("path", { d: `M${middle - 4} ${base + 8} l4 -6 l4 6 Z`, fill: "var(--directory)" }));
            }
            // The whole column answers to the pointer.
            group.append(svg("rect", { x: from, y: 0, width: Math.max(1, to - from), height: base + 10,
              fill: "transparent" }));
            chart.append(group);
          });
          chart.append(svg("text", { x: left - 10, y: base - bars + 8, "text-anchor": "end" }, size(tallest)));
          chart.append(svg("text", { x: left - 10, y: base, "text-anchor": "end" }, "0"));
          const label = (value) => byTime ? when(value) : "commit " + number(value);
          chart.append(svg("text", { x: left, y: base + 24 }, label(range[0])));
          chart.append(svg("text", { x: width - right, y: base + 24, "text-anchor": "end" },
            label(byTime ? range[1] : last.last)));
        }
        """#
}
