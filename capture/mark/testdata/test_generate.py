"""generate of transformers: its stages and its facts."""
import threading
import unittest.mock

import torch

from prof_mark import calls, record, state
from recorder import MarkTest, generate, ids, llama

GREEDY = """
    generate[0]
      prefill
      decode
        decode_step[0]
        decode_step[1]
        decode_step[2]
"""


class Generate(MarkTest):
    def test_greedy(self):
        generate(llama(), ids(1, 7), 4)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(7, 3, 1)])

    def test_sampling_of_a_batch_with_left_padding(self):
        prompt = ids(3, 9)
        prompt[0, :4] = 0
        llama().generate(prompt, attention_mask=(prompt != 0).long(), max_new_tokens=4, min_new_tokens=4, do_sample=True)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(9, 3, 3)])

    def test_one_token_has_no_decode(self):
        generate(llama(), ids(1, 7), 1)
        self.expect("""
            generate[0]
              prefill
        """)
        self.assertEqual(self.runs(), [(7, 0, 1)])

    def test_beams_are_sequences_of_the_batch(self):
        generate(llama(), ids(2, 7), 4, num_beams=3)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(7, 3, 6)])
        self.assertEqual([r.get("outputs") for r in record.document()["runs"]], [2])

    def test_returned_beams_and_samples_are_outputs(self):
        generate(llama(), ids(2, 7), 4, num_beams=4, num_return_sequences=3)
        generate(llama(), ids(2, 7), 4, do_sample=True, num_return_sequences=3)
        generate(llama(), ids(2, 7), 4)
        self.assertEqual([(r["batch"], r.get("outputs")) for r in record.document()["runs"]], [(8, 6), (6, None), (2, None)])

    def test_settings(self):
        model = llama()
        generate(model, ids(1, 7), 4, no_repeat_ngram_size=3)
        generate(model, ids(1, 7), 6, do_sample=True, temperature=0.5)
        said = record.document()["decoding"]
        for name, want in {"max_new_tokens": [4, 6], "do_sample": [False, True], "temperature": [0.5], "no_repeat_ngram_size": [3, 0], "dtype": ["float32"],
                           "attn_implementation": ["sdpa"], "use_cache": [True]}.items():
            self.assertEqual(said.get(name), want, name)
        self.assertNotIn("max_length", said)

    def test_settings_of_warmup_are_left_out(self):
        state.settings.warmup = 1
        model = llama()
        generate(model, ids(1, 7), 2)
        self.assertNotIn("decoding", record.document())
        generate(model, ids(1, 7), 4)
        self.assertEqual(record.document()["decoding"]["max_new_tokens"], [4])

    def test_chunks_of_a_prefill_are_one(self):
        generate(llama(), ids(1, 9), 4, prefill_chunk_size=4)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(9, 3, 1)])

    def test_static_cache_used_again(self):
        model = llama()
        for _ in range(2):
            generate(model, ids(1, 9), 4, cache_implementation="static")
        self.assertEqual(self.runs(), [(9, 3, 1)] * 2)

    def test_conversation_extends_a_cache(self):
        model, prompt = llama(), ids(1, 9)
        first = generate(model, prompt, 4, return_dict_in_generate=True)
        again = torch.cat([first.sequences, ids(1, 5)], 1)
        generate(model, again, 4, past_key_values=first.past_key_values)
        self.assertEqual(self.runs(), [(9, 3, 1), (None, 3, 1)])

    def test_without_cache_steps_are_unknown(self):
        generate(llama(), ids(1, 7), 4, use_cache=False)
        self.assertEqual(self.runs(), [(7, None, 1)])

    def test_assisted_decoding_is_unknown(self):
        model, assistant = llama(), llama(num_hidden_layers=1)
        generate(model, ids(1, 7), 8, assistant_model=assistant)
        self.assertEqual(self.runs(), [(None, None, 1)])
        self.assertEqual(self.marks()[:2], ["generate[0]", "  prefill"])
        self.assertEqual(sum("generate" in m for m in self.marks()), 1)
        self.assertEqual(sum(m == "  decode" for m in self.marks()), 1)

    def test_prompt_lookup_is_unknown(self):
        prompt = ids(1, 4).repeat(1, 4)
        generate(llama(), prompt, 8, prompt_lookup_num_tokens=3)
        self.assertEqual(self.runs(), [(None, None, 1)])

    def test_error_in_a_step_closes_all(self):
        model, left = llama(), [3]

        def fail(module, args):
            left[0] -= 1
            if left[0] == 0:
                raise RuntimeError("out of memory")
        handle = model.lm_head.register_forward_pre_hook(fail)
        with self.assertRaisesRegex(RuntimeError, "out of memory"):
            generate(model, ids(1, 7), 8)
        self.assertEqual(self.stack().open, [])
        handle.remove()
        generate(model, ids(1, 7), 2)
        self.assertEqual(self.marks()[-4:], ["generate[1]", "  prefill", "  decode", "    decode_step[0]"])

    def test_ranges_of_the_program_stay_nested(self):
        model = llama()

        class Criteria:
            def __call__(criteria, input_ids, scores, **kwargs):
                self.stack().push("mine")
                self.stack().pop()
                return torch.zeros(len(input_ids), dtype=torch.bool)
        self.stack().push("outer")
        generate(model, ids(1, 7), 2, stopping_criteria=[Criteria()])
        self.assertEqual(self.stack().open, ["outer"])
        self.stack().pop()
        self.expect("""
            outer
              generate[0]
                prefill
                mine
                decode
                  decode_step[0]
                  mine
        """)

    def test_warmup_comes_first(self):
        state.settings.warmup = 2
        model = llama()
        for _ in range(3):
            generate(model, ids(1, 7), 1)
        self.expect("""
            warmup
              generate[0]
                prefill
            warmup
              generate[1]
                prefill
            generate[2]
              prefill
        """)
        self.assertEqual([r.get("warmup") for r in record.document()["runs"]], [True, True, None])

    def test_two_models_are_none_in_the_facts(self):
        generate(llama(), ids(1, 7), 2)
        self.assertEqual(record.document()["config"]["num_hidden_layers"], 2)
        generate(llama(num_hidden_layers=3), ids(1, 8), 2)
        document = record.document()
        self.assertNotIn("config", document)
        self.assertEqual(self.runs(), [(7, 1, 1), (8, 1, 1)])

    def test_threads_have_stacks_of_their_own(self):
        model = llama()
        threads = [threading.Thread(target=generate, args=(model, ids(1, 7 + i), 4)) for i in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(self.runs()), [(7, 3, 1), (8, 3, 1), (9, 3, 1)])
        for stack in self.stacks.values():
            self.assertEqual([n.strip() for n in stack.names][1:], ["prefill", "decode", "decode_step[0]", "decode_step[1]", "decode_step[2]"])

    def test_a_fault_of_the_helper_is_none_of_the_program(self):
        self.faults = True
        with unittest.mock.patch.object(calls, "open_prompt", None):
            out = generate(llama(), ids(1, 7), 4)
        self.assertEqual(out.shape, (1, 11))
        self.assertIn("TypeError", record.document()["marks"]["fault"])
        self.assertNotIn("runs", record.document())
        self.assertEqual(self.stack().open, [])


class Families(MarkTest):
    def test_mixture_of_experts(self):
        from transformers import Qwen2MoeConfig, Qwen2MoeForCausalLM
        c = Qwen2MoeConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, vocab_size=96,
                           moe_intermediate_size=16, shared_expert_intermediate_size=32, num_experts=4, num_experts_per_tok=2)
        generate(Qwen2MoeForCausalLM(c).eval(), ids(2, 6), 4)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(6, 3, 2)])
        self.assertEqual(record.document()["config"]["num_experts"], 4)

    def test_gpt2(self):
        from transformers import GPT2Config, GPT2LMHeadModel
        c = GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=96, n_positions=64, bos_token_id=1, eos_token_id=2)
        generate(GPT2LMHeadModel(c).eval(), ids(1, 6), 4)
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(6, 3, 1)])

    def test_encoder_and_decoder(self):
        from transformers import T5Config, T5ForConditionalGeneration
        c = T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=96, decoder_start_token_id=0)
        generate(T5ForConditionalGeneration(c).eval(), ids(1, 6), 3)
        self.expect("""
            generate[0]
              prefill
                encoder
              decode
                decode_step[0]
                decode_step[1]
        """)
        self.assertEqual(self.runs(), [(6, 2, 1)])

    def t5(self):
        from transformers import T5Config, T5ForConditionalGeneration
        return T5ForConditionalGeneration(T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=96, decoder_start_token_id=0)).eval()

    def test_beams_of_an_encoder_and_decoder(self):
        generate(self.t5(), ids(2, 6), 3, num_beams=2)
        self.assertEqual(self.runs(), [(None, 2, 4)])
        self.assertEqual(record.document()["runs"][0]["outputs"], 2)

    def test_prompt_of_a_decoder_beside_an_encoder(self):
        generate(self.t5(), ids(1, 6), 3, decoder_input_ids=torch.tensor([[0, 5, 6]]))
        self.assertEqual(self.runs(), [(None, 2, 1)])

    def test_loop_of_encoder_and_decoder(self):
        model = self.t5()
        with torch.no_grad():
            out = model(input_ids=ids(2, 6), decoder_input_ids=torch.zeros(2, 1, dtype=torch.long), use_cache=True)
            model(encoder_outputs=(out.encoder_last_hidden_state,), decoder_input_ids=ids(2, 1), past_key_values=out.past_key_values, use_cache=True)
        self.assertEqual(self.runs(), [(6, 1, 2)])

    def test_whisper(self):
        from transformers import WhisperConfig, WhisperForConditionalGeneration
        c = WhisperConfig(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64,
                          vocab_size=96, num_mel_bins=8, max_source_positions=20, max_target_positions=32, decoder_start_token_id=1, pad_token_id=0, eos_token_id=2, bos_token_id=1,
                          suppress_tokens=None, begin_suppress_tokens=None)
        model = WhisperForConditionalGeneration(c).eval()
        model.generate(torch.zeros(1, 8, 40), decoder_input_ids=torch.tensor([[1, 5, 6]]), max_new_tokens=4, min_new_tokens=4, do_sample=False)
        self.assertEqual(self.runs()[0][::2], (3, 1))

    def test_compiled_decode(self):
        from transformers import CompileConfig
        model = llama()
        config = CompileConfig(backend="eager", mode=None, fullgraph=True)
        config._compile_all_devices = True
        generate(model, ids(1, 7), 4, cache_implementation="static", compile_config=config)
        self.assertTrue(hasattr(model, "_compiled_call"))
        self.expect(GREEDY)
        self.assertEqual(self.runs(), [(7, 3, 1)])
