import sys,torch
from torch.cuda import nvtx
torch.manual_seed(0)
D=512
class Block(torch.nn.Module):
    def __init__(s):
        super().__init__(); s.n=torch.nn.LayerNorm(D); s.u=torch.nn.Linear(D,4*D); s.d=torch.nn.Linear(4*D,D)
    def forward(s,x): return x+s.d(torch.nn.functional.gelu(s.u(s.n(x))))
m=torch.nn.Sequential(*[Block() for _ in range(3)]).cuda().bfloat16().eval()
p=torch.randn(256,D,device='cuda',dtype=torch.bfloat16); x=torch.randn(8,D,device='cuda',dtype=torch.bfloat16)
r=nvtx.range if sys.argv[1]=='n' else torch.profiler.record_function
def go():
    with torch.no_grad():
        with r('warmup'): m(p); m(x); torch.cuda.synchronize()
        g=torch.cuda.CUDAGraph()
        with r('capture'), torch.cuda.graph(g): y=m(x)
        for _ in range(2):
            with r('prefill'): m(p); torch.cuda.synchronize()
            with r('decode_all'):
                for i in range(8):
                    with r('decode_step[%d]'%i): x.copy_(y*1); g.replay()
                y.sum().item()
if sys.argv[1]=='t':
    with torch.profiler.profile(record_shapes=True) as pr: go(); torch.cuda.synchronize()
    pr.export_chrome_trace(sys.argv[2])
else:
    with torch.autograd.profiler.emit_nvtx(record_shapes=True): go()
