extension AdministrationPage {
    /// Documents: lists, revisions, conflicts, attachments, and the editor.
    static let documents = #"""
        const pageSize = 50;

        async function list(db, start) {
          const query = "?limit=" + (pageSize + 1) + (start ? "&startkey=" + part(JSON.stringify(start)) : "");
          const [info, answer] = await Promise.all([
            ask("GET", "/" + part(db)), ask("GET", "/" + part(db) + "/_all_docs" + query)]);
          const more = answer.rows[pageSize];
          const base = "#/db/" + part(db);
          const field = h("input", { class: "grow", placeholder: "go to an ID, or make a new document",
            "aria-label": "ID of a document", required: true });
          show(db, [["Databases", "#/"]], tabs(db, "Documents"),
            h("p", { class: "soft" }, count(info.doc_count) + " documents, " + count(info.doc_del_count)
              + " deleted, " + size(info.sizes.file) + " on disk", administers && "pictures" in document.body.dataset
              ? [" · ", h("a", { href: "/_utils/file/" + part(db), target: "_blank", rel: "noopener" }, "Picture of the file")]
              : []),
            h("form", { class: "bar", onsubmit: (event) => {
              event.preventDefault();
              location.hash = base + "/doc/" + part(field.value);
            } }, field, h("button", {}, "Go"),
              h("button", { type: "button", class: "danger", onclick: run(async () => {
                if (prompt("All documents of the database will be gone. Type its name to delete it.") !== db) return;
                await ask("DELETE", "/" + part(db));
                location.hash = "#/";
              }) }, "Delete the database")),
            table(["ID", "Revision"], answer.rows.slice(0, pageSize).map((row) => [
              h("a", { href: base + "/doc/" + part(row.id) }, row.id), h("code", {}, short(row.value.rev))])),
            h("div", { class: "bar" },
              start ? h("a", { href: base }, "First page") : null,
              more ? h("a", { href: base + "/from/" + part(more.id) }, "Next page") : null));
        }

        const short = (revision) => revision.length > 14 ? revision.slice(0, 14) + "…" : revision;

        // A leaf's path is its revision and its ancestors, newest first.
        const pathOf = (leaf) => leaf._revisions
          ? leaf._revisions.ids.map((id, index) => (leaf._revisions.start - index) + "-" + id) : [leaf._rev];

        function tree(leaves, winner, choose) {
          const lanes = new Map();
          const links = new Set();
          const nodes = new Map();
          leaves.forEach((leaf, lane) => {
            const path = pathOf(leaf);
            path.forEach((revision, index) => {
              if (!lanes.has(revision)) {
                lanes.set(revision, lane);
                nodes.set(revision, { leaf: index === 0 ? leaf : null });
              }
              if (index > 0) links.add(revision + " " + path[index - 1]);
            });
          });
          const generation = (revision) => parseInt(revision, 10);
          const first = Math.min(...[...nodes.keys()].map(generation));
          const x = (revision) => 20 + (generation(revision) - first) * 110;
          const y = (revision) => 22 + lanes.get(revision) * 44;
          const last = Math.max(...[...nodes.keys()].map(generation));
          const space = "http://www.w3.org/2000/svg";
          function s(name, attributes, ...children) {
            const element = document.createElementNS(space, name);
            for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
            element.append(...children);
            return element;
          }
          const drawing = s("svg", { role: "img", "aria-label": nodes.size + " revisions, " + leaves.length + " leaves",
            width: (last - first) * 110 + 130, height: leaves.length * 44 + 10 });
          for (const link of links) {
            const [from, to] = link.split(" ");
            drawing.append(s("path", { d: `M${x(from)},${y(from)} C${x(from) + 55},${y(from)} ${x(to) - 55},${y(to)} `
              + `${x(to)},${y(to)}` }));
          }
          for (const [revision, node] of nodes) {
            const kind = node.leaf ? (revision === winner ? "winner" : node.leaf._deleted ? "deleted" : "leaf") : "missing";
            const group = s("g", { class: kind },
              s("circle", { cx: x(revision), cy: y(revision), r: 7 }),
              s("text", { x: x(revision) - 12, y: y(revision) + 22 }, short(revision)),
              s("title", {}, revision + (node.leaf?._deleted ? ", deleted" : "")));
            if (node.leaf) group.addEventListener("click", () => choose(node.leaf));
            drawing.append(group);
          }
          return h("div", { class: "scroll" }, drawing);
        }

        function plain(document) {
          const { _revisions, ...rest } = document;
          return rest;
        }

        function conflict(db, leaves, winner) {
          const live = leaves.filter((leaf) => !leaf._deleted);
          if (live.length < 2) return null;
          const names = [...new Set(live.flatMap((leaf) => Object.keys(plain(leaf))))].filter((name) => name !== "_rev");
          const differs = (name) => new Set(live.map((leaf) => JSON.stringify(leaf[name]))).size > 1;
          const column = (leaf) => h("div", { class: "card" },
            h("div", { class: "bar" }, h("code", { class: "grow" }, short(leaf._rev)),
              leaf._rev === winner ? h("span", { class: "good" }, "wins now") : null,
              h("button", { onclick: run(async () => {
                const others = live.filter((other) => other !== leaf);
                const docs = others.map((other) => ({ _id: leaf._id, _rev: other._rev, _deleted: true }));
                const rows = await ask("POST", "/" + part(db) + "/_bulk_docs", { docs });
                const failed = rows.find((row) => row.error);
                if (failed) throw new Error(failed.reason);
                notice("Kept " + short(leaf._rev));
                await route();
              }) }, "Keep this one")),
            names.map((name) => h("pre", { class: differs(name) ? "differs" : null },
              name + ": " + (leaf[name] === undefined ? "–" : JSON.stringify(leaf[name], null, 2)))));
          return h("section", {}, h("h2", {}, "In conflict"),
            h("p", { class: "soft" }, "Keep one; the others are deleted. What differs is marked."),
            h("div", { class: "columns" }, live.map(column)));
        }

        function attachments(path, document) {
          const names = Object.keys(document._attachments || {});
          if (!names.length) return null;
          return h("section", {}, h("h2", {}, "Attachments"), h("div", { class: "columns" }, names.map((name) => {
            const stub = document._attachments[name];
            const address = path + "/" + name.split("/").map(part).join("/") + "?rev=" + document._rev;
            return h("figure", { class: "card" },
              /^image\/(png|jpeg|gif|webp|avif)$/.test(stub.content_type)
                ? h("img", { src: address, alt: name, loading: "lazy" }) : null,
              h("figcaption", {}, h("a", { href: address, download: name }, name), " ",
                h("span", { class: "soft" }, stub.content_type + ", " + size(stub.length))));
          })));
        }

        // Where a text stops being JSON.
        function wrong(text) {
          try {
            JSON.parse(text);
            return null;
          } catch (error) {
            const place = /position (\d+)/.exec(error.message);
            const at = place ? Number(place[1]) : text.length;
            const before = text.slice(0, at).split("\n");
            return { message: error.message, at, line: before.length, text: text.split("\n")[before.length - 1] };
          }
        }

        function editor(text, label) {
          const area = h("textarea", { spellcheck: "false", "aria-label": label }, text);
          const problem = h("div", { role: "alert" });
          function check() {
            const error = wrong(area.value);
            area.classList.toggle("wrong", error !== null);
            area.setAttribute("aria-invalid", String(error !== null));
            problem.replaceChildren(...(error ? [h("code", { class: "wrong-line" },
              "line " + error.line + ": " + error.text), h("span", { class: "bad" }, error.message)] : []));
            return error;
          }
          area.addEventListener("input", check);
          area.value = text;
          return { area, problem, value() {
            const error = check();
            if (!error) return JSON.parse(area.value);
            area.focus();
            area.setSelectionRange(error.at, error.at + 1);
            throw new Error("This is no JSON: line " + error.line);
          } };
        }

        async function shown(db, id) {
          const path = docPath(db, id);
          let document = null;
          try { document = await ask("GET", path); } catch (error) { if (error.status !== 404) throw error; }
          let leaves = [];
          try {
            const answer = await ask("GET", path + "?open_revs=all&revs=true");
            leaves = answer.filter((row) => row.ok).map((row) => row.ok);
          } catch (error) { if (error.status !== 404) throw error; }
          const winner = document?._rev;
          leaves.sort((a, b) => (b._rev === winner) - (a._rev === winner));
          const edit = editor(JSON.stringify(document || { _id: id }, null, 2), "The document as JSON");
          const save = run(async () => {
            const answer = await ask("PUT", path, edit.value());
            notice("Saved as " + short(answer.rev));
            await route();
          });
          edit.area.addEventListener("keydown", (event) => {
            if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); save(); }
          });
          show(id, [["Databases", "#/"], [db, "#/db/" + part(db)]],
            document ? null : h("p", { class: "soft" }, leaves.length ? "This document is deleted." : "A new document."),
            edit.area, edit.problem,
            h("div", { class: "bar" }, h("button", { class: "main", onclick: save }, "Save"),
              document ? h("button", { class: "danger", onclick: run(async () => {
                await ask("DELETE", path + "?rev=" + winner);
                notice("Deleted");
                location.hash = "#/db/" + part(db);
              }) }, "Delete") : null),
            conflict(db, leaves, winner),
            leaves.length ? h("section", {}, h("h2", {}, "Revisions"),
              tree(leaves, winner, (leaf) => { edit.area.value = JSON.stringify(plain(leaf), null, 2); })) : null,
            document ? attachments(path, document) : null);
        }

        """#
}
