extension AdministrationPage {
    /// Replications: those of documents in `_replicator`, and those that `_replicate` began.
    static let replications = #"""
        async function replications() {
          const source = h("input", { class: "grow", placeholder: "from: a database, or http(s)://…", required: true,
            "aria-label": "Replicate from" });
          const target = h("input", { class: "grow", placeholder: "to: a database, or http(s)://…", required: true,
            "aria-label": "Replicate to" });
          const goesOn = h("input", { type: "checkbox" });
          const makes = h("input", { type: "checkbox" });
          const rows = h("div", { "aria-live": "polite" });
          const form = h("form", { class: "bar", onsubmit: run(async (event) => {
            event.preventDefault();
            await ask("POST", "/_replicator", { source: source.value, target: target.value,
              continuous: goesOn.checked, create_target: makes.checked });
            notice("Started");
            await refresh();
          }) }, source, target, h("label", {}, goesOn, " goes on"), h("label", {}, makes, " makes the target"),
            h("button", { class: "main" }, "Start"));
          const figures = (info) => info ? count(info.docs_read) + " read, " + count(info.docs_written) + " written"
            + (info.doc_write_failures ? ", " + count(info.doc_write_failures) + " failed" : "")
            + (info.changes_pending ? ", " + count(info.changes_pending) + " to go" : "") : "";
          function row(from, to, state, info, stop) {
            const isBad = ["failed", "error", "crashing"].includes(state);
            const reason = info?.error || info?.reason;
            return [h("code", {}, from || "–"), h("code", {}, to || "–"),
              h("span", { class: isBad ? "bad" : state === "completed" ? "good" : null }, state || "waiting"),
              h("span", {}, figures(info), reason ? h("div", { class: "bad" }, String(reason)) : null),
              h("button", { onclick: run(async () => {
                await stop();
                await refresh();
              }) }, state === "completed" || state === "failed" ? "Remove" : "Stop")];
          }
          async function refresh() {
            const [docs, tasks] = await Promise.all([
              ask("GET", "/_scheduler/docs?limit=200"), ask("GET", "/_active_tasks")]);
            const running = tasks.filter((task) => task.type === "replication");
            const all = docs.docs.map((job) => {
              const task = running.find((task) => task.doc_id === job.doc_id);
              return row(job.source, job.target, job.state, task || job.info, async () => {
                const path = docPath("_replicator", job.doc_id);
                const document = await ask("GET", path);
                await ask("DELETE", path + "?rev=" + document._rev);
              });
            });
            for (const task of running.filter((task) => !task.doc_id)) {
              all.push(row(task.source, task.target, "running", task,
                () => ask("POST", "/_replicate", { replication_id: task.replication_id, cancel: true })));
            }
            rows.replaceChildren(all.length ? table(["From", "To", "State", "Progress", ""], all)
              : h("p", { class: "soft" }, "There are no replications."));
          }
          show("Replications", [["Databases", "#/"]], form, rows);
          await refresh();
          let isAsking = false;
          const timer = setInterval(async () => {
            if (isAsking || rows.contains(document.activeElement)) return;
            isAsking = true;
            try { await refresh(); } catch (error) { notice(error.message, true); }
            isAsking = false;
          }, 2000);
          leave = () => clearInterval(timer);
        }

        """#
}
