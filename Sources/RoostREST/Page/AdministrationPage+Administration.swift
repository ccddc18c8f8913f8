extension AdministrationPage {
    /// Databases, accounts, permissions, and replications: those of documents in `_replicator`, and those that `_replicate` began.
    static let administration = #"""
        async function databases() {
          const names = await ask("GET", "/_all_dbs");
          const infos = [];
          for (let at = 0; at < names.length; at += 100) {
            infos.push(...await ask("POST", "/_dbs_info", { keys: names.slice(at, at + 100) }));
          }
          const name = h("input", { required: true, autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
          const form = h("form", { class: "bar", onsubmit: run(async () => {
            await ask("PUT", "/" + part(name.value));
            location.hash = "#/db/" + part(name.value);
          }) }, field("Name of a new database", name, true), h("button", { class: "main" }, "Create"));
          const rows = infos.filter((row) => row.info).map(({ key, info }) => [
            h("a", { href: "#/db/" + part(key) }, key), count(info.doc_count), count(info.doc_del_count),
            size(info.sizes.file)]);
          show("Databases", [], administers ? form : null,
            rows.length ? table(["Name", "#Documents", "#Deleted", "#File"], rows) : soft("There are no databases yet."));
        }

        // MARK: Accounts

        async function accounts() {
          const prefix = "org.couchdb.user:";
          const answer = await ask("GET", "/_users/_all_docs?include_docs=true&startkey=" + part(JSON.stringify(prefix))
            + "&endkey=" + part(JSON.stringify(prefix + "\u{10FFFF}")));
          const name = h("input", { required: true, autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
          const password = h("input", { type: "password", required: true, autocomplete: "new-password" });
          const roles = h("input", { autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
          show("Accounts", [["Databases", "#/"]],
            soft("Users of this server. Its administrators are in its settings."),
            answer.rows.length ? table(["Name", "Roles", ""], answer.rows.map(({ doc }) => [
              h("a", { href: docLink("_users", doc._id) }, doc.name), (doc.roles || []).join(", "),
              h("div", { class: "bar tight" },
                h("button", { "aria-label": "Change the password of " + doc.name, onclick: run(() => change(doc,
                  { title: "New password of " + doc.name, label: "Password", isSecret: true }, (password) => ({ password }))) },
                  "Password"),
                h("button", { "aria-label": "Change the roles of " + doc.name, onclick: run(() => change(doc,
                  { title: "Roles of " + doc.name, label: "Roles, with commas between", value: (doc.roles || []).join(", "),
                    isOptional: true }, (text) => ({ roles: list(text) }))) }, "Roles"),
                h("button", { class: "danger", "aria-label": "Delete the account " + doc.name, onclick: run(async () => {
                  if (!await dialog({ title: "Delete the account", text: doc.name, action: "Delete", isDangerous: true })) return;
                  await ask("DELETE", docPath("_users", doc._id) + "?rev=" + doc._rev);
                  await redraw();
                  notice("Deleted " + doc.name);
                }) }, "Delete"))])) : soft("There are no accounts yet."),
            h("form", { class: "bar", onsubmit: run(async () => {
              await ask("PUT", docPath("_users", prefix + name.value), { name: name.value, type: "user",
                password: password.value, roles: list(roles.value) });
              await redraw();
              notice("Created " + name.value);
            }) }, field("Name", name), field("Password", password), field("Roles, with commas between", roles, true),
              h("button", { class: "main" }, "Create account")));
        }

        async function change(user, question, alter) {
          const text = await dialog({ ...question, action: "Save" });
          if (text === null) return;
          await ask("PUT", docPath("_users", user._id), { ...user, ...alter(text) });
          await redraw();
          notice("Saved " + user.name);
        }

        async function permissions(db) {
          const path = "/" + part(db) + "/_security";
          const security = await ask("GET", path);
          const input = (names) => {
            const input = h("input", { autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
            input.value = (names || []).join(", ");
            return input;
          };
          const groups = [["admins", "Administrators", "May change design documents and these permissions."],
            ["members", "Members", "May read and write documents. Where nobody is named, everybody may who may reach the server."]]
            .map(([group, title, text]) => ({ group, title, text,
              names: input(security[group]?.names), roles: input(security[group]?.roles) }));
          show(db, [["Databases", "#/"]], tabs(db, "Permissions"), h("form", { onsubmit: run(async () => {
            const changed = { ...security };
            for (const { group, names, roles } of groups) {
              changed[group] = { ...security[group], names: list(names.value), roles: list(roles.value) };
            }
            await ask("PUT", path, changed);
            await redraw();
            notice("Saved");
          }) }, groups.map(({ title, text, names, roles }) => h("fieldset", { class: "card" }, h("legend", {}, title), soft(text),
            field("Names", names), field("Roles", roles))), h("button", { class: "main" }, "Save")));
        }

        // MARK: Replications

        async function replications() {
          // A database of this server, or one elsewhere with the name and password to log in there.
          function end(text) {
            const input = (type, complete) => h("input", { type, autocomplete: complete, spellcheck: "false", autocapitalize: "off" });
            const place = input("text", "off");
            place.required = true;
            const [user, password] = [input("text", "off"), input("password", "new-password")];
            return { box: h("fieldset", { class: "card" }, h("legend", {}, text), field("Database or URL", place),
              h("div", { class: "bar" }, field("User (optional)", user, true), field("Password (optional)", password, true))),
              value: () => user.value ? { url: place.value, auth: { basic: { username: user.value, password: password.value } } }
                : place.value };
          }
          const [source, target] = [end("From"), end("To")];
          const goesOn = h("input", { type: "checkbox" });
          const makes = h("input", { type: "checkbox" });
          const rows = h("div", { "aria-live": "polite" });
          const form = h("form", { onsubmit: run(async () => {
            await ask("POST", "/_replicator", { source: source.value(), target: target.value(),
              continuous: goesOn.checked, create_target: makes.checked });
            notice("Started");
            await refresh();
          }) }, h("div", { class: "columns" }, source.box, target.box),
            h("div", { class: "bar" }, choice("Continuous", goesOn), choice("Create target", makes),
              h("button", { class: "main" }, "Start")));
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
                const found = await ask("GET", path);
                await ask("DELETE", path + "?rev=" + found._rev);
              });
            });
            for (const task of running.filter((task) => !task.doc_id)) {
              all.push(row(task.source, task.target, "running", task,
                () => ask("POST", "/_replicate", { replication_id: task.replication_id, cancel: true })));
            }
            rows.replaceChildren(all.length ? table(["From", "To", "State", "Progress", ""], all)
              : soft("There are no replications."));
          }
          show("Replications", [["Databases", "#/"]], form, rows);
          await refresh();
          let isAsking = false;
          let isBad = false;
          const timer = setInterval(async () => {
            if (isAsking || rows.contains(document.activeElement)) return;
            isAsking = true;
            try {
              await refresh();
              if (isBad) notice("");
              isBad = false;
            } catch (error) {
              isBad = true;
              notice(error.message, true);
            }
            isAsking = false;
          }, 2000);
          leave = () => clearInterval(timer);
        }

        """#
}
