"""The child process that holds llama.cpp's server: `python -m darkcurrent.judges.llama_server JSON`.

It prints one line with its address and ends when its standard input closes, so that it never outlives the
process that started it, however that one ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # the server's own threads would hold a normal exit


def main() -> None:
    """Serve until standard input closes."""
    # Watched from the first moment: the parent may be gone before the model is loaded.
    watch = threading.Thread(target=_end_with_parent, daemon=True)
    watch.start()
    import xllamacpp

    wanted = json.loads(sys.argv[1])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["path"]
    parameters.model_alias = {wanted["model"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = wanted["context"]
    parameters.n_parallel = wanted["slots"]
    parameters.ui = False
    if wanted["threads"] is not None:
        parameters.cpuparams.n_threads = wanted["threads"]
    server = xllamacpp.Server(parameters)
    print(json.dumps({"address": server.listening_address, "build": xllamacpp.__version__}), flush=True)  # noqa: T201
    watch.join()


if __name__ == "__main__":
    main()
