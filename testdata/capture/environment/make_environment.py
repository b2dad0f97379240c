"""Writes environment.sqlite: texts as an export of Nsight Systems holds them, environments among them, in every kind of place of a row."""
import sqlite3, sys, os
path = sys.argv[1]
if os.path.exists(path): os.remove(path)
c = sqlite3.connect(path)
c.execute("PRAGMA page_size=1024")
c.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
c.execute("CREATE TABLE META (name TEXT, value TEXT, n INTEGER, x REAL)")
mark = "PROF_PASS=0123456789abcdef0123456789abcdef"
def env(n, where, tail=""):
    v = ["SECRET_%03d=value-%03d-%s" % (i, i, "s" * (i % 37)) for i in range(n)]
    v[n // 3:n // 3] = ["CUDA_VISIBLE_DEVICES=0", "PATH=/usr/bin:/bin"]
    v.insert({"first": 0, "middle": len(v) // 2, "last": len(v)}[where], mark)
    return "\0".join(v) + tail
row = 0
def text(t):
    global row
    row += 1
    c.execute("INSERT INTO StringIds VALUES (?, ?)", (row, t))
for n in (1, 3, 8, 20, 21, 22, 25, 60, 300):
    for where in ("first", "middle", "last"):
        text("void kernel_%d<SECRET_001=value-001-s>(int)" % n)
        text(env(n, where))
        text("cudaLaunchKernel")
text("SECRET_000=of a process that was given an environment of its own\0CUDA_INJECTION64_PATH=/opt/x\0SECRET_001=y")
text("void kernel<CUDA_INJECTION64_PATH=>()")  # no environment either
text("x" * 5000)
text("SECRET_000=value-000-")  # no environment: it stays
for i in range(200): text("t%d" % i)
c.execute("INSERT INTO META VALUES (?, ?, ?, ?)", ("env", env(40, "middle", "\0"), 5, 1.5))
c.commit(); c.close()
