"""Graphs captured under one profiler session and replayed under another.
cap.py OUT VARIANT: plain | two (two batch sizes) | fork (a second stream in the capture) | stack (Python stacks)"""
import sys,torch
out,variant=sys.argv[1],sys.argv[2]
torch.manual_seed(0)
D=512
class Block(torch.nn.Module):
    def __init__(s,fork):
        super().__init__(); s.n=torch.nn.LayerNorm(D); s.u=torch.nn.Linear(D,4*D); s.d=torch.nn.Linear(4*D,D); s.fork=fork
        s.side=torch.cuda.Stream() if fork else None
    def forward(s,x):
        if not s.fork: return x+s.d(torch.nn.functional.gelu(s.u(s.n(x))))
        cur=torch.cuda.current_stream(); s.side.wait_stream(cur)
        with torch.cuda.stream(s.side): z=torch.relu(x)*2
        y=s.d(torch.nn.functional.gelu(s.u(s.n(x))))
        cur.wait_stream(s.side)
        return x+y+z
m=torch.nn.Sequential(*[Block(variant=='fork') for _ in range(3)]).cuda().bfloat16().eval()
sizes=[4,8] if variant=='two' else [8]
xs=[torch.randn(b,D,device='cuda',dtype=torch.bfloat16) for b in sizes]
r=torch.profiler.record_function
opts=dict(record_shapes=True,with_stack=variant=='stack',with_modules=variant=='stack')
if variant=='stack': opts['experimental_config']=torch._C._profiler._ExperimentalConfig(verbose=True)
graphs=[]
with torch.no_grad():
    for x in xs: m(x)
    torch.cuda.synchronize()
    with torch.profiler.profile(**opts) as pr:
        with r('warmup'):
            for x in xs: m(x)
            torch.cuda.synchronize()
        for b,x in zip(sizes,xs):
            g=torch.cuda.CUDAGraph()
            with r('capture_bs_%d'%b), torch.cuda.graph(g): y=m(x)
            graphs.append((b,g,x,y))
        torch.cuda.synchronize()
    pr.export_chrome_trace(out+'/%s.capture.json'%variant)
    for b,g,x,y in graphs: g.replay()
    torch.cuda.synchronize()
    with torch.profiler.profile(record_shapes=True) as pr:
        for b,g,x,y in graphs:
            with r('decode_all'):
                for i in range(6):
                    with r('decode_step[%d]'%i): x.copy_(y*1); g.replay()
                y.sum().item()
        torch.cuda.synchronize()
    pr.export_chrome_trace(out+'/%s.replay.json'%variant)
