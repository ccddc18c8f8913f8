extension InspectionPage {
    /// The time line: the file's growth and its live bytes above, what each commit appended below.
    static let chartScript = #"""
        let axis = "number";

        function setUpTimeline() {
          for (const button of $("axis").querySelectorAll("button")) {
            button.addEventListener("click", () => {
              axis = button.dataset.axis;
              for (const other of $("axis").querySelectorAll("button")) {
                other.setAttribute("aria-pressed", String(other === button));
              }
              drawTimeline();
            });
          }
        }

        function describeSpan(span) {
          const one = span.count === 1;
          return [(one ? "Commit " + number(span.last) : "Commits " + number(span.first) + " – " + number(span.last)),
            one ? when(span.lastTime) : when(span.firstTime) + " –\n" + when(span.lastTime),
            size(span.bytes) + (one ? "" : " in " + plural(span.count, "commit", "commits")),
            span.checkpoints ? (one ? "a checkpoint" : plural(span.checkpoints, "checkpoint", "checkpoints")) : null,
            "file then: " + size(span.end), "alive then: about " + size(span.liveBytes)].filter(Boolean).join("\n");
        }

        function drawTimeline() {
          const chart = $("timeline"), spans = data.timeline;
          chart.replaceChildren();
          const width = Math.max(300, Math.round(chart.getBoundingClientRect().width));
          const [left, right, growth, gap, bars] = [74, 10, 170, 26, 70];
          chart.setAttribute("viewBox", `0 0 ${width} ${growth + gap + bars + 26}`);
          document.body.dataset.spans = spans.length;
          if (!spans.length) return;
          const first = spans[0], last = spans[spans.length - 1], room = width - left - right;
          const byTime = axis === "time" && last.lastTime > first.firstTime;
          const range = byTime ? [first.firstTime, last.lastTime] : [first.first, last.last + 1];
          const x = (value) => left + (value - range[0]) / (range[1] - range[0]) * room;
          const begin = (span) => x(byTime ? span.firstTime : span.first);
          const finish = (span) => x(byTime ? span.lastTime : span.last + 1);
          const most = Math.max(...spans.map((span) => span.end), 1);
          const y = (bytes) => growth - Math.min(bytes, most) / most * (growth - 8);

          const step = 2 ** Math.ceil(Math.log2(most / 5));
          for (let bytes = 0; bytes <= most; bytes += step) {
            chart.append(svg("line", { x1: left, x2: width - right, y1: y(bytes), y2: y(bytes), stroke: "var(--line)" }));
            chart.append(svg("text", { x: left - 10, y: y(bytes) + 4, "text-anchor": "end" }, size(bytes)));
          }
          const area = (field) => {
            let path = `M${begin(first)} ${growth}`;
            for (const span of spans) path += ` L${begin(span)} ${y(span[field])} L${finish(span)} ${y(span[field])}`;
            return path + ` L${finish(last)} ${growth} Z`;
          };
          chart.append(svg("path", { d: area("end"), fill: "var(--accent)", opacity: "var(--dead)" }));
          chart.append(svg("path", { d: area("liveBytes"), fill: "var(--accent)", opacity: ".9" }));

          const base = growth + gap + bars, tallest = Math.max(...spans.map((span) => span.bytes / span.count), 1);
          const isMarked = spans.filter((span) => span.checkpoints).length <= 90;
          spans.forEach((span) => {
            const from = begin(span), to = Math.max(finish(span), from + 1);
            const space = to - from > 4 ? 1 : 0;
            const height = Math.max(1, span.bytes / span.count / tallest * bars);
            const group = svg("g", { "data-tip": describeSpan(span), class: "span" });
            group.append(svg("rect", { x: from, y: base - height, width: Math.max(.8, to - from - space), height,
              fill: "var(--operations)", rx: to - from > 8 ? 2 : 0 }));
            if (span.checkpoints && isMarked) {
              const middle = (from + to) / 2;
              group.append(svg("path", { d: `M${middle - 4} ${base + 8} l4 -6 l4 6 Z`, fill: "var(--directory)" }));
            }
            // The whole column answers to the pointer.
            group.append(svg("rect", { x: from, y: 0, width: Math.max(1, to - from), height: base + 10,
              fill: "transparent" }));
            chart.append(group);
          });
          chart.append(svg("text", { x: left - 10, y: base - bars + 8, "text-anchor": "end" }, size(tallest)));
          chart.append(svg("text", { x: left - 10, y: base, "text-anchor": "end" }, "0"));
          const label = (value) => byTime ? when(value) : "commit " + number(value);
          chart.append(svg("text", { x: left, y: base + 24 }, label(range[0])));
          chart.append(svg("text", { x: width - right, y: base + 24, "text-anchor": "end" },
            label(byTime ? range[1] : last.last)));
        }
        """#
}
