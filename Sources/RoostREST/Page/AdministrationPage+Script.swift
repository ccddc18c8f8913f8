extension AdministrationPage {
    /// Draws what the address after `#` names. Texts of documents are only ever set as texts.
    static let script = basis + documents + queries + administration + start

    /// Elements, messages, requests, dialogs and edits that are not saved yet.
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
          element.append(...children.flat().filter((child) => child != null && child !== false));
          return element;
        }

        // A message that something was done goes after a while; an error stays until the next action, or until it is closed.
        function notice(text, isBad) {
          clearTimeout(notice.timer);
          noticeBox.className = isBad ? "bad" : "";
          noticeBox.replaceChildren(...(text ? [h("span", {}, text), isBad
            ? h("button", { type: "button", "aria-label": "Close the message", onclick: () => notice("") }, "×") : null]
            .filter(Boolean) : []));
          if (text && !isBad) notice.timer = setTimeout(() => notice(""), 4000);
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
        const docLink = (db, id) => "#/db/" + part(db) + "/doc/" + part(id);
        const list = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

        async function ask(method, path, body, headers) {
          const options = { method, headers: { Accept: "application/json", ...headers }, credentials: "same-origin" };
          if (body instanceof Blob) {
            options.body = body;
          } else if (body !== undefined) {
            options.headers["Content-Type"] = "application/json";
            options.body = JSON.stringify(body);
          }
          let response;
          try {
            response = await fetch(path, options);
          } catch {
            throw new Error("The server can't be reached.");
          }
          const answer = await response.json().catch(() => ({ reason: "The server's answer is no JSON." }));
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
          main.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
        }

        const field = (text, control, isGrowing) =>
          h("label", { class: isGrowing ? "field grow" : "field" }, h("span", {}, text), control);
        const choice = (text, control) => h("label", { class: "choice" }, control, h("span", {}, text));
        const soft = (...content) => h("p", { class: "soft" }, ...content);

        const crumbs = (db) => [["Databases", "#/"], [db, "#/db/" + part(db)]];
        function tabs(db, current) {
          const base = "#/db/" + part(db);
          const all = [["Documents", ""], ["Find", "/find"], ["SQL++", "/sql"], ["Views", "/views"],
            ["Indexes", "/indexes"], ["Changes", "/changes"], ["Permissions", "/permissions"]];
          return h("nav", { class: "tabs", "aria-label": "Parts of the database" }, all.map(([text, end]) =>
            h("a", { href: base + end, "aria-current": text === current ? "page" : null }, text)));
        }

        function table(heads, rows) {
          const text = (head) => typeof head === "string" ? head.replace("#", "") : head;
          const isNumber = (head) => typeof head === "string" && head.startsWith("#");
          return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", {},
            h("thead", {}, h("tr", {}, heads.map((head) =>
              h("th", { scope: "col", class: isNumber(head) ? "number" : null }, text(head))))),
            h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, index) =>
              h("td", { class: isNumber(heads[index]) ? "number" : null }, cell)))))));
        }

        // Asks in a dialog; answers what was typed, or true, or null where it was cancelled.
        function dialog({ title, text, label, value, action, isDangerous, isRight, isSecret, isOptional }) {
          return new Promise((resolve) => {
            let answer = null;
            const input = label ? h("input", { required: !isOptional, spellcheck: "false",
              type: isSecret ? "password" : "text", autocomplete: isSecret ? "new-password" : "off" }) : null;
            if (input) input.value = value || "";
            const go = h("button", { class: isDangerous ? "danger main" : "main" }, action);
            const check = () => { go.disabled = Boolean(isRight && !isRight(input.value)); };
            if (input) input.addEventListener("input", check);
            const box = h("dialog", { "aria-label": title }, h("form", { onsubmit: (event) => {
              event.preventDefault();
              answer = input ? input.value : true;
              box.close();
            } }, h("h2", {}, title), text ? h("p", {}, text) : null, input ? field(label, input) : null,
              h("div", { class: "bar" }, go, h("button", { type: "button", onclick: () => box.close() }, "Cancel"))));
            box.addEventListener("close", () => { box.remove(); resolve(answer); });
            document.body.append(box);
            check();
            box.showModal();
            if (input) input.select(); else if (isDangerous) box.querySelector("button[type=button]").focus();
          });
        }

        // Edits that are not saved, by document, for as long as the tab is open and somebody is logged in.
        const drafts = {
          key: (db, id) => "draft " + JSON.stringify([db, id]),
          get(db, id) {
            try { return JSON.parse(sessionStorage.getItem(this.key(db, id))); } catch { return null; }
          },
          set(db, id, draft) {
            try { sessionStorage.setItem(this.key(db, id), JSON.stringify(draft)); } catch { /* no room: not kept */ }
          },
          drop(db, id) { sessionStorage.removeItem(this.key(db, id)); },
        };

        """#

    /// Logging in, and what the address leads to.
    private static let start = #"""
        // What a click or a key does: at once only once, with its error shown until it is over.
        function run(action) {
          let isRunning = false;
          return async (event) => {
            event?.preventDefault?.();
            if (isRunning) return;
            isRunning = true;
            const button = event?.submitter || (event?.currentTarget instanceof HTMLButtonElement ? event.currentTarget : null);
            button?.setAttribute("aria-busy", "true");
            notice("");
            try {
              await action(event);
            } catch (error) {
              if (error.status === 401 && !document.querySelector("form.login")) login();
              notice(error.message, true);
            } finally {
              isRunning = false;
              button?.removeAttribute("aria-busy");
            }
          };
        }

        function login() {
          const name = h("input", { name: "name", autocomplete: "username", required: true });
          const password = h("input", { type: "password", autocomplete: "current-password", required: true });
          show("Log in", [], h("form", { class: "login card", onsubmit: run(async () => {
            await ask("POST", "/_session", { name: name.value, password: password.value });
            await redraw();
          }) }, field("Name", name), field("Password", password), h("button", { class: "main" }, "Log in")));
          name.focus();
        }

        async function who() {
          const session = await ask("GET", "/_session");
          const name = session.userCtx.name;
          administers = session.userCtx.roles.includes("_admin");
          document.getElementById("accounts").hidden = !administers;
          const box = document.getElementById("user");
          box.replaceChildren(...(name ? [h("span", {}, name + " "), h("button", { onclick: run(async () => {
            await ask("DELETE", "/_session");
            sessionStorage.clear();
            await redraw();
          }) }, "Log out")] : []));
          return name !== null || administers;
        }

        // Draws the page of the address; one that changes meanwhile is drawn after it, so that the last one stays.
        let isDrawing = false;
        let isOld = false;
        async function route() {
          isOld = true;
          if (isDrawing) return;
          isDrawing = true;
          try {
            while (isOld) {
              isOld = false;
              await draw();
            }
          } finally {
            isDrawing = false;
          }
        }

        async function draw() {
          if (leave) leave();
          leave = null;
          const [kind, db, view, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
          if (!await who()) return login();
          if (kind === "replications") await replications();
          else if (kind === "accounts") await accounts();
          else if (kind !== "db" || !db) await databases();
          else if (view === "doc") await shown(db, rest.join("/"));
          else if (view === "find") await find(db);
          else if (view === "sql") await sql(db);
          else if (view === "views") await views(db);
          else if (view === "indexes") await indexes(db);
          else if (view === "changes") await changes(db);
          else if (view === "permissions") await permissions(db);
          else await documents(db, view === "from" ? rest.join("/") : null);
          document.body.dataset.drawn = (kind || "databases") + (view ? "/" + view : "");
        }

        async function redraw() {
          await route();
          if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
        }

        // Rings show where the keyboard is, to those who use it.
        addEventListener("keydown", (event) => {
          if (!event.metaKey && !event.ctrlKey && !event.altKey) document.documentElement.dataset.keyboard = "";
        }, true);
        addEventListener("pointerdown", () => { delete document.documentElement.dataset.keyboard; }, true);
        addEventListener("hashchange", () => run(async () => {
          await route();
          main.focus();
        })());
        run(route)();

        """#
}
