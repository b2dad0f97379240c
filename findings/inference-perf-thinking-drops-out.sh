#!/usr/bin/env bash
# inference-perf 0.7.0 shows a model that thinks first with a time to first token of 9.1 s where it is 0.1 s, and its decode ten times too fast.
#
# It times only chunks with delta.content: what a server streams as delta.reasoning_content is not seen, so that the whole thinking is time to the first
# token. Output tokens are counted in the answer alone, by default: 9.9 tokens/s here of a server that gives 99. use_server_output_tokens: true takes the
# server's count, which has the thinking in it, and makes the throughput right, but then divides the time of the answer by all tokens: a TPOT of 1 ms
# where tokens come 10 ms apart. The report's output_tokens are the server's either way. Of such a model only request_latency, inter_token_latency
# (within the answer) and, with that option, throughput and normalized_time_per_output_token can be used; SGLang's benchmark and EvalScope time both.
#
# Seen on 2026-11-29 with Python 3.11, inference-perf 0.7.0, aiohttp 3.14.5, pydantic 2.14.4:
#   by default: ttft 9.1 s, tpot 10.0 ms, itl 10.0 ms, 9.9 tokens/s
#   with use_server_output_tokens: ttft 9.1 s, tpot 1.0 ms, itl 10.0 ms, 99.1 tokens/s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# It asks for Python 3.12; what runs here runs on 3.11 too.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps --ignore-requires-python inference-perf==0.7.0
"$dir/venv/bin/pip" install -q --disable-pip-version-check aiohttp==3.14.5 pydantic==2.14.4 numpy==2.4.6 transformers==5.13.0 datasets==5.2.0 av==18.1.0 pillow==12.3.0 PyYAML==6.0.4 jmespath==1.1.0 uvloop==0.23.0 google-cloud-storage==3.17.1 boto3==1.44.8 requests==2.34.2 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import asyncio, json
from types import SimpleNamespace

from inference_perf.apis import RequestLifecycleMetric, streaming_parser
from inference_perf.apis.chat import ChatCompletionAPIData, ChatMessage
from inference_perf.config import APIConfig, APIType
from inference_perf.reportgen.base import summarize_requests

# 0.1 s of prefill, then 900 tokens of thinking and 100 of answer, one each 10 ms.
clock = SimpleNamespace(now=0.0)
streaming_parser.time = SimpleNamespace(perf_counter=lambda: clock.now)


class Stream:
    async def iter_any(self):
        for i in range(1000):
            clock.now = 0.1 + 0.010 * i
            delta = {"reasoning_content": "so "} if i < 900 else {"content": "yes "}
            yield b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"
        yield b"data: " + json.dumps({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 1000}}).encode() + b"\n\n"
        yield b"data: [DONE]\n\n"


class Words:
    def count_tokens(self, text, add_special_tokens=True):
        return len(text.split())


async def say(what, server):
    asked = ChatCompletionAPIData(messages=[ChatMessage(role="user", content="Is it?")])
    info = await asked.process_response(SimpleNamespace(content=Stream()), APIConfig(type=APIType.Chat, streaming=True), Words())
    one = RequestLifecycleMetric(scheduled_time=0, start_time=0, end_time=clock.now, request_data="", info=info, error=None)
    got = summarize_requests([one], [50], tokenizer=Words(), use_server_output_tokens=server).successes
    ttft, tpot, itl = (got["latency"][k]["mean"] for k in ("time_to_first_token", "time_per_output_token", "inter_token_latency"))
    print(f"{what}: ttft {ttft:.1f} s, tpot {1000 * tpot:.1f} ms, itl {1000 * itl:.1f} ms, {got['throughput']['output_tokens_per_sec']:.1f} tokens/s")


asyncio.run(say("by default", False))
asyncio.run(say("with use_server_output_tokens", True))
PY
said=$("$dir/venv/bin/python" ask.py 2>/dev/null | grep 'tokens/s')
printf '%s\n' "$said"
[ "$said" = 'by default: ttft 9.1 s, tpot 10.0 ms, itl 10.0 ms, 9.9 tokens/s
with use_server_output_tokens: ttft 9.1 s, tpot 1.0 ms, itl 10.0 ms, 99.1 tokens/s' ]
