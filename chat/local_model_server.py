"""The local model's own process: one GGUF file served on 127.0.0.1 as an OpenAI-compatible server.

Takes: the file, the port, the model's name and sizes on the command line; a pipe on standard input.
Gives: `/v1/chat/completions` (streaming too) and `/health` by llama.cpp's server, which applies the model's
own chat template; on standard output one line, `ready` or `absent <reason>`; on standard error warnings.
Does not know: the rest of Gymnasia. It is started as a file (`python -I .../local_model_server.py`), with
nothing of the project importable, so that a fault in here, or in the native code, stays in here.
"""

import argparse
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# How often the watch asks for its parent's id, beside waiting for the pipe's end: well within 5 s.
WATCH_S = 1.0
# Lower than the web process (0): a token that comes later is better than a page that answers later.
NICENESS = 10
PROMPT_CACHE_MIB = 256
ANSWER_TOKENS = 768


def watch(parent: int) -> NoReturn:
    """End this process, at once and whatever the other threads do, when the process `parent` is gone.

    The pipe's end is seen however the parent died, `kill -9` included. The parent's id is asked too, for the
    case that some other child of the parent has inherited the pipe's writing end and holds it open.
    PR_SET_PDEATHSIG is not used: it fires when the *thread* that started us ends, perhaps one of a pool.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], WATCH_S)
        if readable and not os.read(0, 4096):
            break
    os._exit(0)


def step_back() -> None:
    """Let the web process go first, for processor time and when memory runs out."""
    os.nice(NICENESS)
    with suppress(OSError):  # not Linux, or not allowed: only a preference
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def report(line: str) -> None:
    """Write one line for the parent; a parent that no longer reads is the watch's matter."""
    with suppress(BrokenPipeError):
        os.write(1, line.encode() + b"\n")


def serve(args: argparse.Namespace) -> object:
    """Load the model and return the running server; raises what the import or llama.cpp raises."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = args.file
    params.model_alias = {args.name}
    params.hostnames = ["127.0.0.1"]
    params.port = args.port
    params.n_parallel = args.slots
    params.n_ctx = args.context * args.slots
    params.cache_ram_mib = PROMPT_CACHE_MIB  # llama.cpp's own default is 8 GiB
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    # Without polling, threads sleep between steps: as fast on two cores, and the web process gets its share.
    params.cpuparams.poll = 0
    params.cpuparams_batch.poll = 0
    params.n_threads_http = args.slots + 2
    # What the model's card recommends where a request does not say otherwise.
    params.sampling.temp = 0.2
    params.sampling.top_p = 0.9
    # A model of this size likes to go round in circles: penalised, and ended by a limit that is told to the person.
    params.sampling.penalty_repeat = 1.1
    params.sampling.penalty_last_n = 256
    params.n_predict = ANSWER_TOKENS
    # Nothing of the reader's may be seen by others: no prompts in /slots, no page, no other site's scripts.
    params.endpoint_slots = False
    params.endpoint_props = False
    params.ui = False
    params.cors_origins = "http://127.0.0.1"
    params.cors_credentials = False
    params.offline = True
    params.verbosity = 2  # warnings and errors: no line per request, no text of anybody
    return xllamacpp.Server(params)


def main() -> int:
    """Serve until the parent ends; give 1 when the model cannot run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", required=True)
    parser.add_argument("--name", required=True)
    for number in ("parent", "port", "context", "slots", "threads"):
        parser.add_argument(f"--{number}", type=int, required=True)
    args = parser.parse_args()

    # Ctrl-C reaches the whole process group; the parent decides when it is over, and then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, args=(args.parent,), name="watch", daemon=True).start()
    step_back()
    try:
        server = serve(args)
    except ImportError as fault:
        report(f"absent xllamacpp does not load: {fault}")
        return 1
    except RuntimeError as fault:
        report(f"absent llama.cpp did not start: {fault}")
        return 1
    report("ready")
    signal.pause()
    del server  # kept until here: the last reference ends the server
    return 0


if __name__ == "__main__":
    sys.exit(main())
