import Foundation
import RoostIndex
import RoostStorage

/// One page that shows an inspection in pictures: no network, no other files, of bounded size.
///
/// Its script draws from the JSON in the element `data`, the same that `roost inspect --json` prints, and says in the
/// body's `data-…` attributes what it has drawn, so that a test can tell.
struct InspectionPage {
    let html: String

    init(title: String, _ inspection: StoreInspection, _ derived: [DerivedStore] = []) {
        let place = URL(fileURLWithPath: title)
        self.init(name: place.lastPathComponent, path: place.path, inspection, derived)
    }

    /// - Parameter path: Where the file is; empty where that is nobody's business.
    init(name: String, path: String, _ inspection: StoreInspection, _ derived: [DerivedStore]) {
        let name = InspectionPage.escaped(name)
        // A tree may be named </script>; within JSON strings the escape means the same.
        let data = InspectionJSON.text(of: inspection, path: path, derived).replacingOccurrences(
            of: "<", with: "\\u003c")
        html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(name) – roost inspect</title>
            <style>
            \(InspectionPage.style)
            </style>
            </head>
            <body>
            \(InspectionPage.markup(name: name, path: InspectionPage.escaped(path)))
            <script type="application/json" id="data">\(data)</script>
            <script>
            \(InspectionPage.script)
            \(InspectionPage.mapScript)
            \(InspectionPage.chartScript)
            \(InspectionPage.treeScript)
            draw();
            </script>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: "\"", with: "&quot;")
    }

    private static func markup(name: String, path: String) -> String {
        """
        <main>
        <header>
          <div><p class="eyebrow">roost inspect</p><h1>\(name)</h1><p class="path">\(path)</p></div>
          <button id="theme" type="button" aria-label="Switch between light and dark">◐</button>
        </header>
        <section class="tiles" id="tiles"></section>
        <section id="problems" hidden></section>
        <section>
          <h2>Where the bytes are</h2>
          <p class="note">Live is what the newest commit needs and a compaction keeps; dead is what only older commits
          lead to. Point at a kind to find it in the map.</p>
          <div id="bar" class="bar"></div>
          <div id="legend" class="legend"></div>
        </section>
        <section>
          <h2>The file, from its first byte to its last</h2>
          <p class="note" id="map-note"></p>
          <div class="map"><canvas id="map" tabindex="0" role="img" aria-label="Map of the file's blocks"></canvas></div>
        </section>
        <section>
          <div class="row"><h2>Commits</h2><div class="choice" id="axis">
            <button type="button" data-axis="number" aria-pressed="true">by commit</button>
            <button type="button" data-axis="time" aria-pressed="false">by time</button></div></div>
          <p class="note">How the file grew, and below how many bytes each commit appended. Pale is
          the file, full what was alive; a triangle is a checkpoint.</p>
          <svg id="timeline" role="img" aria-label="Commits on a time line"></svg>
        </section>
        <section>
          <h2>Trees</h2>
          <p class="note">Each bar is a level of the tree, the root on top and the leaves at the bottom; its width grows with
          the logarithm of the number of nodes, its filled part is how full they are.</p>
          <div id="trees" class="trees"></div>
        </section>
        <section id="derived" hidden>
          <h2>Indexes and views</h2>
          <p class="note">They stand in files of their own, and can always be made anew from the documents.</p>
        </section>
        <footer>Made by roost \(RoostTool.version). This page is complete in itself: it loads nothing.</footer>
        </main>
        <div id="tip" role="status" hidden></div>
        """
    }
}
