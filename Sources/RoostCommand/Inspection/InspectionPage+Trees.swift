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
