import Testing

@testable import RoostCommand

/// What other shells take is answered with what this one does.
@Suite struct HabitsTests {
    @Test(arguments: [
        (".tables", "lscoll"), ("\\dt", "lscoll"), ("show  TABLES", "lscoll"), ("\\d notes", "lscoll"),
        ("show indexes", "index list"), ("describe notes", "SELECT * FROM _"), (".schema", "SELECT * FROM _"),
        (".mode csv", "mode table"), ("INSERT INTO notes VALUES (1)", "put ID JSON"),
        ("UPDATE notes SET a = 1", "put ID JSON"), ("DELETE FROM notes", "rm ID"),
        ("CREATE INDEX x ON notes(a)", "index create"), ("DROP INDEX x", "index drop"),
        ("BEGIN", "transaction"),
        ("db.notes.find({})", "SQL++"),
    ])
    func aHabitIsPointedOn(typed: String, here: String) {
        #expect(Habits.pointer(for: typed)?.contains(here) == true)
    }

    @Test func otherWordsAreNone() {
        for word in ["beginning", "dba", "\\dtx", "shows", "count"] {
            #expect(Habits.pointer(for: word) == nil)
        }
    }

    @Test func synonymsAreWords() {
        for name in ["exit", "QUIT", ".quit", "\\q"] { #expect(ShellWord(typed: name) == .exit) }
        for name in ["help", ".help", "\\?", "?"] { #expect(ShellWord(typed: name) == .help) }
        #expect(ShellWord(typed: "explain") == nil)
    }

    @Test func messagesKeepBackslashesAndEndWithAStop() {
        #expect(ShellHelp.unknown("\\foo") == "There is no command \"\\foo\". See `help`.")
        #expect(
            ShellHelp.unknown("selct") == "There is no command \"selct\"; did you mean SELECT? See `help`.")
    }
}
