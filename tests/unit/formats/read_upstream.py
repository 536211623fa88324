"""Reads a folder of upstream's files with Python's own csv and json, and the JSON records as upstream's
dashboard does: one metric of one model each, text values in the metric's extra information, anything
without a model's name refused. Prints what it found as JSON; an odd file ends with a traceback."""

import ast
import csv
import json
import os
import struct
import sys


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    header = rows[0]
    for row in rows[1:]:
        assert len(row) == len(header), (path, row)
    return [dict(zip(header, row)) for row in rows[1:]]


def read_records(path):
    models = {}
    with open(path) as file:
        for line in file:
            record = json.loads(line)
            model, metric = record["model"]["name"], record["metric"]
            assert model and record["benchmark"]["mode"] and record["benchmark"]["dtype"], line
            assert record["benchmark"]["extra_info"]["device"], line
            values = metric["benchmark_values"] or metric["extra_info"]["benchmark_values"]
            assert len(values) == 1, line
            metrics = models.setdefault(model, {})
            assert metric["name"] not in metrics, "one record for each column of a row: " + line
            metrics[metric["name"]] = values[0]
    return models


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"]
    rows, columns = header["shape"]
    values = struct.unpack("<%dd" % (rows * columns), data[10 + length :])
    return [list(values[i * columns : (i + 1) * columns]) for i in range(rows)]


def main():
    folder = sys.argv[1]
    found = {"csv": {}, "records": {}, "npy": {}}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".csv"):
            found["csv"][name] = read_csv(path)
        elif name.endswith(".json"):
            found["records"][name] = read_records(path)
        elif name.endswith(".npy"):
            found["npy"][name] = read_npy(path)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
