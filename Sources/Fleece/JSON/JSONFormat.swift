/// How JSON text is laid out.
public enum JSONFormat: Sendable {
    /// Without any space; keys in the order of the body.
    case compact
    /// On several lines, indented by two spaces; keys in the order of the body.
    case pretty
    /// Without any space and with keys sorted by their UTF-8 bytes: the same text for the same content, whatever
    /// the shared keys. Data stands between `<` and `>` in place of quotation marks, so that it differs from a text that
    /// looks like it; where there is data it is therefore not JSON. For comparisons.
    case canonical
}
