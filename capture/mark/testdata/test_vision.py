"""Vision parts of models, and the length of prompts that hold images."""
import pickle

import torch
from torch import nn

from prof_mark import record
from recorder import MarkTest, generate, ids, llama


def llava(**more):
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration
    text = LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
                       pad_token_id=0, bos_token_id=1, eos_token_id=2)
    vision = CLIPVisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2, image_size=28, patch_size=14, projection_dim=16)
    return LlavaForConditionalGeneration(LlavaConfig(text_config=text, vision_config=vision, image_token_index=95)).eval()


class Towers(MarkTest):
    def test_llava(self):
        model, prompt = llava(), ids(1, 9)
        prompt[0, 2:6] = 95  # 4 patches of an image
        generate(model, prompt, 3, pixel_values=torch.randn(1, 3, 28, 28))
        self.expect("""
            generate[0]
              prefill
                clip
                projector
              decode
                decode_step[0]
                decode_step[1]
        """)
        self.assertEqual(self.runs(), [(9, 2, 1)])
        self.assertEqual(record.document()["runs"][0]["images"], 1)

    def test_compiled_with_parts(self):
        model, prompt = llava(), ids(1, 9)
        prompt[0, 2:6] = 95
        with torch.no_grad():
            pixels = torch.randn(1, 3, 28, 28)
            want = model(prompt, pixel_values=pixels).logits  # its parts are known from now on
            torch._dynamo.reset()
            got = torch.compile(model, backend="eager")(prompt, pixel_values=pixels).logits
        torch.testing.assert_close(got, want, rtol=0, atol=0)
        self.assertEqual([m.strip() for m in self.marks()][:3], ["prefill", "clip", "projector"])
        self.assertEqual(self.runs(), [(9, 0, 1)] * 2)

    def test_prompt_without_image(self):
        generate(llava(), ids(1, 9), 2)
        self.assertEqual(record.document()["runs"][0]["images"], 0)

    def test_qwen2_vl(self):
        from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration
        c = Qwen2VLConfig(text_config=dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
                                           rope_parameters={"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}, bos_token_id=1, eos_token_id=2),
                          vision_config=dict(depth=2, embed_dim=16, hidden_size=32, num_heads=2, patch_size=14, mlp_ratio=2),
                          image_token_id=95, video_token_id=94, vision_start_token_id=93, vision_end_token_id=92)
        model, prompt = Qwen2VLForConditionalGeneration(c).eval(), ids(1, 9)
        prompt[0, 2], prompt[0, 3:7] = 93, 95
        kinds = (prompt == 95).int()
        generate(model, prompt, 2, pixel_values=torch.randn(16, 3 * 2 * 14 * 14), image_grid_thw=torch.tensor([[1, 4, 4]]), mm_token_type_ids=kinds)
        self.assertEqual([m.strip() for m in self.marks()], ["generate[0]", "prefill", "vision", "decode", "decode_step[0]"])
        self.assertEqual(record.document()["runs"][0]["images"], 1)

    def test_towers_outside_of_the_model(self):
        from transformers import CLIPVisionConfig, CLIPVisionModel, SamVisionConfig, SamVisionModel
        sam = SamVisionModel(SamVisionConfig(hidden_size=16, output_channels=8, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=16,
                                             mlp_dim=16, global_attn_indexes=[0], window_size=2)).eval()
        clip = CLIPVisionModel(CLIPVisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14)).eval()
        model = llama()
        with torch.no_grad():
            self.stack().push("LLM@prefill")
            sam(torch.randn(1, 3, 32, 32))
            clip(torch.randn(1, 3, 28, 28))
            out = model(inputs_embeds=torch.randn(1, 21, 32), use_cache=True)
            self.stack().pop()
            self.stack().push("LLM@decode_all")
            model(input_ids=ids(1, 1), past_key_values=out.past_key_values)
            self.stack().pop()
        self.expect("""
            LLM@prefill
              sam
              clip
              prefill
            LLM@decode_all
              decode_step[0]
        """)
        self.assertEqual(self.runs(), [(21, 1, 1)])

    def test_parts_that_are_no_models_of_transformers(self):
        from transformers import LlamaForCausalLM

        class ImageEncoderViT(nn.Linear):
            pass

        class VitModel(nn.Linear):
            pass

        class OCR(LlamaForCausalLM):
            def __init__(self, config):
                super().__init__(config)
                self.sam_model, self.vision_model, self.projector = ImageEncoderViT(4, 4), VitModel(4, 4), nn.Linear(4, 32)

            def forward(self, input_ids=None, images=None, inputs_embeds=None, past_key_values=None, **kwargs):
                if images is not None:
                    features = self.projector(self.vision_model(self.sam_model(images)))
                    inputs_embeds, input_ids = torch.cat([features, self.get_input_embeddings()(input_ids)], 1), None
                return super().forward(input_ids=input_ids, inputs_embeds=inputs_embeds, past_key_values=past_key_values, **kwargs)
        model = OCR(llama().config).eval()
        with torch.no_grad():
            out = model(input_ids=ids(1, 7), images=torch.randn(1, 6, 4), use_cache=True)
            model(input_ids=ids(1, 1), past_key_values=out.past_key_values)
        self.expect("""
            prefill
              sam
              clip
              projector
            decode_step[0]
        """)
        self.assertEqual(self.runs(), [(13, 1, 1)])
        self.assertNotIn("images", record.document()["runs"][0])

        with self.assertRaises(RuntimeError), torch.no_grad():  # in a hooked part
            model.projector(torch.randn(1, 3))
        saved = pickle.dumps(model.projector)
        self.assertNotIn(b"prof_mark", saved)
        self.assertEqual(pickle.loads(saved)(torch.randn(1, 4)).shape, (1, 32))

    def test_generate_of_a_model_with_its_own(self):
        from transformers import Blip2Config, Blip2ForConditionalGeneration, Blip2QFormerConfig, Blip2VisionConfig, LlamaConfig
        text = LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=96, bos_token_id=1, eos_token_id=2, pad_token_id=0)
        c = Blip2Config(vision_config=Blip2VisionConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14).to_dict(),
                        qformer_config=Blip2QFormerConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, encoder_hidden_size=16, vocab_size=96).to_dict(),
                        text_config=text.to_dict(), num_query_tokens=4, image_token_index=95)
        prompt = ids(1, 9)
        prompt[0, :4] = 95
        model = Blip2ForConditionalGeneration(c).eval()
        model.generate(input_ids=prompt, pixel_values=torch.randn(1, 3, 28, 28), max_new_tokens=3, min_new_tokens=3, do_sample=False)
        self.expect("""
            generate[0]
              prefill
                vision
              decode
                decode_step[0]
                decode_step[1]
        """)
        self.assertEqual(self.runs(), [(9, 2, 1)])
