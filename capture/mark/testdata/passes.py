"""A program that knows nothing of prof: it generates with a small random model, and runs a loop of forwards."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                     vocab_size=128, pad_token_id=0)).eval()


def generate(prompt, **more):
    model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=4, min_new_tokens=4, do_sample=False, **more)


for _ in range(2):
    generate(torch.randint(3, 128, (2, 7)))
generate(torch.randint(3, 128, (1, 4)).repeat(1, 4), prompt_lookup_num_tokens=3)
with torch.no_grad():
    out = model(torch.randint(3, 128, (1, 9)), use_cache=True)
    for _ in range(2):
        out = model(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values, use_cache=True)
