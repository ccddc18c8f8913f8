extension AdministrationPage {
    /// Mango, SQL++, views, indexes and changes.
    static let queries = #"""
        const json = (value) => h("code", {}, value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

        async function find(db) {
          const edit = editor(JSON.stringify({ selector: {}, limit: 25 }, null, 2), "Request", "9rem");
          const results = h("div", { "aria-live": "polite" });
          const base = "/" + part(db);
          const read = run(async () => {
            const begun = performance.now();
            const answer = await ask("POST", base + "/_find", edit.value());
            const took = (performance.now() - begun).toFixed(0);
            results.replaceChildren(
              soft(count(answer.docs.length) + " documents in " + took + " ms. " + (answer.warning || "")),
              ...answer.docs.map((found) => h("div", { class: "card" },
                found._id ? h("a", { href: docLink(db, found._id) }, found._id) : null,
                h("pre", {}, JSON.stringify(found, null, 2)))));
          });
          edit.area.addEventListener("keydown", commandKey("Enter", read));
          show(db, [["Databases", "#/"]], tabs(db, "Find"), edit.box,
            h("div", { class: "bar" }, h("button", { class: "main", onclick: read }, "Run"),
              h("button", { onclick: run(async () => {
                const answer = await ask("POST", base + "/_explain", edit.value());
                results.replaceChildren(h("div", { class: "card" },
                  h("p", {}, "Index: ", h("code", {}, answer.index.name)), h("pre", {}, answer.plan.join("\n"))));
              }) }, "Explain"), h("span", { class: "soft" }, "Ctrl-Enter runs it.")), results);
        }

        // Columns of rows: of rows that consist of one object each, as SELECT * has them, the properties of these.
        function columnsOf(answer) {
          const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
          let rows = answer.rows;
          const [only] = answer.columns;
          if (answer.columns.length === 1 && rows.length && rows.every((row) => isObject(row[only]))) rows = rows.map((row) => row[only]);
          const names = rows === answer.rows ? answer.columns : [];
          return { rows, names: [...new Set([...names, ...rows.flatMap((row) => Object.keys(row))])] };
        }

        async function sql(db) {
          const area = h("textarea", { spellcheck: "false", autocapitalize: "off" });
          area.value = sessionStorage.getItem("sql " + db) || "SELECT * FROM _ LIMIT 25";
          area.style.minHeight = "6rem";
          area.addEventListener("input", () => sessionStorage.setItem("sql " + db, area.value));
          const values = editor("{}", "Parameters", "3.5rem");
          const results = h("div", { "aria-live": "polite" });
          const request = (isExplained) => ask("POST", "/" + part(db) + "/_query",
            { statement: area.value, parameters: values.value(), explain: isExplained });
          const read = run(async () => {
            const begun = performance.now();
            const answer = await request(false);
            const took = (performance.now() - begun).toFixed(0);
            const { rows, names } = columnsOf(answer);
            const isNumber = (name) => rows.some((row) => typeof row[name] === "number")
              && rows.every((row) => row[name] == null || typeof row[name] === "number");
            const heads = names.map((name) => (isNumber(name) ? "#" : "") + name);
            const shownRows = rows.slice(0, 1000);
            results.replaceChildren(
              soft(count(rows.length) + " rows from " + count(answer.documents_read) + " documents in " + took + " ms."
                + (shownRows.length < rows.length ? " The first 1,000:" : "")),
              table(heads, shownRows.map((row) => names.map((name) => json(row[name])))));
          });
          for (const input of [area, values.area]) input.addEventListener("keydown", commandKey("Enter", read));
          show(db, [["Databases", "#/"]], tabs(db, "SQL++"), field("Statement", area), values.box,
            h("div", { class: "bar" }, h("button", { class: "main", onclick: read }, "Run"),
              h("button", { onclick: run(async () => {
                const answer = await request(true);
                results.replaceChildren(h("div", { class: "card" }, h("pre", {}, answer.text.join("\n"))));
              }) }, "Explain"),
              h("span", { class: "soft" }, "_ is this database. Ctrl-Enter runs it.")), results);
        }

        async function views(db) {
          const answer = await ask("GET", "/" + part(db) + "/_design_docs?include_docs=true");
          const names = answer.rows.flatMap(({ doc }) => doc.language === "query" ? [] : Object.keys(doc.views || {}).map((view) =>
            [doc._id + "/" + view, docPath(db, doc._id) + "/_view/" + part(view), Boolean(doc.views[view].reduce)]));
          const view = h("select", {}, names.map(([name], index) => h("option", { value: index }, name)));
          const key = h("input", { autocomplete: "off", spellcheck: "false" });
          const reduces = h("input", { type: "checkbox", checked: true });
          const results = h("div", { "aria-live": "polite" });
          const read = run(async () => {
            const [, path, isReduced] = names[Number(view.value)];
            const isGrouped = isReduced && reduces.checked;
            const query = "?limit=200" + (isReduced ? "&reduce=" + reduces.checked : "")
              + (isGrouped ? "&group=true" : "") + (key.value ? "&key=" + part(key.value) : "");
            const answer = await ask("GET", path + query);
            const text = (value) => h("code", {}, JSON.stringify(value));
            results.replaceChildren(
              soft(answer.total_rows === undefined ? count(answer.rows.length) + " groups"
                : count(answer.rows.length) + " of " + count(answer.total_rows) + " rows"),
              table(isGrouped ? ["Key", "Value"] : ["Key", "Value", "Document"], answer.rows.map((row) => isGrouped
                ? [text(row.key), text(row.value)]
                : [text(row.key), text(row.value), h("a", { href: docLink(db, row.id) }, row.id)])));
          });
          show(db, [["Databases", "#/"]], tabs(db, "Views"),
            names.length ? h("form", { class: "bar", onsubmit: read }, field("View", view, true), field("Key, as JSON", key),
              choice("Reduce", reduces), h("button", { class: "main" }, "Run"))
              : soft("There are no views. Design documents, under ", h("a", { href: "#/db/" + part(db) + "/indexes" }, "Indexes"),
                ", have them."),
            results);
        }

        async function indexes(db) {
          const base = "/" + part(db);
          const [list, designs] = await Promise.all([
            ask("GET", base + "/_index"), ask("GET", base + "/_design_docs?include_docs=true")]);
          const fields = h("input", { required: true, autocomplete: "off", spellcheck: "false" });
          const name = h("input", { autocomplete: "off", spellcheck: "false" });
          const remove = (title, text, action) => h("button", { class: "danger", "aria-label": title + " " + text, onclick: run(async () => {
            if (!await dialog({ title, text, action: "Delete", isDangerous: true })) return;
            await action();
            await redraw();
            notice("Deleted " + text);
          }) }, "Delete");
          const order = (entry) => Object.entries(entry).map(([name, direction]) => name + (direction === "desc" ? " descending" : "")).join();
          show(db, [["Databases", "#/"]], tabs(db, "Indexes"),
            h("h2", {}, "Indexes for Find"),
            table(["Name", "Fields", "Kept in", ""], list.indexes.map((index) => [
              index.name, h("code", {}, index.def.fields.map(order).join(", ")
                + (index.def.partial_filter_selector ? " where " + JSON.stringify(index.def.partial_filter_selector) : "")),
              index.ddoc ? h("a", { href: docLink(db, index.ddoc) }, index.ddoc) : "–",
              index.ddoc ? remove("Delete the index", index.name, () => ask("DELETE",
                base + "/_index/" + part(index.ddoc.replace("_design/", "")) + "/json/" + part(index.name))) : ""])),
            h("form", { class: "bar", onsubmit: run(async () => {
              const parts = fields.value.split(",").map((text) => text.trim()).filter(Boolean);
              const answer = await ask("POST", base + "/_index", { index: { fields: parts.map((text) =>
                text.startsWith("-") ? { [text.slice(1)]: "desc" } : { [text]: "asc" }) }, ...(name.value ? { name: name.value } : {}) });
              await redraw();
              notice(answer.result === "exists" ? "There is one already: " + answer.name : "Created " + answer.name);
            }) }, field("Fields, with commas between; -name descends", fields, true), field("Name (optional)", name),
              h("button", { class: "main" }, "Create index")),
            h("h2", {}, "Design documents"),
            designs.rows.length ? table(["ID", "Language", "Views", ""], designs.rows.map(({ doc }) => [
              h("a", { href: docLink(db, doc._id) }, doc._id), doc.language || "javascript", Object.keys(doc.views || {}).join(", "),
              remove("Delete the design document", doc._id, () => ask("DELETE", docPath(db, doc._id) + "?rev=" + doc._rev))]))
              : soft("There are none."),
            h("div", { class: "bar" }, h("button", { onclick: run(async () => {
              const name = await dialog({ title: "Create a design document", label: "Name", value: "views", action: "Create" });
              if (name) location.hash = docLink(db, "_design/" + name.replace(/^_design\//, ""));
            }) }, "Create design document")));
        }

        async function changes(db) {
          const body = h("tbody");
          const state = h("span", { class: "soft" }, "listening");
          show(db, [["Databases", "#/"]], tabs(db, "Changes"),
            h("p", {}, "Newest first: ", state),
            h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {},
              h("th", { scope: "col" }, "Sequence"), h("th", { scope: "col" }, "Document"), h("th", { scope: "col" }, "Revision"))), body)));
          const abort = new AbortController();
          leave = () => abort.abort();
          const latest = await ask("GET", "/" + part(db) + "/_changes?descending=true&limit=20");
          function add(row) {
            body.prepend(h("tr", {}, h("td", {}, h("code", {}, String(row.seq).split("-")[0])),
              h("td", {}, h("a", { href: docLink(db, row.id) }, row.id),
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
              if (error.name !== "AbortError") state.textContent = "disconnected; reload to go on";
            }
          })();
        }

        """#
}
