extension AdministrationPage {
    /// Queries and changes.
    static let queries = #"""
        async function find(db) {
          const usual = { selector: {}, limit: 25 };
          const edit = editor(JSON.stringify(usual, null, 2), "The request as JSON");
          edit.area.style.minHeight = "9rem";
          const results = h("div", { "aria-live": "polite" });
          const base = "/" + part(db);
          show(db, [["Databases", "#/"], [db, "#/db/" + part(db)]], tabs(db, "Find"), edit.area, edit.problem,
            h("div", { class: "bar" },
              h("button", { class: "main", onclick: run(async () => {
                const begun = performance.now();
                const answer = await ask("POST", base + "/_find", edit.value());
                const took = (performance.now() - begun).toFixed(0);
                results.replaceChildren(
                  h("p", { class: "soft" }, count(answer.docs.length) + " documents in " + took + " ms. "
                    + (answer.warning || "")),
                  ...answer.docs.map((found) => h("div", { class: "card" },
                    found._id ? h("a", { href: "#/db/" + part(db) + "/doc/" + part(found._id) }, found._id) : null,
                    h("pre", {}, JSON.stringify(found, null, 2)))));
              }) }, "Find"),
              h("button", { onclick: run(async () => {
                const answer = await ask("POST", base + "/_explain", edit.value());
                results.replaceChildren(h("div", { class: "card" },
                  h("p", {}, "Index: ", h("code", {}, answer.index.name)), h("pre", {}, answer.plan.join("\n"))));
              }) }, "Explain")), results);
        }

        async function views(db) {
          const answer = await ask("GET", "/" + part(db) + "/_design_docs?include_docs=true");
          const names = answer.rows.flatMap(({ doc }) => Object.keys(doc.views || {}).map((view) =>
            [doc._id + "/" + view, docPath(db, doc._id) + "/_view/" + part(view), Boolean(doc.views[view].reduce)]));
          const choice = h("select", { class: "grow", "aria-label": "View" },
            names.map(([name, path], index) => h("option", { value: index }, name)));
          const key = h("input", { placeholder: "key, as JSON", "aria-label": "Key, as JSON" });
          const reduces = h("input", { type: "checkbox", checked: true });
          const results = h("div", { "aria-live": "polite" });
          const read = run(async () => {
            const [, path, isReduced] = names[Number(choice.value)];
            const isGrouped = isReduced && reduces.checked;
            const query = "?limit=200" + (isReduced ? "&reduce=" + reduces.checked : "")
              + (isGrouped ? "&group=true" : "") + (key.value ? "&key=" + part(key.value) : "");
            const answer = await ask("GET", path + query);
            const json = (value) => h("code", {}, JSON.stringify(value));
            results.replaceChildren(
              h("p", { class: "soft" }, answer.total_rows === undefined ? count(answer.rows.length) + " groups"
                : count(answer.rows.length) + " of " + count(answer.total_rows) + " rows"),
              table(isGrouped ? ["Key", "Value"] : ["Key", "Value", "Document"], answer.rows.map((row) => isGrouped
                ? [json(row.key), json(row.value)]
                : [json(row.key), json(row.value),
                  h("a", { href: "#/db/" + part(db) + "/doc/" + part(row.id) }, row.id)])));
          });
          show(db, [["Databases", "#/"], [db, "#/db/" + part(db)]], tabs(db, "Views"),
            names.length ? h("div", { class: "bar" }, choice, key,
              h("label", {}, reduces, " reduced"), h("button", { class: "main", onclick: read }, "Read"))
              : h("p", { class: "soft" }, "There are no views: they are kept in documents whose ID begins with _design/."),
            results);
        }

        async function changes(db) {
          const body = h("tbody");
          const state = h("span", { class: "soft" }, "listening");
          show(db, [["Databases", "#/"], [db, "#/db/" + part(db)]], tabs(db, "Changes"),
            h("p", {}, "What happens, as it happens: ", state),
            h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {},
              h("th", {}, "Sequence"), h("th", {}, "Document"), h("th", {}, "Revision"))), body)));
          const abort = new AbortController();
          leave = () => abort.abort();
          const latest = await ask("GET", "/" + part(db) + "/_changes?descending=true&limit=20");
          function add(row) {
            body.prepend(h("tr", {}, h("td", {}, h("code", {}, String(row.seq).split("-")[0])),
              h("td", {}, h("a", { href: "#/db/" + part(db) + "/doc/" + part(row.id) }, row.id),
                row.deleted ? h("span", { class: "bad" }, " deleted") : null),
              h("td", {}, h("code", {}, short(row.changes[0].rev)))));
            while (body.rows.length > 200) body.lastChild.remove();
          }
          latest.results.reverse().forEach(add);
          const response = await fetch("/" + part(db) + "/_changes?feed=continuous&heartbeat=10000&since="
            + part(latest.results.length ? latest.results[latest.results.length - 1].seq : "now"), { signal: abort.signal });
          const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
          let rest = "";
          (async () => {
            try {
              for (;;) {
                const { value, done } = await reader.read();
                if (done) break;
                const lines = (rest + value).split("\n");
                rest = lines.pop();
                lines.filter(Boolean).map((line) => JSON.parse(line)).filter((row) => row.id).forEach(add);
              }
              state.textContent = "ended";
            } catch (error) {
              if (error.name !== "AbortError") state.textContent = "cut off; reload to go on";
            }
          })();
        }

        """#
}
