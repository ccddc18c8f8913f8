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
        :focus { outline: none; }
        [data-keyboard] :focus { outline: 2px solid var(--accent); outline-offset: 2px; }
        [data-keyboard] main:focus { outline: none; }
        input:focus, textarea:focus, select:focus { border-color: var(--accent); }
        button[aria-busy] { opacity: .6; cursor: progress; }
        .field { display: grid; gap: .15rem; min-width: 0; } .field > span { color: var(--soft); font-size: .85rem; }
        .field input, .field select { width: 100%; min-width: 0; } .card > .field + .field { margin-top: .5rem; }
        .choice { display: flex; gap: .4rem; align-items: center; } .bar > .choice { align-self: end; padding: .35rem 0; }
        input[type=checkbox] { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--accent); }
        fieldset { min-width: 0; } legend { font-weight: 600; padding: 0 .3rem; }
        dialog { color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 1.2rem;
          width: min(28rem, calc(100vw - 2rem)); overflow-wrap: anywhere; }
        dialog::backdrop { background: rgb(0 0 0 / .45); } dialog h2 { margin: 0 0 .5rem; }
        button.danger.main { background: var(--bad); border-color: var(--bad); color: var(--paper); }
        #parts { display: flex; gap: 1rem; } [hidden] { display: none !important; }
        svg [role=button] { cursor: pointer; } [data-keyboard] svg [role=button]:focus circle { stroke-width: 5; }
        .preview { overflow-wrap: anywhere; } .bar.tight { margin: 0; flex-wrap: nowrap; }
        .bar { display: flex; gap: .5rem; flex-wrap: wrap; align-items: end; margin: .6rem 0; }
        .bar .grow { flex: 1; min-width: 8rem; }
        .card { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; margin: .8rem 0; }
        .tabs { display: flex; gap: .3rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
        .tabs a { padding: .4rem .8rem; text-decoration: none; border-bottom: 3px solid transparent; }
        .tabs a[aria-current] { border-color: var(--accent); color: var(--ink); font-weight: 600; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--soft); font-weight: 500; }
        td, th { padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        th:has(> input), td:has(> input) { width: 2.5rem; }
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
        #notice { position: fixed; right: 1rem; bottom: 1rem; margin: 0; padding: .6rem 1rem; max-width: 30rem;
          border-radius: 8px; background: var(--ink); color: var(--paper); overflow-wrap: anywhere; z-index: 3; }
        #notice.bad { background: var(--bad); } #notice:empty { display: none; }
        #notice button { border: 0; background: none; color: inherit; padding: 0 .2rem .1rem .8rem; font-size: 1.1rem; }
        @media (max-width: 40rem) { main { padding: .8rem; } td, th { padding: .3rem; }
          header { gap: .5rem .8rem; padding: .5rem .8rem; } #path { order: 1; flex-basis: 100%; } #notice { left: 1rem; }
          .tabs { flex-wrap: nowrap; overflow-x: auto; } .tabs a { white-space: nowrap; padding: .4rem .6rem; } }

        """
}
