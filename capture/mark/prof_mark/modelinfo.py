"""The models that ran: their configuration as JSON, and the copy of it as config.json."""
import hashlib
import json
import math
import os

from . import files, state

_models = {}  # hash of the configuration -> (name, configuration), of models that had passes
_known = set()  # id of a configuration that was looked at
_kept = []  # these configurations, so that no id is used twice
_parallel = set()  # ranks that the models are split over by tensor parallelism, None where they do not say
_given = None  # (name, configuration) by prof_mark.model
_copied = None  # text of the config.json that was written


def seen(model):
    """Takes note of a model that begins a pass."""
    config = getattr(model, "config", None)
    if config is None or id(config) in _known:
        return
    _known.add(id(config))
    size = getattr(model, "_tp_size", None)
    _parallel.add(size if isinstance(size, int) and size > 1 else None)
    _kept.append(config)
    content = as_dict(config)
    if not content.get("dtype") and not content.get("torch_dtype"):
        parameter = next(iter(model.parameters()), None)
        if parameter is not None:
            content["dtype"] = str(parameter.dtype).replace("torch.", "")
    add(getattr(config, "_name_or_path", None) or type(model).__name__, content)


def add(name, content):
    text = json.dumps(content, sort_keys=True)
    _models.setdefault(hashlib.sha256(text.encode()).hexdigest(), (name, content))
    if len(_models) > 1 and _given is None:
        state.note("models with different configurations ran: the facts name none of them as the model")
    _copy()


def give(name, content):
    global _given
    _given = (name, content)
    _copy()


def name():
    one = _one()
    return one[0] if one else None


def config():
    one = _one()
    return one[1] if one else None


def parallel():
    """Ranks that share each layer, by transformers' tensor parallelism; None where it is not used, which does not tell of another one."""
    return next(iter(_parallel)) if len(_parallel) == 1 else None


def names():
    return sorted({n for n, _ in _models.values()} | ({_given[0]} if _given else set()))


def _one():
    if _given is not None:
        return _given
    return next(iter(_models.values())) if len(_models) == 1 else None


def as_dict(config):
    """A configuration of transformers as JSON holds it."""
    try:
        return plain(json.loads(config.to_json_string(use_diff=False)))
    except (AttributeError, TypeError, ValueError):
        return plain(config.to_dict() if hasattr(config, "to_dict") else dict(config))


def plain(value):
    """A value as JSON holds it: what JSON has no form for becomes text, and numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def _copy():
    """Keeps config.json in step with the one configuration that the facts tell of; two different ones are no model's."""
    global _copied
    folder = state.settings.model_dir
    if folder is None:
        return
    path = os.path.join(folder, "config.json")
    content = config()
    if content is None:
        if _copied is not None and os.path.exists(path):
            os.remove(path)
        _copied = None
        return
    text = json.dumps(content, indent=2, sort_keys=True) + "\n"
    if text != _copied:
        os.makedirs(folder, exist_ok=True)
        os.replace(files.aside(path, text.encode()), path)
        _copied = text


def forget():
    global _given, _copied
    _models.clear()
    _known.clear()
    _kept.clear()
    _parallel.clear()
    _given = _copied = None
