/// What every context runs first. Its value is the function that is called with each request.
enum ScriptPrelude {
    /// Takes away what reaches beyond the functions, gives them what CouchDB gives, and keeps what is compiled.
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
            const functions = new Map();
            const modules = new Map();

            function member(path) {
                let value = design;
                for (const name of path) {
                    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
                    value = value[name];
                }
                return value;
            }

            function compiled(path) {
                const key = path.join("\u0000");
                let result = functions.get(key);
                if (result) return result;
                const source = member(path);
                if (typeof source !== "string") throw new TypeError(path.join(".") + " is no function's source");
                result = (0, eval)("(" + source.replace(/[;\s]+$/, "") + "\n)");
                if (typeof result !== "function") throw new TypeError(path.join(".") + " is no function");
                functions.set(key, result);
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
                    let module = modules.get(key);
                    if (module) return module.exports;
                    const source = member(path);
                    if (typeof source !== "string") throw new Error("there is no module " + key);
                    module = { id: key, exports: {} };
                    modules.set(key, module);
                    const body = new Function("exports", "module", "require", source);
                    body.call(module.exports, module.exports, module, requireFrom(path.slice(0, -1)));
                    return module.exports;
                };
            }

            Object.assign(globalThis, {
                emit: (key, value) => { rows.push([key, value]); },
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
                    return documents.map((document) => {
                        rows = [];
                        // A document that a map can't bear emits nothing, as in CouchDB.
                        try { map(document); } catch (error) { rows = []; }
                        return rows;
                    });
                },
                reduce(path, keys, values, isRereduce) {
                    return compiled(path)(keys, values, isRereduce);
                },
                filter(path, documents, request) {
                    const filter = compiled(path);
                    return documents.map((document) => Boolean(filter(document, request)));
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

            return function (text) {
                let answer;
                try {
                    const [kind, path, ...rest] = parse(text);
                    answer = stringify({ ok: kinds[kind](path, ...rest) ?? null });
                } catch (error) {
                    answer = stringify({ error: String(error) });
                }
                rows = [];
                return answer;
            };
        })()
        """#
}
