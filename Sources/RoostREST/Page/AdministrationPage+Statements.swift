extension AdministrationPage {
    /// SQL++.
    static let statements = #"""
        async function sql(db) {
          const area = h("textarea", { spellcheck: "false", "aria-label": "A statement in SQL++" });
          area.value = "SELECT _.* FROM _ LIMIT 25";
          area.style.minHeight = "6rem";
          const values = editor("{}", "Values of the parameters, as JSON");
          values.area.style.minHeight = "3.5rem";
          const results = h("div", { "aria-live": "polite" });
          const request = (isExplained) => ask("POST", "/" + part(db) + "/_query",
            { statement: area.value, parameters: values.value(), explain: isExplained });
          const text = (value) => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
          const read = run(async () => {
            const begun = performance.now();
            const answer = await request(false);
            const took = (performance.now() - begun).toFixed(0);
            const names = [...new Set([...answer.columns, ...answer.rows.flatMap((row) => Object.keys(row))])];
            const shown = answer.rows.slice(0, 1000);
            results.replaceChildren(
              h("p", { class: "soft" }, count(answer.rows.length) + " rows from " + count(answer.documents_read)
                + " documents in " + took + " ms." + (shown.length < answer.rows.length ? " The first 1,000:" : "")),
              table(names, shown.map((row) => names.map((name) => h("code", {}, text(row[name]))))));
          });
          area.addEventListener("keydown", (event) => {
            if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); read(); }
          });
          show(db, [["Databases", "#/"], [db, "#/db/" + part(db)]], tabs(db, "SQL++"), area,
            h("label", { class: "soft" }, "Values of what it calls $name, as JSON", values.area), values.problem,
            h("div", { class: "bar" }, h("button", { class: "main", onclick: read }, "Ask"),
              h("button", { onclick: run(async () => {
                const answer = await request(true);
                results.replaceChildren(h("div", { class: "card" }, h("pre", {}, answer.text.join("\n"))));
              }) }, "Explain"),
              h("span", { class: "soft" }, "_ is this database. Ctrl-Enter asks.")), results);
        }

        """#
}
