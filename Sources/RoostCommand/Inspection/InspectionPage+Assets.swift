extension InspectionPage {
    /// Colours that stay apart for the colour-blind, as variables for light and dark; the page follows the system's
    /// choice unless its button was used.
    static let style = #"""
        :root {
          --page: #f6f5f2; --card: #ffffff; --ink: #1d2129; --soft: #636b78; --line: #e3e1db;
          --value: #2f6fde; --node: #d9730d; --operations: #0f9d84; --directory: #9b51c9;
          --header: #3d4450; --framing: #9aa1ad; --prepared: #c9cdd4; --unreadable: #d62f3f;
          --empty: #eceae5; --dead: .24; --accent: #2f6fde;
        }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {
          --page: #14161a; --card: #1c1f25; --ink: #e9ebef; --soft: #98a0ad; --line: #2d323b;
          --value: #5b94ff; --node: #ff9b40; --operations: #2dc9ac; --directory: #c38af0;
          --header: #c9ced8; --framing: #6d7583; --prepared: #3a404b; --unreadable: #ff5f6d;
          --empty: #262a32; --dead: .27; --accent: #5b94ff;
        } }
        :root[data-theme=dark] {
          --page: #14161a; --card: #1c1f25; --ink: #e9ebef; --soft: #98a0ad; --line: #2d323b;
          --value: #5b94ff; --node: #ff9b40; --operations: #2dc9ac; --directory: #c38af0;
          --header: #c9ced8; --framing: #6d7583; --prepared: #3a404b; --unreadable: #ff5f6d;
          --empty: #262a32; --dead: .27; --accent: #5b94ff;
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
        main { max-width: 1160px; margin: 0 auto; padding: 32px 24px 48px; }
        header { display: flex; justify-content: space-between; align-items: flex-start; margin-bottom: 20px; }
        .eyebrow { margin: 0; font-size: 12px; letter-spacing: .1em; text-transform: uppercase; color: var(--soft); }
        h1 { margin: 2px 0 0; font-size: 30px; line-height: 1.2; letter-spacing: -.015em; }
        .path { margin: 2px 0 0; color: var(--soft); font: 13px ui-monospace, "Liberation Mono", monospace;
          overflow-wrap: anywhere; }
        #theme { font-size: 18px; width: 38px; height: 38px; border-radius: 50%; }
        button { color: var(--ink); background: var(--card); border: 1px solid var(--line); cursor: pointer; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
          padding: 18px 20px 20px; margin-bottom: 16px; }
        h2 { margin: 0; font-size: 17px; letter-spacing: -.005em; }
        .note { margin: 2px 0 14px; color: var(--soft); font-size: 13.5px; max-width: 78ch; }
        .row { display: flex; justify-content: space-between; align-items: center; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0; padding: 0;
          overflow: hidden; }
        .tile { padding: 14px 20px; border-right: 1px solid var(--line); margin-right: -1px; }
        .tile b { display: block; font-size: 23px; font-weight: 620; letter-spacing: -.02em;
          font-variant-numeric: tabular-nums; white-space: nowrap; }
        .tile span { font-size: 13px; color: var(--soft); }
        #problems { border-color: var(--unreadable); }
        #problems ul { margin: 6px 0 0; padding-left: 20px; font-size: 13.5px; columns: 2 380px; max-height: 240px;
          overflow: auto; }
        .bar { display: flex; height: 26px; border-radius: 6px; overflow: hidden; gap: 1px; }
        .bar i { display: block; min-width: 1px; transition: opacity .12s; }
        .dead { opacity: var(--dead); }
        .legend { display: grid; grid-template-columns: repeat(auto-fill, minmax(225px, 1fr)); gap: 2px 14px;
          margin-top: 14px; }
        .legend div { display: grid; grid-template-columns: 26px 1fr; gap: 0 10px; align-items: center;
          padding: 5px 8px; margin: 0 -8px; border-radius: 6px; cursor: default; }
        .legend div:hover, .legend div:focus { background: var(--empty); outline: none; }
        .legend em { display: flex; height: 14px; border-radius: 3px; overflow: hidden; }
        .legend em i { flex: 1; }
        .legend span { font-size: 14px; line-height: 1.35; }
        .legend small { grid-column: 2; color: var(--soft); font-size: 12.5px; line-height: 1.35;
          font-variant-numeric: tabular-nums; white-space: nowrap; }
        .map canvas { display: block; width: 100%; outline: none; cursor: crosshair; }
        svg { display: block; width: 100%; height: auto; overflow: visible; }
        svg text { fill: var(--soft); font-size: 11.5px; font-variant-numeric: tabular-nums; }
        .choice { display: flex; }
        .choice button { font: inherit; font-size: 13px; padding: 3px 12px; }
        .choice button:first-child { border-radius: 7px 0 0 7px; }
        .choice button:last-child { border-radius: 0 7px 7px 0; border-left: 0; }
        .choice button[aria-pressed=true] { background: var(--ink); color: var(--card); border-color: var(--ink); }
        .trees { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 14px;
          align-items: start; }
        .tree { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 12px; }
        .tree h3 { margin: 0; font: 600 14.5px ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
        .tree p { margin: 2px 0 10px; font-size: 13px; color: var(--soft); }
        .tree > svg { max-width: 540px; }
        .tree .pair { display: grid; grid-template-columns: repeat(2, minmax(0, 260px)); gap: 18px; margin-top: 12px; }
        .tree h4 { margin: 0 0 4px; font-size: 12px; font-weight: 500; color: var(--soft); }
        footer { color: var(--soft); font-size: 12.5px; text-align: center; padding-top: 8px; }
        #tip { position: fixed; z-index: 9; pointer-events: none; max-width: 340px; padding: 8px 11px;
          border-radius: 8px; background: var(--ink); color: var(--card); font-size: 13px; line-height: 1.45;
          box-shadow: 0 6px 24px #0005; white-space: pre-line; font-variant-numeric: tabular-nums; }
        @media (max-width: 640px) {
          main { padding: 20px 12px 32px; }
          .tiles { grid-template-columns: 1fr 1fr; }
          .tile b { font-size: 20px; }
          .tree > svg text { font-size: 13.5px; }
          .tree .pair { grid-template-columns: minmax(0, 260px); }
        }
        @media print { button { display: none; } section { break-inside: avoid; } }
        """#
}

// MARK: - Script

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
            if (store.damage) list.append(element("li", {}, "damaged; rebuilt when it is read: " + store.damage));
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
