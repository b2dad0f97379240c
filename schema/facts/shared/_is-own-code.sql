-- _is-own-code: Whether a Python function is the user's own code: it has a file, and that is none of an installed package, of Python's own
--     library or made by a compiler.
-- grain: one value
-- key: none
-- scalar: asked of each function
-- params:
--   function VARCHAR: function as recorded: file(line): name
-- columns:
--   is_own: true but for <built-in ...>, <frozen ...>, <string> and other functions without a file (not cells of notebooks), nn.Modules,
--     files below site-packages, dist-packages or lib/python3.x, code that torch.compile and Triton write, prof's own helper and any
--     sitecustomize.py, which Python runs when it starts, and, as the PyTorch profiler cuts the folder of packages off, relative paths that
--     begin with the name of a module of Python's own library or of one of the packages listed here

regexp_matches(function, '\([0-9]+\): ')
    AND (NOT starts_with(function, '<') OR starts_with(function, '<ipython-input'))
    AND NOT regexp_matches(
        function,
        '(?i)(^|[/\\])((site|dist)-packages|lib(64)?[/\\]python[0-9.]+|python[0-9.]*[/\\]lib|torchinductor_[^/\\(]+|\.triton)[/\\]|(^|[/\\])(prof_mark(\w*\.py\(|[/\\])|sitecustomize\.py\()'
    )
    AND NOT list_contains(
        [
            'torch', 'torchvision', 'torchaudio', 'torchao', 'torchtitan', 'functorch', 'triton', 'transformers',
            'accelerate', 'diffusers', 'tokenizers', 'safetensors', 'huggingface_hub', 'peft', 'trl',
            'sentence_transformers', 'timm', 'einops', 'xformers', 'flash_attn', 'flashinfer', 'bitsandbytes', 'apex',
            'transformer_engine', 'deepspeed', 'lightning', 'pytorch_lightning', 'lightning_fabric', 'torchmetrics',
            'vllm', 'sglang', 'sgl_kernel', 'aiter', 'deep_ep', 'deep_gemm', 'tensorrt_llm', 'modelopt', 'jax',
            'jaxlib', 'flax', 'optax', 'orbax', 'haiku', 'tensorflow', 'keras', 'numpy', 'scipy', 'pandas', 'polars',
            'pyarrow', 'sklearn', 'cupy', 'numba', 'PIL', 'cv2', 'tqdm', 'ray', 'wandb', 'omegaconf', 'hydra',
            'pydantic', 'pytest', '_pytest', 'IPython', 'ipykernel', 'traitlets', 'zmq', 'tornado', 'nvtx',
            '__future__', '_collections_abc', '_weakrefset', '_compat_pickle', '_pydatetime', '_pydecimal', '_pyio',
            '_strptime', '_threading_local', '_bootsubprocess', '_aix_support', '_sitebuiltins', '_py_abc', 'abc',
            'argparse', 'ast', 'asyncio', 'base64', 'bdb', 'bisect', 'bz2', 'codecs', 'codeop', 'collections',
            'colorsys', 'compileall', 'concurrent', 'configparser', 'contextlib', 'contextvars', 'copy', 'copyreg',
            'cProfile', 'csv', 'ctypes', 'curses', 'dataclasses', 'datetime', 'dbm', 'decimal', 'difflib', 'distutils',
            'dis', 'doctest', 'email', 'encodings', 'ensurepip', 'enum', 'filecmp', 'fileinput', 'fnmatch', 'fractions',
            'ftplib', 'functools', 'genericpath', 'getopt', 'getpass', 'gettext', 'glob', 'graphlib', 'gzip', 'hashlib',
            'heapq', 'hmac', 'html', 'http', 'imaplib', 'importlib', 'inspect', 'io', 'ipaddress', 'json', 'keyword',
            'linecache', 'locale', 'logging', 'lzma', 'mailbox', 'mimetypes', 'modulefinder', 'multiprocessing',
            'netrc', 'ntpath', 'nturl2path', 'numbers', 'opcode', 'operator', 'optparse', 'os', 'pathlib', 'pdb',
            'pickle', 'pickletools', 'pkgutil', 'platform', 'plistlib', 'poplib', 'posixpath', 'pprint', 'pstats',
            'pty', 'py_compile', 'pyclbr', 'pydoc', 'queue', 'quopri', 'random', 're', 'reprlib', 'rlcompleter',
            'runpy', 'selectors', 'shelve', 'shlex', 'shutil', 'signal', 'smtplib', 'socket', 'socketserver', 'sqlite3',
            'sre_compile', 'sre_constants', 'sre_parse', 'ssl', 'statistics', 'string', 'stringprep', 'struct',
            'subprocess', 'symtable', 'sysconfig', 'tabnanny', 'tarfile', 'tempfile', 'textwrap', 'threading', 'timeit',
            'tokenize', 'tomllib', 'traceback', 'tracemalloc', 'tty', 'types', 'typing', 'unittest', 'urllib', 'uuid',
            'venv', 'warnings', 'weakref', 'webbrowser', 'wsgiref', 'xml', 'xmlrpc', 'zipapp', 'zipfile', 'zipimport',
            'zoneinfo'
        ],
        regexp_extract(function, '^([A-Za-z_0-9]+)(/|\\|\.pyc?\()', 1)
    )
