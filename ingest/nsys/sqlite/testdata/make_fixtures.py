#!/usr/bin/env python3
"""Make the fixtures of package sqlite: run in this folder with Python's sqlite3 and the sqlite3 shell.

The values follow formulas that the tests repeat.
"""
import gzip, os, shutil, sqlite3, subprocess

INTS = [0, 1, -1, 2, 127, -128, 128, 32767, -32768, 32768, 2**23 - 1, -2**23, 2**23, 2**31 - 1, -2**31, 2**31,
        2**47 - 1, -2**47, 2**47, 2**63 - 1, -2**63, None]


def fresh(name, pragmas="", isolation=None):
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(name + suffix):
            os.remove(name + suffix)
    db = sqlite3.connect(name, isolation_level=isolation)
    db.executescript(pragmas)
    return db


def text(i):
    """A text of up to a few pages: row 7k has (37 * i) % 3000 letters, others up to 69."""
    n = 37 * i % 3000 if i % 7 == 0 else i % 70
    return (chr(97 + i % 26) * n)


def types():
    db = fresh("types.sqlite", "pragma page_size=512")
    db.execute("create table ints(id INTEGER PRIMARY KEY, pad, v, w INTEGER)")
    for i, v in enumerate(INTS):
        db.execute("insert into ints values (?,?,?,?)", (10 * i, "p" * i, v, i))
    db.execute("create table reals(v REAL, w REAL, t TEXT)")
    for v in [0.5, -1e300, 3.0, 0.0, 1.0, 2.0**60, float("inf"), None, -7.25]:
        db.execute("insert into reals values (?,?,'x')", (v, 1.5))
    db.execute("create table texts(v TEXT, n INTEGER)")
    for i, v in enumerate(["", "a", "x" * 57, "y" * 58, "z" * 300, "\u00e9\u4e2d\U0001f600", "nul\0in", None]):
        db.execute("insert into texts values (?,?)", (v, i))
    db.execute("insert into texts values (cast(x'41ff42' as text), 8)")
    db.execute("create table mixed(i, f, t)")
    db.execute("insert into mixed values (1, 1, 'a'), (1.5, 'f', 2), ('text', x'00', 2.5), (x'01', NULL, x'02')")
    db.close()


def behind():
    """Values that take no bytes, behind a text that goes on in overflow pages."""
    db = fresh("behind.sqlite", "pragma page_size=512")
    db.execute("create table t(s TEXT, n INTEGER, z INTEGER, o INTEGER, r REAL, f REAL, u TEXT, e TEXT, l INTEGER)")
    for size in (10, 476, 2000, 1000):
        db.execute("insert into t values (?, NULL, 0, 1, NULL, 1.0, NULL, '', ?)", ("s" * size, size * 1000003))
    db.close()


def overflow():
    db = fresh("overflow.sqlite", "pragma page_size=512")
    db.execute("create table StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    db.execute("create table t(a INTEGER, s TEXT, b INTEGER, u TEXT, r REAL)")
    db.execute("begin")
    for i in range(36):
        db.execute("insert into StringIds values (?,?)", (3 * i + 1, text(i)))
    for i in range(16):
        db.execute("insert into t values (?,?,?,?,?)", (i, text(7 * i), -i * 1000003, text(i + 1), i / 4))
    # The header alone is longer than a page of 512 bytes holds.
    db.execute("create table wide(%s)" % ", ".join(f"c{i} INTEGER" for i in range(700)))
    for r in range(2):
        db.execute("insert into wide values (%s)" % ",".join(str((r + 1) * i) for i in range(700)))
    db.execute("commit")
    db.close()


def levels():
    """Three levels of pages with reserved bytes, which only the shell can ask for."""
    if os.path.exists("levels.sqlite"):
        os.remove("levels.sqlite")
    sql = ".filectrl reserve_bytes 32\npragma page_size=512;\nvacuum;\n"
    sql += "create table n(id INTEGER PRIMARY KEY, v INTEGER, w INTEGER);\nbegin;\n"
    sql += "".join(f"insert into n values ({5 * i - 2000},{i},{i * i * 1001 - 5});\n" for i in range(2500)) + "commit;\n"
    subprocess.run(["sqlite3", "levels.sqlite"], input=sql, text=True, check=True)


def alter():
    db = fresh("alter.sqlite", "pragma page_size=1024")
    db.execute("create table a(x INTEGER)")
    for i in range(5):
        db.execute("insert into a values (?)", (i,))
    for col in ["n INTEGER", "seven INTEGER DEFAULT 7", "neg INTEGER NOT NULL DEFAULT -3", "nul INTEGER DEFAULT NULL",
                "hex INTEGER DEFAULT 0x10", "word TEXT DEFAULT 'w'", "num TEXT DEFAULT 5", "real REAL DEFAULT 1.5",
                "two REAL DEFAULT 2"]:
        db.execute(f"alter table a add column {col}")
    db.execute("insert into a values (5, 50, 51, 52, 53, 54, 'x', 'y', 0.5, 0.25)")
    db.close()


def names():
    db = fresh("names.sqlite", "pragma page_size=1024")
    for sql in [
        """CREATE TABLE comments ( -- a comment, with (parentheses) and "quotes"
              start INTEGER NOT NULL, -- Event start, (ns).
              end /* the keyword */ INTEGER, /* , x INTEGER */
              text TEXT -- last
           )""",
        """create table "quo""ted"("a ""b" INTEGER, [c d] TEXT, `e``f` REAL, 'g''h' INTEGER, "primary" INTEGER,
              i DECIMAL(10, 2), j VARCHAR (5) DEFAULT (1 + (2)), "k,l" INTEGER CHECK ("k,l" > 0),
              CONSTRAINT u UNIQUE ("a ""b", [c d]), CHECK (i > 0) FOREIGN KEY (i) REFERENCES x(y) ON DELETE SET DEFAULT)""",
        "create table asc_key(v TEXT, k integer primary key asc autoincrement)",
        "create table desc_key(k INTEGER PRIMARY KEY DESC, v TEXT)",
        "create table table_key(v TEXT, 'k' INTEGER, PRIMARY KEY(K DESC))",
        "create table two_key(k INTEGER, v TEXT, PRIMARY KEY(k, v))",
        "create table int_key(k INT PRIMARY KEY, v TEXT)",
        "create table quoted_type(k \"INTEGER\" PRIMARY KEY, v TEXT)",
        "create table no_rowid(k INTEGER PRIMARY KEY, v TEXT) without rowid",
        "create table strict_table(k INTEGER PRIMARY KEY, v TEXT) strict",
        "create table gen(a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, c INTEGER AS (a + 1) STORED)",
        "create table like_select as select 1 as one, 'two' as \"the two\"",
        "create view a_view as select 1",
        "create table zero(a INTEGER)",
    ]:
        db.execute(sql)
    db.execute("insert into comments values (1, 2, 'x'), (3, NULL, 'y')")
    db.execute("""insert into "quo""ted" values (1, 'c', 2.5, 4, 5, 6.0, 'j', 7)""")
    for t in ["asc_key", "desc_key", "table_key", "two_key", "int_key", "quoted_type", "no_rowid", "strict_table"]:
        db.execute(f"insert into {t}(k, v) values (70, 'seventy'), (30, 'thirty')")
    db.execute("insert into gen(a) values (1)")
    db.close()


def others():
    db = fresh("utf16.sqlite", "pragma page_size=512; pragma encoding='UTF-16le'")
    db.execute("create table t(a TEXT)")
    db.close()

    db = fresh("wal.sqlite", "pragma page_size=512; pragma journal_mode=wal")
    db.execute("create table t(a INTEGER)")
    db.execute("insert into t values (1)")
    db.execute("pragma wal_checkpoint(truncate)")
    shutil.copy("wal.sqlite", "wal.tmp")  # the state after the checkpoint
    db.execute("insert into t values (2)")
    shutil.copy("wal.sqlite-wal", "wal.tmp-wal")
    db.close()
    os.replace("wal.tmp", "wal.sqlite")
    os.replace("wal.tmp-wal", "wal.sqlite-wal")

    db = fresh("noalias.sqlite", "pragma page_size=512")
    db.execute("create table StringIds(value TEXT, id INTEGER)")
    for i in range(50):
        db.execute("insert into StringIds values (?,?)", (f"name {i}", 1000 - 7 * i))
    db.close()

    db = fresh("empty.sqlite", "pragma page_size=512; create table t(a); drop table t; vacuum")
    db.close()

    db = fresh("big.tmp", "pragma page_size=65536")
    db.execute("create table t(id INTEGER PRIMARY KEY, a INTEGER, s TEXT)")
    db.execute("begin")
    for i in range(5600):
        db.execute("insert into t values (?,?,?)", (i, 3 * i, "s" * (70000 if i == 4000 else i % 5)))
    db.execute("commit")
    db.close()
    with open("big.tmp", "rb") as f, open("page65536.sqlite.gz", "wb") as raw:
        with gzip.GzipFile("", "wb", 9, raw, 0) as out:
            out.write(f.read())
    os.remove("big.tmp")


types(), behind(), overflow(), levels(), alter(), names(), others()
