extension InspectionPage {
    /// Colours that stay apart for the colour-blind, as variables for light and dark; the page follows the system's
    /// choice unless its button was used.
    static let style = #"""
        :root {
          --page: #f6f5f2; --card: #ffffff; --ink: #1d2129; --soft: #636b78; --line: #e3e1db;
          --value: #2f6fde; --node: #d9730d; --operations: #0f9d84; --directory: #9b51c9;
          --header: #3d4450; --framing: #9aa1ad; --prepared: #c9cdd4; --unreadable: #d62f3f;
          --empty: #eceae5; --dead: .24; --accent: #2f6fde;
        }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {
          --page: #14161a; --card: #1c1f25; --ink: #e9ebef; --soft: #98a0ad; --line: #2d323b;
          --value: #5b94ff; --node: #ff9b40; --operations: #2dc9ac; --directory: #c38af0;
          --header: #c9ced8; --framing: #6d7583; --prepared: #3a404b; --unreadable: #ff5f6d;
          --empty: #262a32; --dead: .27; --accent: #5b94ff;
        } }
        :root[data-theme=dark] {
          --page: #14161a; --card: #1c1f25; --ink: #e9ebef; --soft: #98a0ad; --line: #2d323b;
          --value: #5b94ff; --node: #ff9b40; --operations: #2dc9ac; --directory: #c38af0;
          --header: #c9ced8; --framing: #6d7583; --prepared: #3a404b; --unreadable: #ff5f6d;
          --empty: #262a32; --dead: .27; --accent: #5b94ff;
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink);
          font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
        main { max-width: 1160px; margin: 0 auto; padding: 32px 24px 48px; }
        header { display: flex; justify-content: space-between; align-items: flex-start; margin-bottom: 20px; }
        .eyebrow { margin: 0; font-size: 12px; letter-spacing: .1em; text-transform: uppercase; color: var(--soft); }
        h1 { margin: 2px 0 0; font-size: 30px; line-height: 1.2; letter-spacing: -.015em; }
        .path { margin: 2px 0 0; color: var(--soft); font: 13px ui-monospace, "Liberation Mono", monospace;
          overflow-wrap: anywhere; }
        #theme { font-size: 18px; width: 38px; height: 38px; border-radius: 50%; }
        button { color: var(--ink); background: var(--card); border: 1px solid var(--line); cursor: pointer; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
          padding: 18px 20px 20px; margin-bottom: 16px; }
        h2 { margin: 0; font-size: 17px; letter-spacing: -.005em; }
        .note { margin: 2px 0 14px; color: var(--soft); font-size: 13.5px; max-width: 78ch; }
        .row { display: flex; justify-content: space-between; align-items: center; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0; padding: 0;
          overflow: hidden; }
        .tile { padding: 14px 20px; border-right: 1px solid var(--line); margin-right: -1px; }
        .tile b { display: block; font-size: 23px; font-weight: 620; letter-spacing: -.02em;
          font-variant-numeric: tabular-nums; white-space: nowrap; }
        .tile span { font-size: 13px; color: var(--soft); }
        #problems { border-color: var(--unreadable); }
        #problems ul { margin: 6px 0 0; padding-left: 20px; font-size: 13.5px; columns: 2 380px; max-height: 240px;
          overflow: auto; }
        .bar { display: flex; height: 26px; border-radius: 6px; overflow: hidden; gap: 1px; }
        .bar i { display: block; min-width: 1px; transition: opacity .12s; }
        .dead { opacity: var(--dead); }
        .legend { display: grid; grid-template-columns: repeat(auto-fill, minmax(225px, 1fr)); gap: 2px 14px;
          margin-top: 14px; }
        .legend div { display: grid; grid-template-columns: 26px 1fr; gap: 0 10px; align-items: center;
          padding: 5px 8px; margin: 0 -8px; border-radius: 6px; cursor: default; }
        .legend div:hover, .legend div:focus { background: var(--empty); outline: none; }
        .legend em { display: flex; height: 14px; border-radius: 3px; overflow: hidden; }
        .legend em i { flex: 1; }
        .legend span { font-size: 14px; line-height: 1.35; }
        .legend small { grid-column: 2; color: var(--soft); font-size: 12.5px; line-height: 1.35;
          font-variant-numeric: tabular-nums; white-space: nowrap; }
        .map canvas { display: block; width: 100%; outline: none; cursor: crosshair; }
        svg { display: block; width: 100%; height: auto; overflow: visible; }
        svg text { fill: var(--soft); font-size: 11.5px; font-variant-numeric: tabular-nums; }
        .choice { display: flex; }
        .choice button { font: inherit; font-size: 13px; padding: 3px 12px; }
        .choice button:first-child { border-radius: 7px 0 0 7px; }
        .choice button:last-child { border-radius: 0 7px 7px 0; border-left: 0; }
        .choice button[aria-pressed=true] { background: var(--ink); color: var(--card); border-color: var(--ink); }
        .trees { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 14px;
          align-items: start; }
        .tree { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px 12px; }
        .tree h3 { margin: 0; font: 600 14.5px ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
        .tree p { margin: 2px 0 10px; font-size: 13px; color: var(--soft); }
        .tree > svg { max-width: 540px; }
        .tree .pair { display: grid; grid-template-columns: repeat(2, minmax(0, 260px)); gap: 18px; margin-top: 12px; }
        .tree h4 { margin: 0 0 4px; font-size: 12px; font-weight: 500; color: var(--soft); }
        footer { color: var(--soft); font-size: 12.5px; text-align: center; padding-top: 8px; }
        #tip { position: fixed; z-index: 9; pointer-events: none; max-width: 340px; padding: 8px 11px;
          border-radius: 8px; background: var(--ink); color: var(--card); font-size: 13px; line-height: 1.45;
          box-shadow: 0 6px 24px #0005; white-space: pre-line; font-variant-numeric: tabular-nums; }
        @media (max-width: 640px) {
          main { padding: 20px 12px 32px; }
          .tiles { grid-template-columns: 1fr 1fr; }
          .tile b { font-size: 20px; }
          .tree > svg text { font-size: 13.5px; }
          .tree .pair { grid-template-columns: minmax(0, 260px); }
        }
        @media print { button { display: none; } section { break-inside: avoid; } }
        """#
}
