"""Run a llama.cpp server with a small model on loopback until killed: `python -m
tests.retrieval.llama.serve MODEL PORT`."""

import signal
import sys

import xllamacpp


def serve(model: str, port: int) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel, params.warmup = 2048, 1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print("serving", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
