#!/usr/bin/env bash
# The request durations of vllm-router 0.1.17 and smg 1.13.0 end with the headers: a streamed answer of 2 s counts as 0 s or as its first token's time.
#
# The histograms of both routers (smg, the gateway that SGLang points to, was sglang-router) are taken when the answer begins; its body is passed on after
# that. When it begins is up to the engine: vLLM sends headers at once, SGLang with the first chunk. So one figure is the whole request where it is not
# streamed, the time to the first token of a stream by SGLang, and nothing of a stream by vLLM, and no label of it tells streams from the rest. The average
# falls when clients begin to stream, the quantiles are of whatever the mixture is, and a slow decode is in none of them. Over HTTP neither router has a
# TTFT or TPOT of its own (smg_router_ttft_seconds is of workers by gRPC). Take latencies from clients, or from the engines, which do not see the router.
#
# Seen on 2026-11-30 with Python 3.11, vllm-router 0.1.17, smg 1.13.0; an answer's first token after 0.5 s, its last after 2 s:
#   vllm_router_generate_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s
#   smg_router_request_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s
#   smg_http_request_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What they need for workers by gRPC is not loaded.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps vllm-router==0.1.17 smg==1.13.0
"$dir/venv/bin/pip" install -q --disable-pip-version-check PyYAML==6.0.4 aiohttp==3.14.5 fastapi==0.165.0 orjson==3.13.0 uvicorn==0.54.0 requests==2.34.2 setproctitle==1.3.7 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json, re, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class Worker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, kind, length):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}], "model_path": "m"}).encode()
        self.head("application/json", len(body))
        self.wfile.write(body)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = {"index": 0, "finish_reason": "stop"} | {"delta" if asked["stream"] else "message": {"role": "assistant", "content": "word"}}
        chunk = json.dumps({"id": "c", "created": 1, "model": "m", "choices": [text], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
        if not asked["stream"]:
            time.sleep(2)
            self.head("application/json", len(chunk))
            self.wfile.write(chunk.encode())
            return
        first, last = f"data: {chunk}\n\n", f"data: {chunk}\n\ndata: [DONE]\n\n"
        if asked["max_tokens"] == 1:
            self.head("text/event-stream", len(first + last))
            time.sleep(0.5)
        else:
            time.sleep(0.5)
            self.head("text/event-stream", len(first + last))
        self.wfile.write(first.encode())
        time.sleep(1.5)
        self.wfile.write(last.encode())


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


worker = ThreadingHTTPServer(("127.0.0.1", 0), Worker)
threading.Thread(target=worker.serve_forever, daemon=True).start()
for router, figures in (("vllm_router", ["vllm_router_generate_duration_seconds"]), ("smg", ["smg_router_request_duration_seconds", "smg_http_request_duration_seconds"])):
    port, metrics = free(), free()
    where = ["--worker-urls", f"http://127.0.0.1:{worker.server_port}", "--policy", "round_robin", "--host", "127.0.0.1", "--port", str(port), "--prometheus-host", "127.0.0.1", "--prometheus-port", str(metrics)]
    running = subprocess.Popen([sys.executable, "-m", f"{router}.launch_router", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sums = {f: [0.0] for f in figures}
    try:
        # Once to see it ready, streamed as by vLLM and as by SGLang (which of the two max_tokens tells), and not streamed.
        for i, (stream, tokens) in enumerate(((False, 1), (True, 1), (True, 2), (False, 1))):
            body = json.dumps({"model": "m", "stream": stream, "max_tokens": tokens, "messages": [{"role": "user", "content": "Well?"}]}).encode()
            for _ in range(200 if i == 0 else 1):
                try:
                    urlopen(Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, {"Content-Type": "application/json"})).read()
                    break
                except OSError:
                    time.sleep(0.3)
            time.sleep(0.5)
            page = urlopen(f"http://127.0.0.1:{metrics}/metrics").read().decode()
            for f in figures:
                sums[f].append(sum(float(x) for x in re.findall(rf"^{f}_sum\S* (\S+)$", page, re.M)))
    finally:
        running.terminate()
        running.wait()
    for f in figures:
        a, b, c = (round(2 * (sums[f][i + 1] - sums[f][i])) / 2 for i in (1, 2, 3))
        print(f"{f}: streamed as by vLLM {a} s, streamed as by SGLang {b} s, not streamed {c} s")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'vllm_router_generate_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s
smg_router_request_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s
smg_http_request_duration_seconds: streamed as by vLLM 0.0 s, streamed as by SGLang 0.5 s, not streamed 2.0 s' ]
