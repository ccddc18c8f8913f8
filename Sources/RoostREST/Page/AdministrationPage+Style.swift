extension AdministrationPage {
    static let style = """

        :root { --ink: #1b2430; --soft: #5b6675; --line: #d9dee5; --paper: #ffffff; --ground: #f4f6f8;
          --accent: #1f6feb; --good: #1a7f4b; --bad: #c0352b; --mark: #fff1c2; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c49;
          --paper: #1a2029; --ground: #12161c; --accent: #6ea8fe; --good: #57c78c; --bad: #ff8a80; --mark: #4b4017; } }
        * { box-sizing: border-box; }
        body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
        header { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; padding: .6rem 1.2rem;
          background: var(--paper); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1; }
        .brand { font-weight: 700; font-size: 1.1rem; color: var(--ink); text-decoration: none; }
        #path { flex: 1; min-width: 10rem; overflow-wrap: anywhere; }
        #path a + a::before { content: " / "; color: var(--soft); }
        main { max-width: 76rem; margin: 0 auto; padding: 1.2rem; outline: none; }
        a { color: var(--accent); }
        h1 { font-size: 1.4rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 1.4rem 0 .5rem; }
        .skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: 1rem; z-index: 2; }
        button, select, input, textarea { font: inherit; color: inherit; background: var(--paper);
          border: 1px solid var(--line); border-radius: 6px; padding: .35rem .7rem; }
        button { cursor: pointer; } button.main { background: var(--accent); border-color: var(--accent); color: var(--paper); }
        button.danger { color: var(--bad); }
        button:disabled { opacity: .5; cursor: default; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .bar { display: flex; gap: .5rem; flex-wrap: wrap; align-items: center; margin: .6rem 0; }
        .bar .grow { flex: 1; min-width: 8rem; }
        .card { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; margin: .8rem 0; }
        .tabs { display: flex; gap: .3rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
        .tabs a { padding: .4rem .8rem; text-decoration: none; border-bottom: 3px solid transparent; }
        .tabs a[aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--soft); font-weight: 500; }
        td, th { padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
        code, pre, textarea { font: 13px/1.5 ui-monospace, monospace; }
        pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
        textarea { width: 100%; min-height: 16rem; resize: vertical; tab-size: 2; }
        textarea.wrong { border-color: var(--bad); }
        .wrong-line { background: var(--mark); display: block; padding: .2rem .5rem; border-radius: 4px; }
        .soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .8rem; }
        .columns > * { min-width: 0; margin: 0; }
        .differs { background: var(--mark); }
        svg { display: block; max-width: none; } svg text { font: 11px ui-monospace, monospace; fill: var(--ink); }
        svg path { fill: none; stroke: var(--soft); stroke-width: 1.5; }
        svg circle { fill: var(--paper); stroke: var(--accent); stroke-width: 2; }
        svg .winner circle { fill: var(--accent); } svg .deleted circle { stroke: var(--bad); stroke-dasharray: 3 2; }
        svg .missing circle { stroke: var(--soft); }
        img { max-width: 100%; max-height: 20rem; display: block; border-radius: 6px; }
        form.login { max-width: 22rem; margin: 10vh auto; display: grid; gap: .7rem; }
        form.login label { display: grid; gap: .2rem; }
        #notice { position: fixed; right: 1rem; bottom: 1rem; margin: 0; padding: .6rem 1rem; max-width: 30rem;
          border-radius: 8px; background: var(--ink); color: var(--paper); }
        #notice:empty { display: none; }
        @media (max-width: 40rem) { main { padding: .8rem; } td, th { padding: .3rem; } }

        """
}
