#!/usr/bin/env bash
# bench_serving of SGLang 0.5.23 takes a chat that fails within its stream for a success: time to first token 0, and all tokens that were asked for.
#
# A server that has sent its status 200 can only fail by an event, data: {"error": ...}, and those of SGLang and vLLM do. The benchmark skips events without
# choices, calls the request successful when the stream ends, and leaves its TTFT at 0, which goes into the mean. Nor does it ask for the usage: where none
# comes, it counts the tokens asked for as received. So of a server that fails half of its load, TTFT and TPOT are half, and each request succeeds. Answers
# that end early (--disable-ignore-eos, or a server that does not know ignore_eos) show too many tokens per second and too low a TPOT for the same reason.
# Look at the retokenized tokens, which count text, and give --extra-request-body '{"stream_options": {"include_usage": true}}': that puts answers that end
# early right, not those that fail. vllm bench serve fails a request without a token and asks for the usage.
#
# Seen on 2026-11-30 with Python 3.11, sglang 0.5.23, aiohttp 3.14.5, transformers 5.13.0:
#   all answered: 20 successful, ttft 2 s, 400 tokens, 400 of them in text
#   half of them failed: 20 successful, ttft 1 s, 400 tokens, 200 of them in text
#   ended by themselves half way: 20 successful, ttft 2 s, 400 tokens, 200 of them in text
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What the engine needs (torch, Triton) is not loaded.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps sglang==0.5.23
"$dir/venv/bin/pip" install -q --disable-pip-version-check aiohttp==3.14.5 transformers==5.13.0 datasets==5.2.0 numpy==2.4.6 pillow==13.0.0 requests==2.34.2 \
  orjson==3.13.0 msgspec==0.23.0 pybase64==1.5.1 psutil==7.2.2 pyzmq==27.3.0 2>/dev/null
cd "$dir"
cat >bench.py <<'PY'
# The benchmark without the engine: its packages, but not what they import first, and the one name that it takes from there.
import runpy, sys, types

for name in ("sglang", "sglang.srt", "sglang.srt.utils", "sglang.srt.disaggregation", "sglang.srt.disaggregation.utils"):
    sys.modules[name] = module = types.ModuleType(name)
    module.__path__ = [f"{p}/{name.replace('.', '/')}" for p in sys.path if "site-packages" in p]
module.FAKE_BOOTSTRAP_HOST = "2.2.2.2"
runpy.run_module("sglang.benchmark.serving", run_name="__main__", alter_sys=True)
PY
cat >ask.py <<'PY'
import json, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

number = count()


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.answer("application/json", '{"data": [{"id": "m"}]}')

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        how = self.path.split("/")[1]
        if how == "failed" and next(number) % 2:
            events = [{"error": {"message": "out of memory", "type": "InternalServerError", "code": 500}}]
        else:
            time.sleep(2)
            tokens = asked["max_completion_tokens"] // (2 if how == "ended" else 1)
            events = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "word "}}]}] * tokens
        self.answer("text/event-stream", "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n")


ThreadingHTTPServer.request_queue_size = 64
server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
words = Tokenizer(models.WordLevel({"[UNK]": 0, "word": 1, **{f"w{i}": i for i in range(2, 100)}}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained("words")
for how, what in (("all", "all answered"), ("failed", "half of them failed"), ("ended", "ended by themselves half way")):
    load = ["--dataset-name", "random-ids", "--random-input-len", "10", "--random-output-len", "20", "--random-range-ratio", "1", "--num-prompts", "20", "--warmup-requests", "0"]
    to = ["--backend", "sglang-oai-chat", "--base-url", f"http://127.0.0.1:{server.server_port}/{how}", "--model", "m", "--tokenizer", "words"]
    subprocess.run([sys.executable, "bench.py", *to, *load, "--output-file", how], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(how) as f:
        said = json.load(f)
    print(f"{what}: {said['completed']} successful, ttft {said['mean_ttft_ms'] / 1000:.0f} s, {said['total_output_tokens']} tokens, {said['total_output_tokens_retokenized']} of them in text")
PY
said=$(HF_HUB_OFFLINE=1 "$dir/venv/bin/python" ask.py 2>/dev/null)
printf '%s\n' "$said"
[ "$said" = 'all answered: 20 successful, ttft 2 s, 400 tokens, 400 of them in text
half of them failed: 20 successful, ttft 1 s, 400 tokens, 200 of them in text
ended by themselves half way: 20 successful, ttft 2 s, 400 tokens, 200 of them in text' ]
