"""A serving engine in one file: an OpenAI-style HTTP server, and a worker process for each GPU with a continuous batch.

    python3 toy_engine.py --port 8000 --gpus 2      a random Llama of transformers, decode by CUDA graph, steps marked as vLLM marks them
    python3 toy_engine.py --port 8000 --cpu         without PyTorch: steps are sleeps

A worker has at most --slots sequences at once. A step works on the prompt of one new sequence and on a token of each other one.
"""
import argparse, collections, contextlib, http.server, itertools, json, multiprocessing.connection, queue, signal, socketserver, sys, threading, time

NAME = "toy"


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=8000)
    p.add_argument("--gpus", type=int, default=1)
    p.add_argument("--cpu", action="store_true")
    p.add_argument("--slots", type=int, default=8)
    p.add_argument("--length", type=int, default=1024, help="tokens of a sequence, at most")
    p.add_argument("--layers", type=int, default=24)
    p.add_argument("--hidden", type=int, default=4096)
    p.add_argument("--step-ms", type=float, default=8.0, help="with --cpu: time of a decode step")
    return p.parse_args()


class Sleeps:
    """The model of --cpu: 0.05 ms for each token of a prompt, --step-ms for a step of decode."""

    def __init__(self, o, gpu):
        self.step_s = o.step_ms / 1e3

    def prefill(self, slot, tokens):
        time.sleep(0.00005 * len(tokens))
        return 1

    def decode(self, last, at):
        time.sleep(self.step_s)
        return [1] * len(last)

    def mark(self, name):
        return contextlib.nullcontext()


class Llama:
    """A Llama with random weights. The keys and values of a sequence lie in its slot, so that one CUDA graph serves every batch."""

    def __init__(self, o, gpu):
        import torch, transformers

        class Slots(transformers.Cache):
            """The cache of all sequences. rows are those that a call works on, at their positions; whole: it sees all slots to their ends."""

            def __init__(self, shape, layers):
                self.layers = []  # which the class of transformers has, and which would not know of slots
                self.keys, self.values = ([torch.zeros(shape) for _ in range(layers)] for _ in range(2))

            def get_seq_length(self, *_, **__):
                return 0  # positions and masks are given

            def update(self, k, v, layer, *_, **__):
                out = []
                for slots, new in ((self.keys[layer], k), (self.values[layer], v)):
                    slots[self.rows[:, None], :, self.at] = new.transpose(1, 2)
                    out.append(slots if self.whole else slots[self.rows, :, : new.shape[2]])
                return out

        self.torch, self.cuda = torch, torch.cuda.is_available()
        self.device = torch.device("cuda", gpu) if self.cuda else torch.device("cpu")
        if self.cuda:
            torch.cuda.set_device(self.device)
        torch.manual_seed(0)
        torch.set_default_dtype(torch.bfloat16 if self.cuda else torch.float32)
        config = transformers.LlamaConfig(
            hidden_size=o.hidden, intermediate_size=o.hidden * 11 // 4, num_hidden_layers=o.layers, num_attention_heads=o.hidden // 128,
            num_key_value_heads=max(1, o.hidden // 512), vocab_size=32000, max_position_embeddings=o.length, attn_implementation="sdpa")
        with self.device, torch.no_grad():
            self.model = transformers.LlamaForCausalLM(config).eval()
            self.cache = Slots((o.slots, config.num_key_value_heads, o.length, 128), o.layers)
            self.last, self.at = (torch.zeros(o.slots, 1, dtype=torch.long) for _ in range(2))
            self.all, self.columns = torch.arange(o.slots), torch.arange(o.length)
            for _ in range(2):  # allocations and tuning come before the graph
                self.prefill(0, [1] * 64)
                self.step()
            if self.cuda:
                torch.cuda.synchronize()
                self.graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graph):
                    self.out = self.step()

    def forward(self, tokens, at, rows, mask, whole):
        self.cache.rows, self.cache.at, self.cache.whole = rows, at, whole
        with self.torch.no_grad():
            out = self.model(input_ids=tokens, position_ids=at, attention_mask=mask, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1].argmax(-1)

    def step(self):
        return self.forward(self.last, self.at, self.all, (self.columns[None] <= self.at)[:, None, None], True)

    def prefill(self, slot, tokens):
        tensor = lambda x: self.torch.tensor(x, device=self.device)
        at = self.columns[: len(tokens)]
        return self.forward(tensor([tokens]), at[None], tensor([slot]), (at[None] <= at[:, None])[None, None], False).item()

    def decode(self, last, at):
        for buffer, values in ((self.last, last), (self.at, at)):
            buffer.copy_(self.torch.tensor(values)[:, None])
        if self.cuda:
            self.graph.replay()
        return (self.out if self.cuda else self.step()).tolist()

    @contextlib.contextmanager
    def mark(self, name):
        if self.cuda:
            self.torch.cuda.nvtx.range_push(name)
        yield
        if self.cuda:
            self.torch.cuda.nvtx.range_pop()


def work(o, gpu, pipe):
    """A worker: takes (id, prompt, number of tokens) from the pipe and sends [(id, token, is the last)] back after each step."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    model = (Sleeps if o.cpu else Llama)(o, gpu)
    pipe.send(None)  # ready
    waiting, running, free = collections.deque(), {}, list(range(o.slots))
    while True:
        while pipe.poll(0 if waiting or running else None):
            waiting.append(pipe.recv())
        new = waiting.popleft() if waiting and free else None
        said = []
        with model.mark(f"execute_context_{int(new is not None)}({len(new[1]) if new else 0})_generation_{len(running)}({len(running)})"):
            if running:
                last, at = [0] * o.slots, [o.length - 1] * o.slots  # a slot without a sequence writes where none reads
                for slot, s in running.items():
                    last[slot], at[slot] = s["last"], s["at"]
                tokens = model.decode(last, at)
                for slot, s in running.items():
                    s["last"], s["at"], s["left"] = tokens[slot], s["at"] + 1, s["left"] - 1
                    said.append((s["id"], s["last"], s["left"] == 0))
            if new:
                number, prompt, most = new
                slot = free.pop()
                token = model.prefill(slot, prompt)
                running[slot] = {"id": number, "last": token, "at": len(prompt), "left": most - 1}
                said.append((number, token, most == 1))
        for slot in [slot for slot, s in running.items() if s["left"] == 0]:
            del running[slot]
            free.append(slot)
        pipe.send(said)


class Engine:
    """The workers, and who waits for their tokens."""

    def __init__(self, o):
        self.o, self.numbers, self.lock, self.asked, self.ready, self.load = o, itertools.count(1), threading.Lock(), {}, 0, [0] * o.gpus
        spawn = multiprocessing.get_context("spawn")
        self.pipes, self.workers = [], []
        for gpu in range(o.gpus):
            ours, theirs = spawn.Pipe()
            worker = spawn.Process(target=work, args=(o, gpu, theirs), daemon=True)
            worker.start()
            self.pipes.append(ours)
            self.workers.append(worker)
            threading.Thread(target=self.hear, args=(gpu, ours), daemon=True).start()

    def hear(self, gpu, pipe):
        with contextlib.suppress(EOFError):  # the worker has ended
            pipe.recv()
            self.ready += 1
            while True:
                for number, token, is_last in pipe.recv():
                    self.asked[number].put((token, is_last))
                    if is_last:
                        with self.lock:
                            self.load[gpu] -= 1

    def tokens(self, prompt, most):
        """Yields the tokens of an answer, by the worker that has the least to do."""
        number, answers = next(self.numbers), queue.SimpleQueue()
        self.asked[number] = answers
        with self.lock:
            gpu = self.load.index(min(self.load))
            self.load[gpu] += 1
            self.pipes[gpu].send((number, prompt, most))
        is_last = False
        while not is_last:
            token, is_last = answers.get()
            yield token, is_last
        del self.asked[number]


class Handler(http.server.BaseHTTPRequestHandler):
    engine = None
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.rstrip("/") == "/v1/models":
            return self.answer(200, {"object": "list", "data": [{"id": NAME, "object": "model", "root": NAME}]})
        is_ready = self.engine.ready == len(self.engine.pipes)
        self.answer(404 if self.path not in ("/health", "/v1/health") else 200 if is_ready else 503, {})

    def do_POST(self):
        o, is_chat = self.engine.o, self.path.endswith("/chat/completions")
        if not is_chat and not self.path.endswith("/completions"):
            return self.answer(404, {"error": "there is no such path"})
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = " ".join(str(m.get("content")) for m in q["messages"]) if is_chat else q["prompt"]
        if isinstance(text, list) and text and isinstance(text[0], str):
            text = text[0]
        prompt = text if isinstance(text, list) else [len(word) for word in text.split()]
        most = q.get("max_completion_tokens") or q.get("max_tokens") or 16
        most = max(1, min(most, o.length - 2))
        prompt = [n % 32000 for n in prompt][: o.length - 1 - most] or [1]
        usage = {"prompt_tokens": len(prompt), "completion_tokens": most, "total_tokens": len(prompt) + most}
        head = {"id": f"{NAME}-{time.time_ns()}", "object": "chat.completion.chunk" if is_chat else "text_completion", "created": int(time.time()), "model": NAME}
        choice = lambda text, why: {"index": 0, "finish_reason": why, **({"delta": {"role": "assistant", "content": text}} if is_chat else {"text": text, "logprobs": None})}
        if not q.get("stream"):
            text = "".join(f" t{token}" for token, _ in self.engine.tokens(prompt, most))
            whole = {"index": 0, "finish_reason": "length", **({"message": {"role": "assistant", "content": text}} if is_chat else {"text": text})}
            return self.answer(200, {**head, "object": "chat.completion" if is_chat else "text_completion", "choices": [whole], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        say = lambda text: self.wfile.write(f"data: {text}\n\n".encode())
        for token, is_last in self.engine.tokens(prompt, most):
            with contextlib.suppress(OSError):  # a client that has gone does not end the others
                say(json.dumps({**head, "choices": [choice(f" t{token}", "length" if is_last else None)]}))
        with contextlib.suppress(OSError):
            if (q.get("stream_options") or {}).get("include_usage"):
                say(json.dumps({**head, "choices": [], "usage": usage}))
            say("[DONE]")


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads, request_queue_size = True, 1024


def main():
    o = options()
    Handler.engine = engine = Engine(o)
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: sys.exit(0))
    server = Server((o.host, o.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"serving on {o.host}:{o.port} with {o.gpus} workers", flush=True)
    try:
        multiprocessing.connection.wait([w.sentinel for w in engine.workers])
        sys.exit("a worker ended")
    finally:
        for w in engine.workers:
            w.terminate()
        for w in engine.workers:
            w.join(10)


if __name__ == "__main__":
    main()
