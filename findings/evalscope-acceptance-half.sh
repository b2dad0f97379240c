#!/usr/bin/env bash
# EvalScope 1.14.1 gives speculative decoding that never misses an acceptance rate of 50 %; without any speculation it can show 90 %.
#
# The server's counts are not asked. EvalScope divides tokens by chunks, calls that L, the tokens of a step, and takes 1 - 1/L for the rate: that is right
# only where the draft never ends. With one drafted token a step, as in multi-token prediction of DeepSeek, all of them accepted, L is 2 and the rate
# 0.5, the most it can show; with three it is 0.75. vLLM calls both 100 %, accepted of drafted tokens, so the same server has two rates. And a server that
# sends ten tokens in a chunk to save chunks (--stream-interval 10 of vLLM) has an L of 10 and a rate of 0.9 without a draft model. Take the rate from the
# server's counters, and L, which EvalScope has right where each step is a chunk, for the speed.
#
# Seen on 2026-11-29 with Python 3.11, evalscope 1.14.1, aiohttp 3.14.5, pydantic 2.14.4:
#   one token drafted a step, all accepted: 2.0 tokens a step, acceptance rate 0.5
#   no draft, ten tokens a chunk: 10.0 tokens a step, acceptance rate 0.9
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
        self.rfile.read(int(self.headers["Content-Length"]))
        # The first token alone, then 50 chunks of as many tokens as the server's step or stream interval has.
        each = int(self.path.split("/")[1])
        chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "word " * n}}]} for n in [1] + [each] * 50]
        chunks.append({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 1 + 50 * each, "total_tokens": 51 + 50 * each}})
        body = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open("lines.txt", "w") as f:
    f.write("word " * 50 + "\n")
for each, what in ((2, "one token drafted a step, all accepted"), (10, "no draft, ten tokens a chunk")):
    url = f"http://127.0.0.1:{server.server_port}/{each}/v1/chat/completions"
    how = ["--dataset", "line_by_line", "--dataset-path", "lines.txt", "--number", "1", "--parallel", "1", "--outputs-dir", f"out{each}", "--no-timestamp"]
    subprocess.run([sys.prefix + "/bin/evalscope", "perf", "--model", "m", "--url", url, "--api", "openai", *how], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(glob.glob(f"out{each}/**/benchmark_summary.json", recursive=True)[0]) as f:
        said = json.load(f)
    tokens = next(v for k, v in said.items() if "Decoded" in k)
    rate = next(v for k, v in said.items() if "Accept" in k)
    print(f"{what}: {tokens} tokens a step, acceptance rate {rate}")
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'one token drafted a step, all accepted: 2.0 tokens a step, acceptance rate 0.5
no draft, ten tokens a chunk: 10.0 tokens a step, acceptance rate 0.9' ]
