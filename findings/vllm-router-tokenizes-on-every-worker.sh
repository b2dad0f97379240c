#!/usr/bin/env bash
# vllm-router 0.1.17 has every worker tokenize every prompt before it picks one, and no engine's time to first token has the wait in it.
#
# Its default policy, cache_aware, matches tokens and leaves tokenizing to vLLM (with --enable-scale-out): it sends each chat to /v1/chat/completions/render
# of all workers at once, waits for all answers, and then sends the same text to one of them, which tokenizes it again. With N replicas a prompt is tokenized
# N + 1 times, by processes that also stream answers: more replicas do not make that cheaper, and the busiest of them sets when a request of any other can
# begin. What has not answered after 1 s is given up, and the request routed as if nothing were known of its prefix. The engine's TTFT
# (vllm:time_to_first_token_seconds) and queue begin only then. vllm_router_kv_routing_inputs_total counts the answers that came ("render") and those that did
# not. With --policy consistent_hash, power_of_two or round_robin nothing is asked.
#
# Seen on 2026-11-30 with Python 3.11, vllm-router 0.1.17, four workers that need 0.5 s for a prompt's first token:
#   default, one worker busy for 0.5 s: 3 chats tokenized 12 times before they were routed, first token after 1.0 s
#   default, one worker busy for 3 s: 3 chats tokenized 12 times before they were routed, first token after 1.5 s
#   round_robin: 3 chats tokenized 0 times before they were routed, first token after 0.5 s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What its prototype of a balancer in Python needs (--mini-lb) is loaded with it.
"$dir/venv/bin/pip" install -q --disable-pip-version-check vllm-router==0.1.17 aiohttp==3.14.5 fastapi==0.165.0 orjson==3.13.0 uvicorn==0.54.0 requests==2.34.2 setproctitle==1.3.7 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json, socket, statistics, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.answer('{"object": "list", "data": [{"id": "m", "object": "model"}]}')

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        paths.append(self.path)
        if self.path == "/v1/chat/completions/render":
            time.sleep(busy if self.server is workers[0] else 0)
            try:
                self.answer(json.dumps({"request_id": "r", "token_ids": list(range(1000)), "sampling_params": {}, "model": "m"}))
            except OSError:
                self.close_connection = True
            return
        time.sleep(0.5)
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "word "}}]}
        self.answer(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", "text/event-stream")


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


workers = [ThreadingHTTPServer(("127.0.0.1", 0), Worker) for _ in range(4)]
for w in workers:
    threading.Thread(target=w.serve_forever, daemon=True).start()
for what, busy, policy in (("default, one worker busy for 0.5 s", 0.5, []), ("default, one worker busy for 3 s", 3, []), ("round_robin", 3, ["--policy", "round_robin"])):
    paths, took, port = [], [], free()
    where = ["--worker-urls", *(f"http://127.0.0.1:{w.server_port}" for w in workers), "--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free())]
    router = subprocess.Popen([sys.prefix + "/bin/vllm-router", *where, *policy], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urlopen(f"http://127.0.0.1:{port}/health").read()
                break
            except OSError:
                time.sleep(0.3)
        for i in range(3):
            chat = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": f"Question {i}"}]})
            began = time.monotonic()
            with urlopen(Request(f"http://127.0.0.1:{port}/v1/chat/completions", chat.encode(), {"Content-Type": "application/json"})) as r:
                r.readline()
                took.append(time.monotonic() - began)
                r.read()
    finally:
        router.terminate()
        router.wait()
    print(f"{what}: 3 chats tokenized {paths.count('/v1/chat/completions/render')} times before they were routed, first token after {round(2 * statistics.median(took)) / 2} s")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'default, one worker busy for 0.5 s: 3 chats tokenized 12 times before they were routed, first token after 1.0 s
default, one worker busy for 3 s: 3 chats tokenized 12 times before they were routed, first token after 1.5 s
round_robin: 3 chats tokenized 0 times before they were routed, first token after 0.5 s' ]
