#!/usr/bin/env bash
# sglang-router 0.3.2 drops each field of a chat that it does not know, and says nothing: the engine never sees priority, cache_salt or data_parallel_rank.
#
# It reads a chat into its own type and sends that on. What SGLang's or vLLM's API has beyond that type is gone, with status 200: scheduling by priority does
# nothing, a benchmark that keeps its runs apart by cache_salt or extra_key hits the cache of the run before, a rank is not chosen, rid is in no log, and no
# details of cached tokens come back. The engine itself would have taken each, and so does /v1/completions, which passes everything on. smg 1.13.0, as
# sglang-router is called now (its last version under this name is 0.3.2), and vllm-router 0.1.17 pass on all.
#
# Seen on 2026-11-30 with Python 3.11, sglang-router 0.3.2, smg 1.13.0:
#   sglang_router /v1/chat/completions: drops cache_salt custom_params data_parallel_rank extra_key priority return_cached_tokens_details rid structured_outputs
#   sglang_router /v1/completions: drops nothing
#   smg /v1/chat/completions: drops nothing
#   smg /v1/completions: drops nothing
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What they need for workers by gRPC is not loaded.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps sglang-router==0.3.2 smg==1.13.0
"$dir/venv/bin/pip" install -q --disable-pip-version-check PyYAML==6.0.4 aiohttp==3.14.5 fastapi==0.165.0 orjson==3.13.0 uvicorn==0.54.0 requests==2.34.2 setproctitle==1.3.7 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

# Of SGLang, but for the last, which is of vLLM; min_tokens and ignore_eos are known to all.
fields = {"ignore_eos": True, "min_tokens": 8, "priority": 3, "cache_salt": "a", "extra_key": "a", "rid": "a", "data_parallel_rank": 1}
fields |= {"custom_params": {"a": 1}, "return_cached_tokens_details": True, "structured_outputs": {"regex": "a"}}


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, what):
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "m", "object": "model"}], "model_path": "m"})

    def do_POST(self):
        came[self.path] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choice = {"index": 0, "finish_reason": "stop", "text": "word", "message": {"role": "assistant", "content": "word"}}
        self.answer({"id": "c", "created": 1, "model": "m", "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


worker = ThreadingHTTPServer(("127.0.0.1", 0), Worker)
threading.Thread(target=worker.serve_forever, daemon=True).start()
for router in ("sglang_router", "smg"):
    port = free()
    where = ["--worker-urls", f"http://127.0.0.1:{worker.server_port}", "--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free())]
    running = subprocess.Popen([sys.executable, "-m", f"{router}.launch_router", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for path, prompt in (("/v1/chat/completions", {"messages": [{"role": "user", "content": "Well?"}]}), ("/v1/completions", {"prompt": "Well?"})):
            came = {}
            body = json.dumps({"model": "m", **prompt, **fields}).encode()
            for _ in range(200):
                try:
                    urlopen(Request(f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"})).read()
                    break
                except OSError:
                    time.sleep(0.3)
            print(f"{router} {path}: drops", *(sorted(f for f in fields if came[path].get(f) != fields[f]) or ["nothing"]))
    finally:
        running.terminate()
        running.wait()
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'sglang_router /v1/chat/completions: drops cache_salt custom_params data_parallel_rank extra_key priority return_cached_tokens_details rid structured_outputs
sglang_router /v1/completions: drops nothing
smg /v1/chat/completions: drops nothing
smg /v1/completions: drops nothing' ]
