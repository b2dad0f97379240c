#!/usr/bin/env bash
# The default policy of vllm-router 0.1.17, cache_aware, sees no prefix of a chat where the workers are vLLM 0.32 as it starts by itself.
#
# The policy matches tokens, and has vLLM make them: it sends each chat to /v1/chat/completions/render of the workers. Newer vLLM (0.32 does) answers 403 there
# unless it was started with --enable-scale-out. The router then routes as if there were no prefixes, and its log has no word of it: conversations wander from worker
# to worker, each turn is a prefill from its beginning, and what was gained by the policy is gone after an update of vLLM. Only a counter tells,
# vllm_router_prefix_routing_decisions_total{outcome="missing_tokens"}. With --enable-scale-out on all workers it works, at a price
# (vllm-router-tokenizes-on-every-worker.sh); --policy consistent_hash with a header X-Session-ID needs nothing of the workers.
#
# Seen on 2026-11-30 with Python 3.11, vllm-router 0.1.17, six conversations of eight turns on four workers:
#   render answers 403: missing_tokens 48; each conversation on one worker: no
#   render answers: prefix_hit 42, prefix_miss 6; each conversation on one worker: yes
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What its prototype of a balancer in Python needs (--mini-lb) is loaded with it.
"$dir/venv/bin/pip" install -q --disable-pip-version-check vllm-router==0.1.17 aiohttp==3.14.5 fastapi==0.165.0 orjson==3.13.0 uvicorn==0.54.0 requests==2.34.2 setproctitle==1.3.7 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json, re, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.answer('{"object": "list", "data": [{"id": "m", "object": "model"}]}')

    def do_POST(self):
        words = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"].split()
        if not self.path.endswith("/render"):
            went.setdefault(words[0], []).append(self.server.server_port)
            time.sleep(0.02 + 0.01 * (len(words) * (1 + int(words[0])) % 7))
            self.answer('{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "word"}, "finish_reason": "stop"}]}')
        elif scale_out:
            self.answer(json.dumps({"request_id": "r", "token_ids": [1000 * int(words[0]) + int(w) for w in words], "sampling_params": {}, "model": "m"}))
        else:
            self.answer('{"error": {"message": "Scale-out endpoints are disabled.", "type": "PermissionDeniedError", "param": null, "code": 403}}', 403)


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def talk(port, number):
    for turn in range(8):
        chat = {"model": "m", "messages": [{"role": "user", "content": " ".join([str(number)] * (500 + 100 * turn))}]}
        urlopen(Request(f"http://127.0.0.1:{port}/v1/chat/completions", json.dumps(chat).encode(), {"Content-Type": "application/json"})).read()


workers = [ThreadingHTTPServer(("127.0.0.1", 0), Worker) for _ in range(4)]
for w in workers:
    threading.Thread(target=w.serve_forever, daemon=True).start()
for what, scale_out in (("render answers 403", False), ("render answers", True)):
    went, port, metrics = {}, free(), free()
    where = ["--worker-urls", *(f"http://127.0.0.1:{w.server_port}" for w in workers), "--host", "127.0.0.1", "--port", str(port), "--prometheus-host", "127.0.0.1", "--prometheus-port", str(metrics)]
    router = subprocess.Popen([sys.prefix + "/bin/vllm-router", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                urlopen(f"http://127.0.0.1:{port}/health").read()
                break
            except OSError:
                time.sleep(0.3)
        talks = [threading.Thread(target=talk, args=(port, n)) for n in range(6)]
        for t in talks:
            t.start()
        for t in talks:
            t.join()
        page = urlopen(f"http://127.0.0.1:{metrics}/metrics").read().decode()
    finally:
        router.terminate()
        router.wait()
    found = sorted(re.findall(r'^vllm_router_prefix_routing_decisions_total\{.*outcome="(\w+)".*\} (\d+)$', page, re.M))
    print(f"{what}: {', '.join(' '.join(f) for f in found)}; each conversation on one worker: {'yes' if all(len(set(w)) == 1 for w in went.values()) else 'no'}")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'render answers 403: missing_tokens 48; each conversation on one worker: no
render answers: prefix_hit 42, prefix_miss 6; each conversation on one worker: yes' ]
