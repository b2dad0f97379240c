# Prints where the packages of an interpreter keep CUPTI and its headers, as the wheels of PyTorch and Triton do. Nothing is imported.
import glob
import json
import os
import sys
from importlib import util


def folders(name):
    try:
        spec = util.find_spec(name)
        return list(spec.submodule_search_locations or [])
    except Exception:  # not installed
        return []


def below(names, *patterns):
    return [path for name in names for folder in folders(name) for p in patterns for path in sorted(glob.glob(os.path.join(folder, p)), reverse=True)]


sys.path[:] = [p for p in sys.path if p not in ("", ".")]
headers = below(["nvidia"], "cu*/include/cupti.h", "cuda_cupti/include/cupti.h") + below(["triton"], "backends/nvidia/include/cupti.h")
headers += below(["nvidia"], "cuda_runtime/include/cuda.h", "cuda_nvcc/include/crt/host_defines.h")
includes = [h[: h.index("/include/") + len("/include")] for h in headers]
libraries = below(["nvidia"], "cu*/lib/libcupti.so*", "cuda_cupti/lib/libcupti.so*") + below(["torch"], "lib/libcupti*.so*")
print("\nprof-cupti-places " + json.dumps({"Includes": includes, "Libraries": libraries}))
