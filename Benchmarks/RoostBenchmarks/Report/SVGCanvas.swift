import Foundation

/// Collects the shapes of an SVG picture that is readable on light and on dark pages: the background is left
/// to the page, and every colour stands out from white and from black, since a picture cannot rely on being
/// told the page's scheme.
struct SVGCanvas {
    /// The place of a text relative to its point.
    enum Anchor: String {
        case start, middle, end
    }

    private let width: Double
    private let height: Double
    private var shapes: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// A bar; `style` is one of the style sheet's classes.
    mutating func bar(x: Double, y: Double, width: Double, height: Double, style: String) {
        shapes.append(
            "<rect class=\"\(style)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" "
                + "width=\"\(Self.text(width))\" height=\"\(Self.text(height))\" rx=\"1.5\"/>")
    }

    /// A line through `points`; `style` as for a bar.
    mutating func line(_ points: [(x: Double, y: Double)], style: String, dash: String? = nil) {
        let path = points.map { "\(Self.text($0.x)),\(Self.text($0.y))" }.joined(separator: " ")
        let dashes = dash.map { " stroke-dasharray=\"\($0)\"" } ?? ""
        shapes.append("<polyline class=\"line \(style)\" points=\"\(path)\"\(dashes)/>")
    }

    mutating func text(_ string: String, x: Double, y: Double, anchor: Anchor = .start, style: String) {
        shapes.append(
            "<text class=\"\(style)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" "
                + "text-anchor=\"\(anchor.rawValue)\">\(Self.escaped(string))</text>")
    }

    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(width)) \(Self.text(height))" \
        font-family="system-ui, sans-serif">
        <style>
        \(Self.styleSheet)
        </style>
        \(shapes.joined(separator: "\n"))
        </svg>

        """
    }

    private static let styleSheet = """
        text { fill: #727b85; font-size: 11px }
        .title { font-size: 15px; font-weight: 600 }
        .panel { font-weight: 600 }
        .raw { fill: #8c959f; stroke: #8c959f }
        .peer { fill: #5f88bd; stroke: #5f88bd }
        .relaxed { fill: #a3bbdb; stroke: #a3bbdb }
        .roost { fill: #e0702d; stroke: #e0702d }
        .rule { stroke: #727b8555 }
        .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
        rect.raw, rect.peer, rect.relaxed, rect.roost { stroke: none }
        """

    private static func text(_ value: Double) -> String {
        String(format: "%.1f", value)
    }

    private static func escaped(_ string: String) -> String {
        string.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
