"""Names of a package that are imported when they are first asked for: drawing takes a second to load."""

from importlib import import_module


def lazy_names(package, modules, names):
    """Return ``__getattr__`` and ``__dir__`` of a package.

    ``modules`` maps a name to the module of the package that has it, ``names`` are all public ones.

    >>> get, names = lazy_names("mha_helpers", {"causal_mask": "masks"}, ["causal_mask", "a"])
    >>> get("causal_mask").__name__, names()
    ('causal_mask', ['a', 'causal_mask'])
    """

    def get(name):
        if name in modules:
            return getattr(import_module(f"{package}.{modules[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted(names)
