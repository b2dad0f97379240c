#!/usr/bin/env bash
# EvalScope 1.14.1 reports a KV cache hit rate of 68.75 % for a server that has no prefix cache.
#
# In a benchmark of conversations, where the server does not send usage.prompt_tokens_details.cached_tokens, EvalScope takes all tokens of the turn before,
# prompt and answer, for cached, and says nowhere in summary, tables or log that the figure is assumed: it is what a cache that never loses anything
# would reach. vLLM sends the count only with --enable-prompt-tokens-details. So a server whose cache is off, or too small for the load, looks like a
# perfect one, and "Eligible Cache Hit Rate" is 100 %. Here no answer says a word about a cache. Look for cached_tokens in an answer of the server before
# you believe the rate, or take it from the server's own counters.
#
# Seen on 2026-11-29 with Python 3.11, evalscope 1.14.1, aiohttp 3.14.5, pydantic 2.14.4:
#   KV Cache Hit Rate (%): 68.75 of 5 turns of 1000 tokens
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What other kinds of benchmark need besides (modelscope, transformers) is not loaded for this one.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps evalscope==1.14.1
"$dir/venv/bin/pip" install -q --disable-pip-version-check aiohttp==3.14.5 pydantic==2.14.4 numpy==2.4.6 pandas==3.1.1 pillow==13.0.0 PyYAML==6.0.4 requests==2.34.2 rich==15.0.0 tabulate==0.10.0 tqdm==4.70.1 \
  colorlog==6.12.0 datasets==5.2.0 docstring_parser==0.18.0 editdistance==0.8.1 fastapi==0.165.0 filetype==1.2.0 jsonlines==4.0.0 jsonschema==4.26.0 openai==3.57.0 sse-starlette==3.7.0 uvicorn==0.54.0 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import glob, json, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        prompt = sum(1000 if m["role"] == "user" else 100 for m in asked)
        chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "word "}}]}] * 100
        chunks.append({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": 100, "total_tokens": prompt + 100}})
        body = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open("talk.jsonl", "w") as f:
    json.dump([m for _ in range(5) for m in ({"role": "user", "content": "word " * 50}, {"role": "assistant", "content": ""})], f)
url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
what = ["--dataset", "custom_multi_turn", "--dataset-path", "talk.jsonl", "--multi-turn", "--number", "1", "--parallel", "1", "--outputs-dir", "out", "--no-timestamp"]
subprocess.run([sys.prefix + "/bin/evalscope", "perf", "--model", "m", "--url", url, "--api", "openai", *what], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
with open(glob.glob("out/**/benchmark_summary.json", recursive=True)[0]) as f:
    said = json.load(f)
print(f"KV Cache Hit Rate (%): {said['KV Cache Hit Rate (%)']} of {said['Total Requests']} turns of 1000 tokens")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'KV Cache Hit Rate (%): 68.75 of 5 turns of 1000 tokens' ]
