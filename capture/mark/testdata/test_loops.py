"""Loops of forwards without generate, compiled models and CUDA graphs, and the API for other engines."""
import copy
import pickle

import torch

import prof_mark
from prof_mark import graphs, record, state
from recorder import MarkTest, generate, ids, llama

LOOP = """
    prefill
    decode_step[0]
    decode_step[1]
"""


def loop(model, prompt, steps, call=None, **more):
    call = model if call is None else call
    with torch.no_grad():
        out = call(prompt, use_cache=True, **more)
        for _ in range(steps):
            out = call(input_ids=out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values, use_cache=True)
    return out


class Loops(MarkTest):
    def test_loop(self):
        model = llama()
        loop(model, ids(2, 7), 2)
        self.expect(LOOP)
        loop(model, ids(2, 9), 1)
        self.assertEqual(self.runs(), [(7, 2, 2), (9, 1, 2)])

    def test_embeddings_as_prompt(self):
        model = llama()
        with torch.no_grad():
            out = model(inputs_embeds=torch.randn(1, 12, 32), use_cache=True, logits_to_keep=1)
            model(input_ids=ids(1, 1), past_key_values=out.past_key_values, use_cache=True)
        self.assertEqual(self.runs(), [(12, 1, 1)])

    def test_static_cache(self):
        from transformers import StaticCache
        model = llama()
        cache = StaticCache(config=model.config, max_cache_len=64)
        for _ in range(2):
            with torch.no_grad():
                model(ids(1, 7), past_key_values=cache)
                for i in range(2):
                    model(ids(1, 1), past_key_values=cache)
            cache.reset()
        self.assertEqual(self.runs(), [(7, 2, 1)] * 2)

    def test_prompt_by_chunks_is_of_unknown_length(self):
        model = llama()
        with torch.no_grad():
            out = model(ids(1, 20), use_cache=True)
            out = model(ids(1, 20), past_key_values=out.past_key_values)
            model(ids(1, 1), past_key_values=out.past_key_values)
        self.assertEqual(self.runs(), [(20, 0, 1), (None, 1, 1)])

    def test_training_is_not_marked(self):
        model = llama().train()
        prompt = ids(1, 7)
        model(prompt, labels=prompt).loss.backward()
        model(prompt)
        self.assertEqual(self.marks(), [])
        self.assertEqual(self.runs(), [])

    def test_scores_of_an_encoder_are_not_marked(self):
        from transformers import BertConfig, BertForSequenceClassification
        model = BertForSequenceClassification(BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=96))
        with torch.no_grad():
            model.eval()(ids(1, 7))
        self.assertEqual(self.marks(), [])

    def test_warmup(self):
        state.settings.warmup = 1
        model = llama()
        for _ in range(2):
            loop(model, ids(1, 7), 1)
        self.expect("""
            warmup
              prefill
            warmup
              decode_step[0]
            prefill
            decode_step[0]
        """)
        self.assertEqual([r.get("warmup") for r in record.document()["runs"]], [True, None])

    def test_interrupt(self):
        model = llama()

        def stop(module, args):
            raise KeyboardInterrupt
        model.lm_head.register_forward_pre_hook(stop)
        with self.assertRaises(KeyboardInterrupt), torch.no_grad():
            model(ids(1, 7))

    def test_results_are_those_without_marks(self):
        model, prompt = llama(), ids(2, 7)
        marked = loop(model, prompt, 3).logits
        state.settings.on = False
        torch.testing.assert_close(loop(model, prompt, 3).logits, marked, rtol=0, atol=0)

    def test_models_can_be_copied_and_saved(self):
        model = llama()
        loop(model, ids(1, 7), 1)
        loop(copy.deepcopy(model), ids(1, 7), 1)
        self.assertNotIn(b"prof_mark", pickle.dumps(model))


class Compiled(MarkTest):
    def setUp(self):
        super().setUp()
        torch._dynamo.reset()

    def test_whole_model(self):
        model = llama()
        loop(model, ids(1, 7), 2, call=torch.compile(model, backend="eager", fullgraph=True))
        self.expect(LOOP)
        self.assertEqual(self.runs(), [(7, 2, 1)])

    def test_in_place(self):
        model = llama()
        model.compile(backend="eager", fullgraph=True)
        loop(model, ids(1, 7), 2)
        self.expect(LOOP)

    def test_forward(self):
        model = llama()
        model.forward = torch.compile(model.forward, backend="eager", fullgraph=True)
        loop(model, ids(1, 7), 2)
        self.expect(LOOP)

    def test_inside_of_a_compiled_function(self):
        model = llama()

        @torch.compile(backend="eager", fullgraph=True)
        def step(x):
            return model(x, use_cache=False).logits.argmax(-1)
        with torch.no_grad():
            step(ids(1, 7))
        self.assertEqual(self.marks(), [])

    def test_no_more_graphs_than_without_marks(self):
        def count(on):
            torch._dynamo.reset()
            torch.manual_seed(1)
            state.settings.on = on
            model, frames = llama(), [0]

            def backend(graph, inputs):
                frames[0] += 1
                return graph
            loop(model, ids(1, 7), 4, call=torch.compile(model, backend=backend))
            return frames[0]
        self.assertEqual(count(True), count(False))


class Graphs(MarkTest):
    """CUDA graphs by a stand-in that runs nothing: what counts is who is called when."""

    def graph(self):
        class Graph:
            replays = 0

            def capture_begin(self):
                pass

            def capture_end(self):
                pass

            def replay(self):
                self.replays += 1
        graphs.wrap(Graph)
        return Graph()

    def test_replay_of_a_step(self):
        model, graph = llama(), self.graph()
        with torch.no_grad():
            out = model(ids(1, 7), use_cache=True)
            graph.capture_begin()
            model(ids(1, 1), past_key_values=out.past_key_values)
            graph.capture_end()
            for _ in range(2):
                graph.replay()
        self.assertEqual(graph.replays, 2)
        self.expect(LOOP)
        self.assertEqual(self.runs(), [(7, 2, 1)])

    def test_replay_of_an_unknown_graph(self):
        model, graph = llama(), self.graph()
        with torch.no_grad():
            model(ids(1, 7), use_cache=True)
        graph.replay()
        self.assertEqual(self.runs(), [(7, None, 1)])


class Manual(MarkTest):
    def test_stages_of_an_engine(self):
        prof_mark.model({"model_type": "mine", "hidden_size": 8}, name="mine")
        prof_mark.facts(batch=2)
        with prof_mark.warmup():
            with prof_mark.stage("prefill", tokens=5):
                pass
        with prof_mark.stage("prefill", tokens=681, images=1, crops=4):
            with prof_mark.stage("vision"):
                pass
        with prof_mark.stage("decode", steps=16):
            with prof_mark.stage("decode_step[0]"):
                pass
        self.expect("""
            warmup
              prefill
            prefill
              vision
            decode
              decode_step[0]
        """)
        document = record.document()
        self.assertEqual((document["model"], document["batch"], document["config"]["hidden_size"]), ("mine", 2, 8))
        self.assertEqual([(r["prefill_len"], r["new_tokens"], r.get("images"), r.get("warmup")) for r in document["runs"]],
                         [(5, 0, None, True), (681, 16, 1, None)])

    def test_models_inside_of_stages_make_no_pass(self):
        model = llama()
        with torch.no_grad():
            with prof_mark.stage("prefill"):
                out = model(ids(1, 7), use_cache=True)
            with prof_mark.stage("decode"):
                for _ in range(3):
                    out = model(ids(1, 1), past_key_values=out.past_key_values)
        self.assertEqual(self.runs(), [(7, 3, 1)])
        self.assertEqual(self.marks()[:2], ["prefill", "  prefill"])

    def test_decorator_and_error(self):
        @prof_mark.stage("prefill", tokens=3)
        def work():
            raise ValueError("mine")
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "mine"):
                work()
        self.assertEqual(self.marks(), ["prefill"] * 2)

    def test_mistakes_do_not_raise(self):
        with prof_mark.stage("prefill", tokens="many", batch=0):
            pass
        prof_mark.facts(speed=3)
        prof_mark.model("/no/such/folder")
        prof_mark.model(7)
        self.assertEqual(len(state.notes), 5)
        self.assertEqual(self.runs(), [(None, 0, None)])

    def test_generate_inside_of_a_stage(self):
        with prof_mark.stage("prefill", tokens=40):
            generate(llama(), ids(1, 7), 2)
        self.assertEqual(self.runs()[0][0], 40)
