extension InspectionPage {
    /// Data, formats, the tip that follows the pointer, tiles, bar and legend.
    static let script = #"""
        const data = JSON.parse(document.getElementById("data").textContent);
        const $ = (id) => document.getElementById(id);
        const kinds = data.contents;
        const titles = {
          header: ["Header", "the file header and its copy"],
          value: ["Values", "values that stand outside their tree: document bodies"],
          node: ["Tree nodes", "nodes of the trees"],
          operations: ["Log", "operations; the live ones are replayed by opening"],
          directory: ["Root directories", "the roots of all trees, one directory per checkpoint"],
          framing: ["Commit framing", "commit records, and zeros that fill commits up to whole blocks"],
          prepared: ["Behind the end", "space prepared for coming commits, or what a crash left"],
          unreadable: ["Unreadable", "bytes within commits that are no chunk"],
        };
        window.addEventListener("error", (event) => { document.body.dataset.error = event.message; });

        const number = (value) => value.toLocaleString("en-US");
        function size(bytes) {
          const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
          let value = bytes, unit = 0;
          while (value >= 1024 && unit < 4) { value /= 1024; unit += 1; }
          return (unit === 0 ? number(value) : value >= 100 ? number(Math.round(value)) : value.toFixed(1))
            + " " + units[unit];
        }
        const percent = (part, whole) => whole ? (100 * part / whole).toFixed(part / whole > .1 ? 0 : 1) + " %" : "0 %";
        const hex = (offset) => "0x" + offset.toString(16);
        const when = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC";
        const plural = (count, one, many) => number(count) + " " + (count === 1 ? one : many);

        function element(name, attributes = {}, text = null, inSvg = false) {
          const made = inSvg ? document.createElementNS("http://www.w3.org/2000/svg", name)
            : document.createElement(name);
          for (const key in attributes) made.setAttribute(key, attributes[key]);
          if (text !== null) made.textContent = text;
          return made;
        }
        const svg = (name, attributes, text = null) => element(name, attributes, text, true);

        function showTip(text, x, y) {
          const tip = $("tip");
          tip.textContent = text;
          tip.hidden = false;
          const box = tip.getBoundingClientRect();
          tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
          tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
        }
        const hideTip = () => { $("tip").hidden = true; };
        document.addEventListener("mousemove", (event) => {
          const target = event.target.closest && event.target.closest("[data-tip]");
          if (target) showTip(target.dataset.tip, event.clientX, event.clientY);
          else if (event.target.id !== "map") hideTip();
        });

        function drawTiles() {
          const entries = data.trees.reduce((sum, tree) => sum + tree.entries, 0);
          const last = data.timeline[data.timeline.length - 1];
          const tiles = [
            [size(data.fileBytes), "file" + (data.encrypted ? ", encrypted" : ""),
              number(data.fileBytes) + " bytes, format version " + data.formatVersion],
            [percent(data.liveBytes, data.fileBytes), "alive: " + size(data.liveBytes),
              "a compaction would leave about " + size(data.liveBytes)],
            [number(data.commits), data.commits === 1 ? "commit in the file" : "commits in the file",
              "the newest has number " + number(data.commit)],
            [number(entries), "entries in " + plural(data.trees.length, "tree", "trees"), "in all trees together"],
            [number(data.generation), data.generation === 1 ? "compaction" : "compactions",
              "this file was made " + when(data.created)],
            [last ? when(last.lastTime).slice(0, 10) : "–", "newest commit", last ? when(last.lastTime) : "none"],
          ];
          for (const [value, label, tip] of tiles) {
            const tile = element("div", { class: "tile", "data-tip": tip });
            tile.append(element("b", {}, value), element("span", {}, label));
            $("tiles").append(tile);
          }
        }

        function drawProblems() {
          if (!data.findings.length) return;
          $("problems").hidden = false;
          $("problems").append(element("h2", {}, "What could not be read"));
          const list = element("ul");
          for (const finding of data.findings) {
            list.append(element("li", {}, finding.what + " at offset " + number(finding.offset)
              + " (" + hex(finding.offset) + ")" + (finding.tree ? ", tree " + finding.tree : "")));
          }
          $("problems").append(list);
        }

        function drawDerived() {
          document.body.dataset.indexes = data.derived.reduce((sum, store) => sum + store.indexes.length, 0);
          $("derived").hidden = !data.derived.length;
          for (const store of data.derived) {
            const list = element("ul");
            if (store.damage) list.append(element("li", {}, "damaged, and made anew when it is read: " + store.damage));
            for (const index of store.indexes) {
              list.append(element("li", { "data-tip": index.version }, index.name + " · " + index.state + " · "
                + plural(index.rows, "row", "rows") + " · " + size(index.bytes) + " · sequence " + number(index.sequence)));
            }
            $("derived").append(element("h3", {}, (store.collection || "a collection that was dropped") + " · "
              + store.file + " · " + size(store.fileBytes)), list);
          }
        }

        const present = kinds.map((kind, index) => ({ ...kind, index })).filter((k) => k.liveBytes + k.deadBytes);

        function drawBar() {
          for (const kind of present) {
            for (const state of ["live", "dead"]) {
              const bytes = kind[state + "Bytes"];
              if (!bytes) continue;
              const part = element("i", { class: state, "data-tip": describeKind(kind, state) });
              part.style.cssText = `flex: ${bytes} 1 0; background: var(--${kind.name})`;
              $("bar").append(part);
            }
            const entry = element("div", { tabindex: 0, "data-tip": titles[kind.name][1] });
            const swatch = element("em");
            for (const state of ["live", "dead"]) {
              const half = element("i", { class: state });
              half.style.background = `var(--${kind.name})`;
              swatch.append(half);
            }
            const amounts = ["framing", "prepared", "unreadable"].includes(kind.name) ? size(kind.deadBytes)
              : size(kind.liveBytes) + " live · " + size(kind.deadBytes) + " dead";
            entry.append(swatch, element("span", {}, titles[kind.name][0]), element("small", {}, amounts));
            const choose = (index) => () => { highlighted = index; drawMap(); };
            entry.addEventListener("mouseenter", choose(kind.index));
            entry.addEventListener("focus", choose(kind.index));
            entry.addEventListener("mouseleave", choose(null));
            entry.addEventListener("blur", choose(null));
            $("legend").append(entry);
          }
        }
        function describeKind(kind, state) {
          const chunks = kind[state + "Chunks"];
          return titles[kind.name][0] + ", " + state + "\n" + size(kind[state + "Bytes"]) + ", "
            + percent(kind[state + "Bytes"], data.fileBytes) + " of the file"
            + (chunks ? "\n" + plural(chunks, "chunk", "chunks") : "");
        }

        function draw() {
          if (location.hash === "#dark" || location.hash === "#light") {
            document.documentElement.dataset.theme = location.hash.slice(1);
          }
          $("theme").addEventListener("click", () => {
            const isDark = getComputedStyle(document.documentElement).getPropertyValue("--page").trim() === "#14161a";
            document.documentElement.dataset.theme = isDark ? "light" : "dark";
            drawMap();
          });
          matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMap);
          addEventListener("resize", () => { drawMap(); drawTimeline(); });
          drawTiles(); drawProblems(); drawBar(); setUpMap(); drawMap(); setUpTimeline(); drawTimeline(); drawTrees();
          drawDerived();
          document.body.dataset.width = document.documentElement.scrollWidth;
          document.body.dataset.drawn = "yes";
        }
        """#
}
