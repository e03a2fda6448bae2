"""Starts a Jupyter kernel that is connected to its host. Its configuration comes as one line of JSON on stdin."""

import json
import os
import signal
import sys


def main():
    config = json.loads(sys.stdin.readline())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    die_with(config["parent"])
    leave_session_keyring()
    limit_address_space(config["addressSpace"])
    # Python puts the folder of this script first on sys.path. Cells import from their working folder instead.
    assets = sys.path[0]
    sys.path[0] = ""
    # Loading the debugger would take a fifth of the start time, and nothing here uses it.
    sys.modules["debugpy"] = None
    from ipykernel.kernelapp import IPKernelApp

    del sys.modules["debugpy"]
    sys.path.append(assets)
    # Write no bytecode files next to our sources.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    from karst_kernel.server import attach

    sys.dont_write_bytecode = before
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
    """Ends the kernel when its host process ends for any reason. `parent` is 0 where the sandbox already does this."""
    if not parent:
        return
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def leave_session_keyring():
    """Joins a new session keyring (keyctl), because a child process inherits the keys of its parent's session."""
    if sys.platform != "linux":
        return
    import ctypes

    number = {"x86_64": 250, "aarch64": 219, "riscv64": 219}.get(os.uname().machine)
    join_session_keyring = 1
    if number:
        ctypes.CDLL(None).syscall(number, join_session_keyring, None)


def limit_address_space(address_space):
    if not address_space:
        return
    import resource

    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    wanted = address_space if hard_limit == resource.RLIM_INFINITY else min(address_space, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, wanted))


main()
