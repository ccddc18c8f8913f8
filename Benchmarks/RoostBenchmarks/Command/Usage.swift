/// What `--help` prints.
enum Usage {
    static var text: String {
        """
        Usage: roost-bench [options]

        Measures embedded stores side by side: the same documents (a 16-byte ID and a value of random bytes),
        found by ID and by sequence, every commit durable. Contenders take turns; each row of each contender
        runs in a process of its own, on a copy of the same store.

          --quick             100,000 documents, short phases, done within 3 minutes; unless --rows says so
                              without the rows of encryption (K), blobs (B), queries (Q, T), the server (H) and
                              replication (S)
          --rows W1,R1        only these rows: \(Row.allCases.map(\.rawValue).joined(separator: ", "))
          --contenders a,b    only these: \(ContenderCatalogue.all.map(\.name).joined(separator: ", "))
          --docs N            documents in the store (1000000)
          --value-size N      bytes of a value (300)
          --import FILE       documents as JSON lines for row D2 (those of row D3, in the order of their IDs)
          --text FILE         texts for row T1, a paragraph that begins at the margin each (.build/gcide.txt, the
                              dictionary of Debian's dict-gcide; made up where there is no such file)
          --cache N           MiB of cache for Roost's engine, SQLite and RocksDB; LMDB has none (128, 256
                              and 512, as their configurations say)
          --blob-size N       length of the blob in MiB (256); 2048 shows that memory does not grow
          --seed N            seed of documents and orders (1)
          --rounds N          samples of each figure (3)
          --seconds N         length of the phases that are bounded by time (2)
          --scale 10000,...   compares stores of these numbers of documents, in one round, instead
          --json FILE         writes every sample to FILE
          --results DIR       writes table, JSON and plots to DIR (Benchmarks/Results, say)
          --directory DIR     where the stores are kept meanwhile (.build/roost-bench); emptied at the end
          --help

        The table goes to standard output, progress to standard error. A sample during which other programs
        took more than a third of a core is taken again, up to twice, and marked with ~ if that did not help.
        """
    }
}
