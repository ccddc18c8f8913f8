extension AdministrationPage {
    /// Draws what the address after `#` names. Texts of documents are only ever set as texts.
    static let script = basis + documents + queries + statements + replications + start

    private static let basis = #"""

        "use strict";
        const main = document.getElementById("main");
        const noticeBox = document.getElementById("notice");
        let leave = null;
        let administers = false;

        function h(name, attributes, ...children) {
          const element = document.createElement(name);
          for (const [key, value] of Object.entries(attributes || {})) {
            if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
            else if (value === true) element.setAttribute(key, "");
            else if (value !== false && value != null) element.setAttribute(key, value);
          }
          element.append(...children.flat().filter((child) => child != null));
          return element;
        }

        function notice(text, isBad) {
          noticeBox.textContent = text;
          noticeBox.className = isBad ? "bad" : "";
          clearTimeout(notice.timer);
          notice.timer = setTimeout(() => { noticeBox.textContent = ""; }, isBad ? 8000 : 3000);
        }

        const part = encodeURIComponent;
        const count = (number) => Number(number || 0).toLocaleString("en");
        function size(bytes) {
          const units = ["bytes", "KB", "MB", "GB", "TB"];
          let unit = 0;
          while (bytes >= 1000 && unit < 4) { bytes /= 1000; unit += 1; }
          return (unit ? bytes.toFixed(1) : bytes) + " " + units[unit];
        }
        function docPath(db, id) {
          const [first, ...rest] = id.split("/");
          const isPrefixed = rest.length > 0 && (first === "_design" || first === "_local");
          return "/" + part(db) + "/" + (isPrefixed ? first + "/" + part(rest.join("/")) : part(id));
        }

        async function ask(method, path, body) {
          const options = { method, headers: { Accept: "application/json" }, credentials: "same-origin" };
          if (body !== undefined) {
            options.headers["Content-Type"] = "application/json";
            options.body = typeof body === "string" ? body : JSON.stringify(body);
          }
          const response = await fetch(path, options);
          const answer = await response.json();
          if (!response.ok) {
            const error = new Error(answer.reason || answer.error || String(response.status));
            error.status = response.status;
            throw error;
          }
          return answer;
        }

        function show(title, crumbs, ...content) {
          document.title = title + " – Roost";
          document.getElementById("path").replaceChildren(
            ...crumbs.map(([text, address]) => h("a", { href: address }, text)));
          main.replaceChildren(h("h1", {}, title), ...content.filter((part) => part != null));
        }

        function tabs(db, current) {
          const base = "#/db/" + part(db);
          const all = [["Documents", ""], ["Find", "/find"], ["SQL++", "/sql"], ["Views", "/views"], ["Changes", "/changes"]];
          return h("nav", { class: "tabs", "aria-label": "Parts of the database" }, all.map(([text, end]) =>
            h("a", { href: base + end, "aria-current": text === current ? "page" : null }, text)));
        }

        function table(heads, rows) {
          return h("div", { class: "scroll" }, h("table", {},
            h("thead", {}, h("tr", {}, heads.map((text) =>
              h("th", { scope: "col", class: text.startsWith("#") ? "number" : null }, text.replace("#", ""))))),
            h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, index) =>
              h("td", { class: heads[index].startsWith("#") ? "number" : null }, cell)))))));
        }

        async function databases() {
          const names = await ask("GET", "/_all_dbs");
          const infos = [];
          for (let at = 0; at < names.length; at += 100) {
            infos.push(...await ask("POST", "/_dbs_info", { keys: names.slice(at, at + 100) }));
          }
          const field = h("input", { "aria-label": "Name of a new database", placeholder: "name of a new database",
            class: "grow", required: true });
          const form = h("form", { class: "bar", onsubmit: run(async (event) => {
            event.preventDefault();
            await ask("PUT", "/" + part(field.value));
            location.hash = "#/db/" + part(field.value);
          }) }, field, h("button", { class: "main" }, "Make it"));
          const rows = infos.filter((row) => row.info).map(({ key, info }) => [
            h("a", { href: "#/db/" + part(key) }, key), count(info.doc_count), count(info.doc_del_count),
            size(info.sizes.file)]);
          show("Databases", [], form,
            rows.length ? table(["Name", "#Documents", "#Deleted", "#File"], rows)
              : h("p", { class: "soft" }, "There are no databases yet."));
        }

        function login() {
          const name = h("input", { name: "name", autocomplete: "username", required: true });
          const password = h("input", { type: "password", autocomplete: "current-password", required: true });
          show("Log in", [], h("form", { class: "login card", onsubmit: run(async (event) => {
            event.preventDefault();
            await ask("POST", "/_session", { name: name.value, password: password.value });
            await route();
          }) }, h("label", {}, "Name", name), h("label", {}, "Password", password),
            h("button", { class: "main" }, "Log in")));
          name.focus();
        }

        """#

    private static let start = #"""
        function run(action) {
          return async (event) => {
            try {
              await action(event);
            } catch (error) {
              if (error.status === 401 && !document.querySelector("form.login")) login();
              notice(error.message, true);
            }
          };
        }

        async function who() {
          const session = await ask("GET", "/_session");
          const name = session.userCtx.name;
          administers = session.userCtx.roles.includes("_admin");
          const box = document.getElementById("user");
          box.replaceChildren(...(name ? [name + " ", h("button", { onclick: run(async () => {
            await ask("DELETE", "/_session");
            await route();
          }) }, "Log out")] : []));
          return name !== null || administers;
        }

        const route = run(async () => {
          if (leave) leave();
          leave = null;
          const [kind, db, view, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
          if (!await who()) return login();
          if (kind === "replications") await replications();
          else if (kind !== "db" || !db) await databases();
          else if (view === "doc") await shown(db, rest.join("/"));
          else if (view === "from") await list(db, rest.join("/"));
          else if (view === "find") await find(db);
          else if (view === "sql") await sql(db);
          else if (view === "views") await views(db);
          else if (view === "changes") await changes(db);
          else await list(db, null);
          document.body.dataset.drawn = (kind || "databases") + (view ? "/" + view : "");
        });

        window.addEventListener("hashchange", async () => {
          await route();
          main.focus();
        });
        route();

        """#
}
