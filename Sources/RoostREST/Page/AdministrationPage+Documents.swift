extension AdministrationPage {
    /// Documents: lists, the editor, revisions, conflicts, attachments.
    static let documents = #"""
        const pageSize = 50;
        const short = (revision) => revision.length > 14 ? revision.slice(0, 14) + "…" : revision;

        async function documents(db, start) {
          const base = "#/db/" + part(db);
          const info = await ask("GET", "/" + part(db));
          const wanted = h("input", { type: "search", autocomplete: "off", spellcheck: "false" });
          const previews = h("input", { type: "checkbox", checked: sessionStorage.getItem("previews") === "yes" });
          const rows = h("div", { "aria-live": "polite" });
          const remove = h("button", { type: "button", class: "danger", disabled: true }, "Delete selected");
          const chosen = new Map();
          let number = 0;

          function choose(row, isChosen) {
            if (isChosen) chosen.set(row.id, row.value.rev); else chosen.delete(row.id);
            remove.disabled = chosen.size === 0;
            remove.textContent = chosen.size ? "Delete selected (" + chosen.size + ")" : "Delete selected";
          }

          async function load() {
            const own = ++number;
            const prefix = wanted.value;
            const query = "?limit=" + (pageSize + 1) + (previews.checked ? "&include_docs=true" : "")
              + (prefix ? "&startkey=" + part(JSON.stringify(prefix)) + "&endkey=" + part(JSON.stringify(prefix + "\u{10FFFF}"))
                : start ? "&startkey=" + part(JSON.stringify(start)) : "");
            const answer = await ask("GET", "/" + part(db) + "/_all_docs" + query);
            if (own !== number) return;
            chosen.clear();
            choose({}, false);
            const shownRows = answer.rows.slice(0, pageSize);
            const more = answer.rows[pageSize];
            const boxes = shownRows.map((row) => h("input", { type: "checkbox", "aria-label": "Select " + row.id,
              onchange: (event) => choose(row, event.target.checked) }));
            const all = h("input", { type: "checkbox", "aria-label": "Select all of this page", onchange: () =>
              boxes.forEach((box, index) => { box.checked = all.checked; choose(shownRows[index], all.checked); }) });
            rows.replaceChildren(
              shownRows.length ? table([all, "ID", previews.checked ? "Content" : "Revision"], shownRows.map((row, index) => [
                boxes[index], h("a", { href: docLink(db, row.id) }, row.id),
                h("code", { class: previews.checked ? "preview" : null }, previews.checked ? preview(row.doc) : short(row.value.rev))]))
                : soft(prefix ? "No ID begins so." : "There are no documents."),
              h("div", { class: "bar" },
                start && !prefix ? h("a", { href: base }, "First page") : null,
                more && !prefix ? h("a", { href: base + "/from/" + part(more.id) }, "Next page") : null,
                more && prefix ? soft("There are more.") : null));
          }

          let timer;
          wanted.addEventListener("input", () => {
            clearTimeout(timer);
            timer = setTimeout(run(load), 120);
          });
          previews.addEventListener("change", run(async () => {
            sessionStorage.setItem("previews", previews.checked ? "yes" : "no");
            await load();
          }));
          remove.addEventListener("click", run(async () => {
            const docs = [...chosen].map(([_id, _rev]) => ({ _id, _rev, _deleted: true }));
            const text = docs.length === 1 ? "Delete the document " + docs[0]._id + "?" : "Delete " + docs.length + " documents?";
            if (!await dialog({ title: "Delete", text, action: "Delete", isDangerous: true })) return;
            const results = await ask("POST", "/" + part(db) + "/_bulk_docs", { docs });
            const failed = results.filter((row) => row.error);
            await load();
            if (failed.length) throw new Error(failed.length + " were not deleted. " + failed[0].id + ": " + failed[0].reason);
            notice("Deleted " + count(docs.length));
          }));
          show(db, [["Databases", "#/"]], tabs(db, "Documents"),
            soft(count(info.doc_count) + " documents, " + count(info.doc_del_count) + " deleted, "
              + size(info.sizes.file) + " on disk", administers && "pictures" in document.body.dataset
              ? [" · ", h("a", { href: "/_utils/file/" + part(db), target: "_blank", rel: "noopener" }, "Picture of the file")]
              : []),
            h("form", { class: "bar", role: "search", onsubmit: run(async () => {
              if (wanted.value) location.hash = docLink(db, wanted.value);
            }) }, field("Find by ID", wanted, true), choice("Previews", previews)),
            h("div", { class: "bar" },
              h("button", { type: "button", class: "main", onclick: run(async () => {
                const { uuids } = await ask("GET", "/_uuids");
                const id = await dialog({ title: "Create a document", label: "ID", value: uuids[0], action: "Create" });
                if (id) location.hash = docLink(db, id);
              }) }, "Create document"), remove,
              administers ? h("button", { type: "button", class: "danger", onclick: run(async () => {
                const name = await dialog({ title: "Delete the database", action: "Delete", isDangerous: true,
                  text: "All documents of " + db + " will be gone for good.", label: "Type its name",
                  isRight: (text) => text === db });
                if (name === null) return;
                await ask("DELETE", "/" + part(db));
                location.hash = "#/";
              }) }, "Delete database") : null), rows);
          await load();
        }

        function preview(found) {
          const { _id, _rev, ...rest } = found || {};
          const text = JSON.stringify(rest);
          return text.length > 200 ? text.slice(0, 200) + "…" : text;
        }

        // MARK: Revisions

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
          const drawing = s("svg", { role: "group", "aria-label": nodes.size + " revisions, " + leaves.length + " leaves",
            width: (last - first) * 110 + 130, height: leaves.length * 44 + 10 });
          for (const link of links) {
            const [from, to] = link.split(" ");
            drawing.append(s("path", { d: `M${x(from)},${y(from)} C${x(from) + 55},${y(from)} ${x(to) - 55},${y(to)} `
              + `${x(to)},${y(to)}` }));
          }
          for (const [revision, node] of nodes) {
            const kind = node.leaf ? (revision === winner ? "winner" : node.leaf._deleted ? "deleted" : "leaf") : "missing";
            const name = revision + (node.leaf?._deleted ? ", deleted" : revision === winner ? ", the winner" : "");
            const group = s("g", { class: kind, ...(node.leaf ? { tabindex: "0", role: "button", "aria-label": "Show " + name } : {}) },
              s("circle", { cx: x(revision), cy: y(revision), r: 7 }),
              s("text", { x: x(revision) - 12, y: y(revision) + 22 }, short(revision)), s("title", {}, name));
            if (node.leaf) {
              group.addEventListener("click", () => choose(node.leaf));
              group.addEventListener("keydown", (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                choose(node.leaf);
              });
            }
            drawing.append(group);
          }
          return h("div", { class: "scroll" }, drawing);
        }

        function s(name, attributes, ...children) {
          const element = document.createElementNS("http://www.w3.org/2000/svg", name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          element.append(...children);
          return element;
        }

        function plain(found) {
          const { _revisions, ...rest } = found;
          return rest;
        }

        // Versions of a document beside each other, with what differs marked: { title, version, actions }.
        function compared(versions) {
          const names = [...new Set(versions.flatMap(({ version }) => Object.keys(plain(version))))].filter((name) => name !== "_rev");
          const differs = (name) => new Set(versions.map(({ version }) => JSON.stringify(version[name]))).size > 1;
          return h("div", { class: "columns" }, versions.map(({ title, version, actions }) => h("div", { class: "card" },
            h("div", { class: "bar" }, title, actions),
            names.map((name) => h("pre", { class: differs(name) ? "differs" : null },
              name + ": " + (version[name] === undefined ? "–" : JSON.stringify(version[name], null, 2)))))));
        }

        function conflict(db, leaves, winner) {
          const live = leaves.filter((leaf) => !leaf._deleted);
          if (live.length < 2) return null;
          return h("section", {}, h("h2", {}, "In conflict"),
            soft("Keep one; the others are deleted. What differs is marked."),
            compared(live.map((leaf) => ({ version: leaf,
              title: [h("code", { class: "grow" }, short(leaf._rev)), leaf._rev === winner ? h("span", { class: "good" }, "wins now") : null],
              actions: h("button", { onclick: run(async () => {
                const others = live.filter((other) => other !== leaf);
                const docs = others.map((other) => ({ _id: leaf._id, _rev: other._rev, _deleted: true }));
                const rows = await ask("POST", "/" + part(db) + "/_bulk_docs", { docs });
                const failed = rows.find((row) => row.error);
                if (failed) throw new Error(failed.reason);
                await redraw();
                notice("Kept " + short(leaf._rev));
              }) }, "Keep this one") }))));
        }

        // MARK: Attachments

        function attachments(path, found) {
          const address = (name) => path + "/" + name.split("/").map(part).join("/") + "?rev=" + found._rev;
          const names = Object.keys(found._attachments || {});
          const files = h("input", { type: "file", multiple: true });
          return h("section", {}, h("h2", {}, "Attachments"),
            names.length ? h("div", { class: "columns" }, names.map((name) => {
              const stub = found._attachments[name];
              return h("figure", { class: "card" },
                /^image\/(png|jpeg|gif|webp|avif)$/.test(stub.content_type)
                  ? h("img", { src: address(name), alt: name, loading: "lazy" }) : null,
                h("figcaption", {}, h("a", { href: address(name), download: name }, name), " ",
                  h("span", { class: "soft" }, stub.content_type + ", " + size(stub.length)), " ",
                  h("button", { class: "danger", "aria-label": "Delete the attachment " + name, onclick: run(async () => {
                    if (!await dialog({ title: "Delete the attachment", text: name, action: "Delete", isDangerous: true })) return;
                    await ask("DELETE", address(name));
                    await redraw();
                    notice("Deleted " + name);
                  }) }, "Delete")));
            })) : null,
            h("form", { class: "bar", onsubmit: run(async () => {
              if (!files.files.length) throw new Error("Choose a file first.");
              let revision = found._rev;
              for (const file of files.files) {
                const answer = await ask("PUT", path + "/" + part(file.name) + "?rev=" + revision, file,
                  { "Content-Type": file.type || "application/octet-stream" });
                revision = answer.rev;
              }
              await redraw();
              notice("Uploaded");
            }) }, field("Files", files, true), h("button", {}, "Upload")));
        }

        // MARK: The editor

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

        function editor(text, label, height) {
          const area = h("textarea", { spellcheck: "false", autocapitalize: "off" });
          const problem = h("div", { role: "alert" });
          if (height) area.style.minHeight = height;
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
          return { area, box: h("div", {}, field(label, area), problem),
            set(text) { area.value = text; area.dispatchEvent(new Event("input")); },
            value() {
              const error = check();
              if (!error) return JSON.parse(area.value);
              area.focus();
              area.setSelectionRange(error.at, error.at + 1);
              throw new Error("This is no JSON: line " + error.line);
            } };
        }

        const commandKey = (key, action) => (event) => {
          if ((event.ctrlKey || event.metaKey) && event.key === key) { event.preventDefault(); action(event); }
        };

        // What a new document begins as.
        const template = (id) => id.startsWith("_design/")
          ? { _id: id, language: "javascript", views: { "by-name": { map: "function (doc) {\n  emit(doc.name, null);\n}" } } } : { _id: id };

        async function shown(db, id) {
          const path = docPath(db, id);
          const absent = (error) => { if (error.status !== 404) throw error; return null; };
          const found = await ask("GET", path).catch(absent);
          const answer = id.startsWith("_local/") ? null : await ask("GET", path + "?open_revs=all&revs=true").catch(absent);
          const leaves = (answer || []).filter((row) => row.ok).map((row) => row.ok);
          const winner = found?._rev;
          leaves.sort((a, b) => (b._rev === winner) - (a._rev === winner));
          const stored = JSON.stringify(found || template(id), null, 2);
          const draft = drafts.get(db, id);
          const edit = editor(draft ? draft.text : stored, "Document");
          const meanwhile = h("div", {});
          const discard = run(async () => {
            drafts.drop(db, id);
            await redraw();
          });
          const kept = draft ? h("div", { class: "card bar", role: "status" },
            h("span", { class: "grow" }, "These are your changes from before, which are not saved"
              + (draft.base !== winner ? "; the document was changed since." : ".")),
            h("button", { onclick: discard }, "Discard changes")) : null;
          edit.area.addEventListener("input", () => {
            if (edit.area.value === stored) drafts.drop(db, id);
            else drafts.set(db, id, { text: edit.area.value, base: draft ? draft.base : winner });
          });

          async function save() {
            const value = edit.value();
            try {
              const { rev } = await ask("PUT", path, value);
              drafts.drop(db, id);
              await redraw();
              notice("Saved as " + short(rev));
            } catch (error) {
              if (error.status !== 409) throw error;
              await stale(value);
            }
          }

          // Somebody has saved meanwhile: both versions, and which is to stay.
          async function stale(mine) {
            const theirs = await ask("GET", path).catch(absent);
            meanwhile.replaceChildren(h("section", { tabindex: "-1" }, h("h2", {}, "Changed meanwhile"),
              soft("The document was saved by somebody else since you began. What differs is marked."),
              compared([
                { version: theirs || { _deleted: true }, title: h("span", { class: "grow" }, theirs ? "Stored: " + short(theirs._rev) : "Deleted"),
                  actions: h("button", { onclick: discard }, "Discard mine") },
                { version: mine, title: h("span", { class: "grow" }, "Yours"),
                  actions: h("button", { onclick: run(async () => {
                    const { _rev, ...rest } = mine;
                    edit.set(JSON.stringify(theirs ? { _id: id, _rev: theirs._rev, ...rest } : rest, null, 2));
                    await save();
                  }) }, "Save mine over it") }])));
            meanwhile.firstChild.focus();
            meanwhile.firstChild.scrollIntoView?.({ block: "nearest" });
          }

          const saving = run(save);
          edit.area.addEventListener("keydown", commandKey("s", saving));
          show(id, crumbs(db),
            found ? null : soft(leaves.length ? "This document is deleted." : "A new document."), kept, edit.box,
            h("div", { class: "bar" }, h("button", { class: "main", onclick: saving }, "Save"),
              found ? h("button", { onclick: run(async () => {
                const name = await dialog({ title: "Copy the document", label: "ID of the copy", value: id + "-copy", action: "Copy" });
                if (!name) return;
                await ask("COPY", path + "?rev=" + winner, undefined, { Destination: name.split("/").map(part).join("/") });
                location.hash = docLink(db, name);
              }) }, "Copy") : null,
              found ? h("button", { class: "danger", onclick: run(async () => {
                if (!await dialog({ title: "Delete the document", text: id, action: "Delete", isDangerous: true })) return;
                await ask("DELETE", path + "?rev=" + winner);
                drafts.drop(db, id);
                location.hash = "#/db/" + part(db);
              }) }, "Delete") : null),
            meanwhile, conflict(db, leaves, winner),
            leaves.length ? h("section", {}, h("h2", {}, "Revisions"),
              tree(leaves, winner, (leaf) => { edit.set(JSON.stringify(plain(leaf), null, 2)); edit.area.focus(); })) : null,
            found && !id.startsWith("_local/") ? attachments(path, found) : null);
        }

        """#
}
