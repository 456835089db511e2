"""Registers the stories of real hosts. Each one is told twice: without the guardian, where it must show its failure,
and with it."""
from harness import CASES, Case

SETTINGS = {}  # case name: what its Host is made with


def scenario(layer="", net="192.0.2", runs=("unguarded", "guarded")):
    """A story is a function of one Host, which says by `guarded` and `variant` which run it is. Other runs than the two
    are guarded with another policy."""
    def register(function):
        module = function.__module__.removeprefix("test_")
        for run in runs:
            name = f"{module}.{function.__name__}" + (f".{run}" if len(runs) > 1 else "")
            SETTINGS[name] = {"variant": run, "layer": layer, "net": net}
            CASES.append(Case(name, function, (), (), False))
        return function
    return register
