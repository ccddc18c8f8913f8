/// What every context runs first. Its value is the function that is called with each request.
enum ScriptPrelude {
    /// Takes away what reaches beyond the function, gives it what CouchDB gives, and keeps what is compiled.
    ///
    /// A function may replace the objects of the language in its world. What is called for each document depends on none of them.
    ///
    /// A request is the JSON text of an array: the kind of call, the path of the function in the design document, and its
    /// arguments. The answer is `{"ok": …}` or `{"error": …}`, as text.
    static let source = #"""
        (function () {
            "use strict";
            const { parse, stringify } = JSON;
            const RealDate = Date;
            for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "console", "Intl", "Temporal"]) {
                delete globalThis[name];
            }
            // There is no clock: without arguments a date is the first moment of 1970.
            globalThis.Date = new Proxy(RealDate, {
                construct: (target, given, made) => Reflect.construct(target, given.length ? given : [0], made),
                apply: () => new RealDate(0).toString(),
            });
            RealDate.now = () => 0;
            RealDate.prototype.constructor = globalThis.Date;

            let design = {};
            let rows = [];
            const functions = Object.create(null);
            const modules = Object.create(null);
            const { hasOwn } = Object;

            function member(path) {
                let value = design;
                for (let index = 0; index < path.length; index++) {
                    if (value === null || typeof value !== "object" || !hasOwn(value, path[index])) return undefined;
                    value = value[path[index]];
                }
                return value;
            }

            function compiled(path) {
                const key = stringify(path);
                let result = functions[key];
                if (result) return result;
                const source = member(path);
                if (typeof source !== "string") throw new TypeError(path.join(".") + " is no function's source");
                result = (0, eval)("(" + source.replace(/[;\s]+$/, "") + "\n)");
                if (typeof result !== "function") throw new TypeError(path.join(".") + " is no function");
                functions[key] = result;
                return result;
            }

            // Modules of CommonJS, as CouchDB has them: a path in the design document.
            function requireFrom(directory) {
                return function require(name) {
                    const path = String(name).startsWith(".") ? [...directory] : [];
                    for (const part of String(name).split("/")) {
                        if (part === "..") path.pop();
                        else if (part !== "." && part !== "") path.push(part);
                    }
                    const key = path.join("/");
                    let module = modules[key];
                    if (module) return module.exports;
                    const source = member(path);
                    if (typeof source !== "string") throw new Error("there is no module " + key);
                    module = { id: key, exports: {} };
                    modules[key] = module;
                    const body = new Function("exports", "module", "require", source);
                    body.call(module.exports, module.exports, module, requireFrom(path.slice(0, -1)));
                    return module.exports;
                };
            }

            Object.assign(globalThis, {
                emit: (key, value) => { rows[rows.length] = [key, value]; },
                sum: (values) => values.reduce((total, value) => total + value, 0),
                log: () => {},
                isArray: Array.isArray,
                toJSON: stringify,
                require: requireFrom([]),
            });

            // What a sync function calls: what it decides goes to `decision`, what it requires is looked up in `owned`.
            let decision, owned;
            function texts(value) {
                const list = Array.isArray(value) ? value : [value];
                return list.filter((text) => text !== null && text !== undefined).map((text) => {
                    if (typeof text !== "string") throw new TypeError(stringify(text) + " is no name");
                    return text;
                });
            }
            function requirement(reason, holds) {
                return (names) => {
                    if (!owned.isAdmin && !texts(names).some(holds)) throw { forbidden: reason };
                };
            }
            const roleName = (text) => text.replace(/^role:/, "");
            const syncFunctions = {
                channel: (...names) => { decision.channels.push(...texts(names.flat())); },
                access: (users, channels) => { decision.access.push([texts(users), texts(channels)]); },
                role: (users, roles) => { decision.roles.push([texts(users), texts(roles)]); },
                requireUser: requirement("wrong user", (name) => owned.name === name),
                requireRole: requirement("missing role", (role) => owned.roles.includes(roleName(role))),
                requireAccess: requirement("missing channel access",
                    (channel) => owned.channels.includes("*") || owned.channels.includes(channel)),
            };

            // What a function throws to refuse a document.
            function refusal(call) {
                try {
                    call();
                } catch (error) {
                    if (error === null || typeof error !== "object") throw error;
                    if ("forbidden" in error) return { forbidden: String(error.forbidden) };
                    if ("unauthorized" in error) return { unauthorized: String(error.unauthorized) };
                    throw error;
                }
                return {};
            }

            const kinds = {
                load(path, source) {
                    design = source;
                    return true;
                },
                check(path) {
                    compiled(path);
                    return true;
                },
                map(path, documents) {
                    const map = compiled(path);
                    for (let index = 0; index < documents.length; index++) {
                        rows = [];
                        // A document that a map throws at emits nothing, as in CouchDB.
                        try { map(documents[index]); } catch (error) { rows = []; }
                        documents[index] = rows;
                    }
                    return documents;
                },
                reduce(path, keys, values, isRereduce) {
                    return compiled(path)(keys, values, isRereduce);
                },
                filter(path, documents, request) {
                    const filter = compiled(path);
                    // What the function does to the request is not seen when it looks at the next document.
                    const text = stringify(request);
                    for (let index = 0; index < documents.length; index++) {
                        documents[index] = !!filter(documents[index], parse(text));
                    }
                    return documents;
                },
                validate(path, document, old, user, security) {
                    return refusal(() => { compiled(path)(document, old, user, security); });
                },
                sync(path, document, old, user, security, isAdmin) {
                    Object.assign(globalThis, syncFunctions);
                    decision = { channels: [], access: [], roles: [] };
                    owned = { isAdmin, name: user.name, roles: [...user.roles], channels: [...user.channels] };
                    return { ...refusal(() => { compiled(path)(document, old, user, security); }), ...decision };
                },
            };

            // JSON that UTF-8 can hold: half of a surrogate pair, which JavaScript writes as an escape, becomes U+FFFD, as in CouchDB.
            const halves = new RegExp("\\\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", "g");
            const { apply } = Reflect;
            const { replace, includes } = String.prototype;
            function wellFormed(text) {
                if (!apply(includes, text, ["\\ud"])) return text;
                return apply(replace, text, [halves, (found) => found.length > 2 ? "\\ufffd" : found]);
            }

            return function (text) {
                let answer;
                try {
                    const request = parse(text);
                    const value = kinds[request[0]](request[1], request[2], request[3], request[4], request[5], request[6]);
                    answer = wellFormed(stringify({ ok: value ?? null }));
                } catch (error) {
                    answer = wellFormed(stringify({ error: `${error}` }));
                }
                rows = [];
                return answer;
            };
        })()
        """#
}
