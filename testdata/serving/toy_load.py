"""Loads an OpenAI-style engine with streamed completions, a fixed number at once, and writes what `vllm bench serve --save-result --save-detailed` writes.

    python3 toy_load.py --url http://127.0.0.1:8000 --requests 200 --concurrency 8 --result bench.json

Lengths vary by --spread around --input-len and --output-len, so that sequences do not end together. It needs Python alone.
"""
import argparse, datetime, http.client, json, random, statistics, sys, threading, time, urllib.parse


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--url", default="http://127.0.0.1:8000")
    p.add_argument("--model", default="toy")
    p.add_argument("--requests", type=int, default=200)
    p.add_argument("--concurrency", type=int, default=8)
    p.add_argument("--input-len", type=int, default=128)
    p.add_argument("--output-len", type=int, default=128)
    p.add_argument("--spread", type=float, default=0.25)
    p.add_argument("--result", default="bench.json")
    return p.parse_args()


def ask(o, prompt_len, output_len):
    """Sends a request. Returns when it was sent, when each token came, and what went wrong."""
    url = urllib.parse.urlparse(o.url)
    body = json.dumps({"model": o.model, "prompt": "word " * prompt_len, "max_tokens": output_len, "stream": True, "ignore_eos": True, "temperature": 0.0})
    begun, at = time.perf_counter(), []
    try:
        c = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
        c.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
        r = c.getresponse()
        if r.status != 200:
            return begun, at, f"status {r.status}: {r.read(500)!r}"
        for line in r:
            if line.startswith(b"data: {") and json.loads(line[6:])["choices"]:
                at.append(time.perf_counter())
        c.close()
    except (OSError, ValueError, http.client.HTTPException) as e:
        return begun, at, repr(e)
    return begun, at, "" if len(at) == output_len else f"{len(at)} tokens came instead of {output_len}"


def percentile(values, p):
    """As numpy's, by linear interpolation."""
    values = sorted(values)
    k = (len(values) - 1) * p / 100
    low = int(k)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (k - low)


def main():
    o, dice = options(), random.Random(0)
    vary = lambda n: max(1, round(n * dice.uniform(1 - o.spread, 1 + o.spread)))
    todo = [(vary(o.input_len), vary(o.output_len)) for _ in range(o.requests)]
    done, lock, order = [None] * o.requests, threading.Lock(), iter(range(o.requests))

    def client():
        while True:
            with lock:
                i = next(order, None)
            if i is None:
                return
            done[i] = ask(o, *todo[i])

    begun = time.perf_counter()
    clients = [threading.Thread(target=client) for _ in range(o.concurrency)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    duration = time.perf_counter() - begun
    good = [i for i in range(o.requests) if not done[i][2]]
    if not good:
        sys.exit(f"all of {o.requests} requests failed: {done[0][2]}")
    ttfts = [at[0] - sent if not wrong else 0.0 for sent, at, wrong in done]
    itls = [[b - a for a, b in zip(at, at[1:])] if not wrong else [] for _, at, wrong in done]
    lens = [len(at) if not wrong else 0 for _, at, wrong in done]
    metrics = {"ttft": [ttfts[i] for i in good], "tpot": [sum(itls[i]) / (lens[i] - 1) for i in good if lens[i] > 1], "itl": [x for i in good for x in itls[i]]}
    metrics["e2el"] = [ttfts[i] + sum(itls[i]) for i in good]
    inputs, outputs = sum(todo[i][0] for i in good), sum(lens)
    result = {
        "date": datetime.datetime.now().strftime("%Y%m%d-%H%M%S"), "endpoint_type": "openai", "backend": "openai", "label": "toy", "model_id": o.model, "tokenizer_id": o.model,
        "num_prompts": o.requests, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": o.concurrency, "duration": duration, "completed": len(good),
        "failed": o.requests - len(good), "total_input_tokens": inputs, "total_output_tokens": outputs, "request_throughput": len(good) / duration, "request_goodput": None,
        "output_throughput": outputs / duration, "total_token_throughput": (inputs + outputs) / duration, "input_lens": [n for n, _ in todo], "output_lens": lens, "ttfts": ttfts,
        "itls": itls, "start_times": [sent for sent, _, _ in done], "errors": [wrong for _, _, wrong in done]}
    for name, values in metrics.items():
        ms = [1e3 * v for v in values]
        result |= {f"mean_{name}_ms": statistics.fmean(ms), f"median_{name}_ms": statistics.median(ms), f"std_{name}_ms": statistics.pstdev(ms)}
        result |= {f"p{p}_{name}_ms": percentile(ms, p) for p in (50, 90, 95, 99)}
        print(f"{name}: mean {result[f'mean_{name}_ms']:.3f} ms, median {result[f'median_{name}_ms']:.3f}, p99 {result[f'p99_{name}_ms']:.3f}")
    with open(o.result, "w") as f:
        json.dump(result, f)
    print(f"{len(good)} of {o.requests} requests in {duration:.1f} s, {outputs / duration:.0f} tokens/s: {o.result}")
    return 0 if len(good) == o.requests else 1


if __name__ == "__main__":
    sys.exit(main())
