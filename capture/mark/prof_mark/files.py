"""Files of a capture: whole, and with the rights of the folder that prof made for them, but for those that the umask takes."""
import os


def rights(path):
    return os.stat(os.path.dirname(path) or ".").st_mode & 0o666 | 0o600


def aside(path, content):
    """Writes a file beside path and gives its name."""
    hidden = "%s.%d.tmp" % (path, os.getpid())
    with open(hidden, "wb", opener=lambda name, flags: os.open(name, flags, rights(path))) as f:
        f.write(content)
    return hidden
