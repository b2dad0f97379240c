#!/usr/bin/env bash
# vllm-router 0.1.17 with --policy consistent_hash or sticky_least_loaded sends all chats that name no session to one and the same worker.
#
# Its documentation says what is hashed where there is no session: the field user, and at last the whole body. But the policy is not given the body: it gets
# the text that the router routes by, which of a completion is its prompt and of a chat only the session_id. Without one that is empty, each chat has the
# key "request:" (the log says so), and one of N replicas does all of the work. Load generators name no session unless told to, and most send chats: the
# benchmark of N replicas shows the throughput of one. The documentation's examples for data parallelism use this policy. Send X-Session-ID or
# session_params.session_id; round_robin and power_of_two need neither.
#
# Seen on 2026-11-30 with Python 3.11, vllm-router 0.1.17, 40 different requests and four workers:
#   consistent_hash: chats 1 worker, completions 4, chats with user 1, with session_params 4, with X-Session-ID 4
#   sticky_least_loaded: chats 1 worker, completions 4, chats with user 1, with session_params 4, with X-Session-ID 4
#   power_of_two: chats 4 workers, completions 4, chats with user 4, with session_params 4, with X-Session-ID 4
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What its prototype of a balancer in Python needs (--mini-lb) is loaded with it.
"$dir/venv/bin/pip" install -q --disable-pip-version-check vllm-router==0.1.17 aiohttp==3.14.5 fastapi==0.165.0 orjson==3.13.0 uvicorn==0.54.0 requests==2.34.2 setproctitle==1.3.7 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.answer('{"object": "list", "data": [{"id": "m", "object": "model"}]}')

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        used.add(self.server.server_port)
        choice = {"index": 0, "finish_reason": "stop", "text": "word", "message": {"role": "assistant", "content": "word"}}
        self.answer(json.dumps({"id": "c", "created": 1, "model": "m", "choices": [choice]}))


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def chat(n):
    return {"model": "m", "messages": [{"role": "user", "content": f"Question {n}"}]}


kinds = (
    ("chats", "chat/completions", chat, lambda n: {}),
    ("completions", "completions", lambda n: {"model": "m", "prompt": f"Question {n}"}, lambda n: {}),
    ("chats with user", "chat/completions", lambda n: chat(n) | {"user": f"u{n}"}, lambda n: {}),
    ("with session_params", "chat/completions", lambda n: chat(n) | {"session_params": {"session_id": f"s{n}"}}, lambda n: {}),
    ("with X-Session-ID", "chat/completions", chat, lambda n: {"X-Session-ID": f"s{n}"}),
)
workers = [ThreadingHTTPServer(("127.0.0.1", 0), Worker) for _ in range(4)]
for w in workers:
    threading.Thread(target=w.serve_forever, daemon=True).start()
for policy in ("consistent_hash", "sticky_least_loaded", "power_of_two"):
    port, said = free(), []
    where = ["--worker-urls", *(f"http://127.0.0.1:{w.server_port}" for w in workers), "--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free())]
    router = subprocess.Popen([sys.prefix + "/bin/vllm-router", "--policy", policy, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urlopen(f"http://127.0.0.1:{port}/health").read()
                break
            except OSError:
                time.sleep(0.3)
        for what, path, body, headers in kinds:
            used = set()
            for n in range(40):
                urlopen(Request(f"http://127.0.0.1:{port}/v1/{path}", json.dumps(body(n)).encode(), {"Content-Type": "application/json"} | headers(n))).read()
            said.append(f"{what} {len(used)}" + ("" if said else f" worker{'s' * (len(used) > 1)}"))
    finally:
        router.terminate()
        router.wait()
    print(f"{policy}: {', '.join(said)}")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'consistent_hash: chats 1 worker, completions 4, chats with user 1, with session_params 4, with X-Session-ID 4
sticky_least_loaded: chats 1 worker, completions 4, chats with user 1, with session_params 4, with X-Session-ID 4
power_of_two: chats 4 workers, completions 4, chats with user 4, with session_params 4, with X-Session-ID 4' ]
