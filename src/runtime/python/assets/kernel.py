"""Starts a Jupyter kernel that its host can talk to. What it needs to know comes as one line of JSON on stdin."""

import json
import os
import signal
import sys


def main():
    config = json.loads(sys.stdin.readline())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    die_with(config["parent"])
    leave_keys()
    limit(config["addressSpace"])
    # A script finds modules beside it first; generated code finds them where it works.
    assets = sys.path[0]
    sys.path[0] = ""
    # The debugger costs a fifth of the start and is of no use here.
    sys.modules["debugpy"] = None
    from ipykernel.kernelapp import IPKernelApp

    del sys.modules["debugpy"]
    sys.path.append(assets)
    # Nothing is left beside the sources.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    from karst_kernel.serve import attach

    sys.dont_write_bytecode = writes
    sys.path.remove(assets)
    app = IPKernelApp.instance()
    app.initialize(["-f", config["connection"], *options])
    attach(app.kernel, config["socket"], config["token"])
    app.start()


options = [
    "--HistoryManager.enabled=False",
    "--InteractiveShell.cache_size=0",
    "--InteractiveShell.colors=NoColor",
    "--IPKernelApp.log_level=50",
]


def die_with(parent):
    """Lets the kernel end when its host does, however that ends. `parent` is 0 where something else sees to it."""
    if not parent:
        return
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def leave_keys():
    """Whoever starts a program hands on the keys of their session (keyctl): not to this one."""
    if sys.platform != "linux":
        return
    import ctypes

    number = {"x86_64": 250, "aarch64": 219, "riscv64": 219}.get(os.uname().machine)
    join_session_keyring = 1
    if number:
        ctypes.CDLL(None).syscall(number, join_session_keyring, None)


def limit(address_space):
    if not address_space:
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = address_space if most == resource.RLIM_INFINITY else min(address_space, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))


main()
