#!/usr/bin/env python3
"""Writes the CSV forms of the tables beside it.

    python3 key_averages_csv.py train                   # train.key_averages.csv.gz and .shapes.csv.gz from the JSON files
    python3 key_averages_csv.py train train.table.txt   # and train.key_averages.table.csv.gz from what PyTorch printed
"""
import csv
import gzip
import io
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, header, rows):
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(header)
    out.writerows(rows)
    with open(os.path.join(HERE, name), "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
        z.write(text.getvalue().encode())


def from_json(name):
    with gzip.open(os.path.join(HERE, name + ".json.gz")) as f:
        rows = json.load(f)
    write(name + ".csv.gz", rows[0], (r.values() for r in rows))


def from_table(path, name):
    with open(path) as f:
        rows = [re.split(r"  +", line.strip()) for line in f if not line.startswith("-") and " time total: " not in line]
    rows = [r for r in rows if len(r) > 1]
    assert all(len(r) == len(rows[0]) for r in rows), "a name with two blanks"
    write(name + ".csv.gz", rows[0], rows[1:])


if __name__ == "__main__":
    from_json(sys.argv[1] + ".key_averages")
    from_json(sys.argv[1] + ".shapes.key_averages")
    if len(sys.argv) > 2:
        from_table(sys.argv[2], sys.argv[1] + ".key_averages.table")
