import Testing

@testable import RoostCommand

/// What other shells take is answered with what this one does.
@Suite struct HabitsTests {
    @Test(arguments: [
        (".headers on", "mode table"), ("show create table x", "DESCRIBE"), ("\\copy x", "import FILE"),
        ("INSERT INTO notes VALUES (1)", "put ID JSON"),
        ("UPDATE notes SET a = 1", "put ID JSON"), ("DELETE FROM notes", "rm ID"),
        ("CREATE INDEX x ON notes(a)", "index create"), ("DROP INDEX x", "index drop"),
        ("BEGIN", "transaction"),
        ("db.notes.find({})", "SQL++"),
    ])
    func aHabitIsPointedOn(typed: String, here: String) {
        #expect(Habits.pointer(for: typed)?.contains(here) == true)
    }

    @Test(arguments: [
        (".tables", "lscoll"), ("\\dt", "lscoll"), ("show  TABLES", "lscoll"),
        ("\\d notes", "DESCRIBE notes"),
        (".schema", "DESCRIBE _"), ("show indexes", "index list"), (".import x.csv", "import x.csv"),
        (".import x.csv notes", "import x.csv --collection notes"), (".dump out.json", "export out.json"),
    ])
    func aNameOfAnotherShellIsTranslated(typed: String, here: String) throws {
        #expect(try Habits.translation(of: typed)?.text == here)
    }

    @Test func otherWordsAreNone() throws {
        for word in ["beginning", "dba", "\\dtx", "shows", "count"] {
            #expect(Habits.pointer(for: word) == nil)
            #expect(try Habits.translation(of: word) == nil)
        }
    }

    @Test func synonymsAreWords() {
        for name in ["exit", "QUIT", ".quit", "\\q"] { #expect(ShellWord(typed: name) == .exit) }
        for name in [".mode", "MODE"] { #expect(ShellWord(typed: name) == .mode) }
        for name in ["read", ".read", "\\i"] { #expect(ShellWord(typed: name) == .read) }
        for name in ["help", ".help", "\\?", "?"] { #expect(ShellWord(typed: name) == .help) }
        #expect(ShellWord(typed: "explain") == nil)
    }

    @Test func messagesKeepBackslashesAndEndWithAStop() {
        #expect(ShellHelp.unknown("\\foo") == "There is no command \"\\foo\". See `help`.")
        #expect(
            ShellHelp.unknown("selct") == "There is no command \"selct\"; did you mean SELECT? See `help`.")
    }
}
