# Runs wasi.wat by wasmtime and prints its readings. Each line has the id, the nanoseconds per unit, and readings.
import struct
import sys

import wasmtime

store = wasmtime.Store()
store.set_wasi(wasmtime.WasiConfig())
linker = wasmtime.Linker(store.engine)
linker.define_wasi()
exports = linker.instantiate(store, wasmtime.Module.from_file(store.engine, sys.argv[1])).exports(store)
exports["run"](store)
for at, name in enumerate(("monotonic", "realtime")):
    print(name, 1, *struct.unpack("<20000q", exports["memory"].read(store, 160000 * at, 160000 * (at + 1))))
