/** An attempt to escape from a `pythonRuntime` with OS isolation. Each attack is a cell. It succeeded if its value or
 *  output contains `escaped`, or if it left a trace on the host. The cell can use these names: `secret`, `home` and
 *  `sibling` (paths outside the sandbox), `library` (a file of Karst), `port`, `udp_port`, `socket_path` and
 *  `abstract_path` (servers of the host), `host_pid`, `keyring` (of the host), `vault` (an instance), `tools` (a
 *  proxy), `echo`, `keep`, `fresh`, `dump` (JSON.stringify), `spell` (converts its argument to a string), `ring` (calls
 *  its argument), `configure` (takes keyword arguments) and `danger` (needs approval, which is never given). The
 *  attacker knows the source and also has: `libc`, `system(name, …)`, `kernel`, `channel`, `ask(operation, …)`, `x()`
 *  (the id of its cell), `say(message)`, `raw(text)`, and `publish(type, content)` and `answer(type, content)` for the
 *  Jupyter channels. */
export interface Attack {
  title: string
  code: string
  /** The attack may end the kernel, but not the host. */
  fatal?: boolean
  /** The attack ends only by its time limit, which is short. */
  waits?: boolean
  /** The attack leaves processes behind, which must end with the kernel. */
  leaves?: boolean
  /** The attack succeeds without isolation, which proves that it works. */
  control?: boolean
}

/** Runs lines as a function. An exception means that the attack failed. */
const attempt = (...lines: string[]) =>
  [
    "def attack():",
    ...lines.map((line) => `    ${line}`),
    "try:\n    outcome = attack()",
    "except BaseException as error:\n    outcome = 'held: ' + repr(error)",
    "outcome",
  ].join("\n")

const opened = (path: string, flags: string) =>
  attempt(`descriptor = os.open(${path}, ${flags})`, "os.close(descriptor)", "return 'escaped'")

export const attacks: Attack[] = [
  // Files to read
  { title: "reads a file outside", control: true, code: attempt("return 'escaped ' + open(secret).read()") },
  { title: "reads the passwords of the host", code: attempt("return 'escaped ' + open('/etc/shadow').read()") },
  {
    title: "reads the users of the host",
    control: true,
    code: attempt("return 'escaped ' + open('/etc/passwd').read()"),
  },
  { title: "reads the keys of the host", code: attempt("return 'escaped ' + str(os.listdir('/etc/ssl/private'))") },
  { title: "lists the home of the host", control: true, code: attempt("return 'escaped ' + str(os.listdir(home))") },
  {
    title: "reads the folder of another kernel",
    control: true,
    code: attempt("return 'escaped ' + open(sibling + '/connection.json').read()"),
  },
  {
    title: "looks for folders of other kernels",
    control: true,
    code: attempt(
      "seen = [each for each in glob.glob('/tmp/karst-*') if not os.getcwd().startswith(each)]",
      "return 'escaped ' + str(seen) if seen else seen",
    ),
  },
  {
    title: "reads a file outside through a symbolic link",
    control: true,
    code: attempt("os.path.lexists('link') or os.symlink(secret, 'link')", "return 'escaped ' + open('link').read()"),
  },
  {
    title: "reads a file outside through a hard link",
    control: true,
    code: attempt("os.link(secret, 'hard')", "return 'escaped ' + open('hard').read()"),
  },
  {
    title: "reads a file outside from a descriptor of the root",
    control: true,
    code: attempt(
      "root = os.open('/', os.O_RDONLY)",
      "return 'escaped ' + os.read(os.open(secret[1:], os.O_RDONLY, dir_fd=root), 100).decode()",
    ),
  },
  {
    title: "reads a file outside through the root of another process",
    code: attempt(
      "for each in filter(str.isdigit, os.listdir('/proc')):",
      "    try: return 'escaped ' + open('/proc/' + each + '/root' + secret).read()",
      "    except OSError: pass",
    ),
  },
  {
    title: "reads through the working folder of another process",
    code: attempt(
      "for each in filter(str.isdigit, os.listdir('/proc')):",
      "    try: return 'escaped ' + open('/proc/' + each + '/cwd/../../../../../../../..' + secret).read()",
      "    except OSError: pass",
    ),
  },
  { title: "reads the host's process", code: attempt("return 'escaped ' + open(f'/proc/{host_pid}/cmdline').read()") },
  {
    title: "lists the root of the host",
    control: true,
    code: attempt(
      "seen = {'home', 'root', 'var', 'boot'} & set(os.listdir('/'))",
      "return 'escaped ' + str(seen) if seen else seen",
    ),
  },
  {
    title: "mounts the host's disk out of its device",
    code: attempt(
      "device = os.makedev(254, 0)",
      "os.mknod('disk', 0o600 | stat.S_IFBLK, device)",
      "return 'escaped ' + repr(open('disk', 'rb').read(64))",
    ),
  },
  {
    title: "opens a file by its handle, past all paths",
    code: attempt(
      "buffer = ctypes.create_string_buffer(struct.pack('IiQ', 8, 1, 2) + bytes(64))",
      "found = libc.open_by_handle_at(os.open('/', os.O_RDONLY), buffer, os.O_RDONLY)",
      "return 'escaped' if found >= 0 else ctypes.get_errno()",
    ),
  },
  {
    title: "reads through descriptors that its host holds",
    code: attempt(
      "foreign = []",
      "for name in os.listdir('/proc/self/fd'):",
      "    try: path, held = os.readlink('/proc/self/fd/' + name), os.fstat(int(name))",
      "    except OSError: continue",
      "    if not path.startswith('/') or path.startswith('/memfd:') or path.endswith(' (deleted)'): continue",
      "    # What it can reach by its path is its own.",
      "    same = os.path.exists(path) and os.path.samestat(os.stat(path), held)",
      "    if not same and not path.startswith('/dev/'): foreign.append(path)",
      "return 'escaped ' + repr(foreign) if foreign else 'none'",
    ),
  },

  // Files to write
  {
    title: "writes beside a file outside",
    control: true,
    code: attempt("open(secret + '.written', 'w').write('x')", "return 'tried'"),
  },
  { title: "writes into the system's programs", code: opened("'/usr/bin/escaped'", "os.O_WRONLY | os.O_CREAT") },
  { title: "writes into the system's settings", code: opened("'/etc/escaped'", "os.O_WRONLY | os.O_CREAT") },
  { title: "writes into the packages of Python", code: opened("os.__file__", "os.O_WRONLY") },
  { title: "writes into the library itself", code: opened("library", "os.O_WRONLY") },
  {
    title: "writes the settings of the host's kernel",
    code: attempt(
      "for path in ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger']:",
      "    try: os.close(os.open(path, os.O_WRONLY)); return 'escaped ' + path",
      "    except OSError: pass",
    ),
  },
  {
    title: "writes through the descriptors of its own process",
    code: attempt(
      "reading = os.open(library, os.O_RDONLY)",
      "os.open(f'/proc/self/fd/{reading}', os.O_WRONLY)",
      "return 'escaped'",
    ),
  },
  {
    title: "writes from a descriptor of a folder",
    code: attempt(
      "usr = os.open('/usr', os.O_RDONLY)",
      "os.open('bin/escaped', os.O_WRONLY | os.O_CREAT, dir_fd=usr)",
      "return 'escaped'",
    ),
  },
  {
    title: "writes through a symbolic link",
    code: attempt("os.symlink('/usr/escaped', 'way')", "open('way', 'w').write('x')", "return 'escaped'"),
  },
  {
    title: "fills the memory of the host with files",
    code: attempt(
      "for path in ['/escaped', '/dev/escaped', '/dev/shm/escaped', '/run/escaped', '/var/tmp/escaped']:",
      "    try:",
      "        with open(path, 'w') as file: kind = subprocess.run(['stat', '-f', '-c', '%T', path], capture_output=True, text=True).stdout",
      "        if 'tmpfs' in kind: return 'escaped ' + path",
      "    except OSError: pass",
    ),
  },
  {
    title: "renames a folder of the system",
    code: attempt("os.rename('/usr/lib', '/usr/escaped')", "return 'escaped'"),
  },
  { title: "changes the mode of a file outside", code: attempt("os.chmod(library, 0o777)", "return 'escaped'") },
  {
    title: "mounts over what is read-only",
    code: attempt(
      "libc.mount(b'none', b'/usr', b'tmpfs', 0, None) == 0 or os.strerror(ctypes.get_errno())",
      "open('/usr/x', 'w')",
      "return 'escaped'",
    ),
  },
  {
    title: "mounts it again, writable",
    code: attempt("libc.mount(None, b'/usr', None, 32 | 4096, None)", "open('/usr/escaped', 'w')", "return 'escaped'"),
  },
  {
    title: "takes off what covers the host",
    code: attempt("libc.umount2(b'/tmp', 2)", "libc.umount2(b'/proc', 2)", "return 'escaped ' + open(secret).read()"),
  },
  { title: "changes its root", code: attempt("os.chroot('/tmp')", "return 'escaped'") },
  {
    title: "goes back to the old root",
    code: attempt(
      "moved = system('pivot_root', b'/', b'/tmp')",
      "return 'escaped' if moved == 0 else ctypes.get_errno()",
    ),
  },
  // Sockets
  {
    title: "connects to a server of the host",
    control: true,
    code: attempt("return 'escaped ' + repr(socket.create_connection(('127.0.0.1', port), 2).recv(9))"),
  },
  {
    title: "asks a server of the host by HTTP",
    control: true,
    code: attempt(
      "import urllib.request",
      "return 'escaped ' + repr(urllib.request.urlopen(f'http://127.0.0.1:{port}', timeout=2).read())",
    ),
  },
  {
    title: "connects to a socket file of the host",
    control: true,
    code: attempt(
      "line = socket.socket(socket.AF_UNIX)",
      "line.connect(socket_path)",
      "return 'escaped ' + repr(line.recv(9))",
    ),
  },
  {
    title: "connects to an abstract socket of the host",
    control: true,
    code: attempt(
      "line = socket.socket(socket.AF_UNIX)",
      "line.connect('\\0' + abstract_path)",
      "return 'escaped ' + repr(line.recv(9))",
    ),
  },
  {
    title: "sends a datagram to the host",
    control: true,
    code: attempt(
      "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'escaped', ('127.0.0.1', udp_port))",
      "return 'sent'",
    ),
  },
  {
    title: "asks for a name outside",
    code: attempt("socket.setdefaulttimeout(1)", "return 'escaped ' + str(socket.getaddrinfo('example.com', 80))"),
  },
  {
    title: "opens a raw socket",
    code: attempt("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "return 'escaped'"),
  },
  {
    title: "opens a packet socket",
    code: attempt("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "return 'escaped'"),
  },
  {
    title: "finds the network of the host",
    code: attempt(
      "names = [name for _, name in socket.if_nameindex() if name != 'lo']",
      "return 'escaped ' + str(names) if names else names",
    ),
  },
  {
    title: "talks to a virtual machine's host",
    code: attempt(
      "line = socket.socket(socket.AF_VSOCK)",
      "line.settimeout(1)",
      "line.connect((2, 1024))",
      "return 'escaped'",
    ),
  },
  {
    title: "lets its host connect to a socket outside",
    code: attempt(
      "folder = os.path.dirname(os.getcwd())",
      "for each in os.listdir(folder):",
      "    if each.startswith('k-'):",
      "        os.unlink(f'{folder}/{each}')",
      "        os.symlink(socket_path, f'{folder}/{each}')",
      "kernel.shell_stream.socket.close(linger=0)",
      "kernel.iopub_thread.socket.close(linger=0)",
      "time.sleep(0.5)",
      "return 'tried'",
    ),
    fatal: true,
  },
  // Processes and privileges
  {
    title: "reads the environment of the host",
    code: attempt("return 'escaped' if 'KARST_SECRET' in os.environ else 'clean'"),
  },
  {
    title: "reads the environment of every process",
    code: attempt(
      "for path in glob.glob('/proc/[0-9]*/environ'):",
      "    try:",
      "        if b'KARST_SECRET' in open(path, 'rb').read(): return 'escaped ' + path",
      "    except OSError: pass",
    ),
  },
  { title: "signals the host", code: attempt("os.kill(host_pid, signal.SIGTERM)", "return 'signalled'"), fatal: true },
  {
    title: "signals its parent",
    code: attempt("os.kill(os.getppid(), signal.SIGTERM)", "return 'signalled'"),
    fatal: true,
  },
  { title: "signals everybody", code: attempt("os.kill(-1, signal.SIGTERM)", "return 'signalled'"), fatal: true },
  {
    title: "signals groups",
    code: attempt("[os.kill(-each, 15) for each in range(2, 5000) if each != os.getpgrp()]"),
    fatal: true,
  },
  {
    title: "signals the host by a queue",
    code: attempt(
      "system('rt_sigqueueinfo', host_pid, 15, ctypes.create_string_buffer(128))",
      "return ctypes.get_errno()",
    ),
  },
  {
    title: "traces the host",
    code: attempt("return 'escaped' if libc.ptrace(16, host_pid, None, None) == 0 else ctypes.get_errno()"),
  },
  {
    title: "searches the memory of every process it sees for what the host knows",
    code: attempt(
      "for each in filter(str.isdigit, os.listdir('/proc')):",
      "    for line in open(f'/proc/{each}/maps') if int(each) != os.getpid() else []:",
      "        start, end = (int(part, 16) for part in line.split()[0].split('-'))",
      "        place = ctypes.create_string_buffer(end - start)",
      "        here, there = struct.pack('QQ', ctypes.addressof(place), end - start), struct.pack('QQ', start, end - start)",
      "        libc.process_vm_readv(int(each), here, 1, there, 1, 0)",
      "        if b'KARST_SECRET=' in place.raw: return 'escaped ' + line",
    ),
  },
  {
    title: "reads the memory of the host",
    code: attempt("return 'escaped ' + repr(open(f'/proc/{host_pid}/mem', 'rb').read(1))"),
  },
  { title: "writes the memory of the first process", code: opened("'/proc/1/mem'", "os.O_RDWR") },
  {
    title: "takes a descriptor of the host",
    code: attempt(
      "found = system('pidfd_open', host_pid, 0)",
      "return 'escaped' if found >= 0 else ctypes.get_errno()",
    ),
  },
  {
    title: "gains privileges",
    code: attempt("os.setgroups([0])", "return 'escaped'"),
  },
  {
    title: "runs a program that gives privileges",
    code: attempt(
      "told = subprocess.run(['sh', '-c', 'sudo -n id || pkexec id'], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=4).stdout",
      "return 'escaped ' + told if told else 'held'",
    ),
  },
  {
    title: "holds capabilities",
    code: attempt(
      "lines = [line for line in open('/proc/self/status') if line.startswith('Cap') and int(line.split()[1], 16)]",
      "return 'escaped ' + str(lines) if lines else 'none'",
    ),
  },
  {
    title: "makes users of its own to be root among them",
    code: attempt(
      "if os.fork() == 0:",
      "    made = libc.unshare(0x10000000 | 0x00020000)",
      "    try: open('/proc/self/uid_map', 'w').write('0 0 1'); made = made or 7",
      "    except OSError: pass",
      "    os._exit(made if made == 7 else 0)",
      "return 'escaped' if os.waitstatus_to_exitcode(os.wait()[1]) == 7 else 'held'",
    ),
  },
  {
    title: "enters the namespaces of the host",
    code: attempt(
      "return 'escaped' if libc.setns(os.open('/proc/1/ns/user', os.O_RDONLY), 0) == 0 else ctypes.get_errno()",
    ),
  },
  {
    title: "loads a program into the host's kernel",
    code: attempt(
      "return 'escaped' if system('bpf', 0, ctypes.create_string_buffer(128), 128) >= 0 else ctypes.get_errno()",
    ),
  },
  {
    title: "uses the keys of the host's session",
    code: attempt("return 'escaped' if system('keyctl', 0, -3, 0) == keyring else 'keys of its own'"),
  },
  { title: "restarts the machine", code: attempt("return 'escaped' if libc.reboot(0) == 0 else ctypes.get_errno()") },
  {
    title: "sets the clock",
    code: attempt("time.clock_settime(time.CLOCK_REALTIME, time.time())", "return 'escaped'"),
  },
  { title: "renames the machine", code: attempt("socket.sethostname('escaped')", "return 'renamed'") },
  {
    title: "types into the terminal of the host",
    code: attempt(
      "import fcntl, termios",
      "fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), termios.TIOCSTI, b'x')",
      "return 'escaped'",
    ),
  },
  {
    title: "forks without end",
    // The loop is finite, to spare the machine that runs this test.
    code: "for _ in range(400):\n    if os.fork() == 0: time.sleep(15); os._exit(0)\ntime.sleep(15)",
    fatal: true,
    leaves: true,
  },
  {
    title: "nests processes without end",
    code: "for _ in range(400):\n    if os.fork(): os.wait()\ntime.sleep(15)",
    fatal: true,
    leaves: true,
  },
  {
    title: "leaves a process behind that has cut all ties",
    code: attempt(
      "if os.fork() == 0:",
      "    os.setsid()",
      "    if os.fork() == 0:",
      "        signal.signal(signal.SIGTERM, signal.SIG_IGN)",
      "        os.execvp('sleep', ['sleep', str(10_000_000 + host_pid)])",
      "    os._exit(0)",
      "os.wait()",
      "return 'left'",
    ),
    leaves: true,
  },
  // The host's objects
  {
    title: "asks a proxy for its constructor",
    code: attempt("return 'escaped ' + repr(vault.constructor.constructor('return process')())"),
  },
  {
    title: "asks the host for a constructor",
    code: attempt("return 'escaped ' + repr(ask('get', vault._karst_id, 'constructor'))"),
  },
  {
    title: "calls what every object has",
    code: attempt(
      "for name in ['constructor', '__defineGetter__', '__lookupGetter__', 'hasOwnProperty', 'toString', 'valueOf', '__proto__', 'call', 'apply', 'bind']:",
      "    for target in [vault, echo, tools]:",
      "        try: return 'escaped ' + name + repr(ask('call', target._karst_id, name, [[], {}]))",
      "        except Exception: pass",
    ),
  },
  {
    title: "reads what every object has",
    code: attempt(
      "for name in ['constructor', '__proto__', 'prototype', 'caller', 'arguments', 'callee']:",
      "    for target in [vault, echo, tools]:",
      "        try: return 'escaped ' + name + repr(ask('get', target._karst_id, name))",
      "        except Exception: pass",
    ),
  },
  {
    title: "reads a prototype by what lists members",
    code: attempt(
      "seen = {'constructor', '__proto__', 'prototype'} & set(ask('members', vault._karst_id))",
      "return 'escaped ' + str(seen) if seen else seen",
    ),
  },
  {
    title: "replaces a method of the host",
    code: attempt("ask('set', vault._karst_id, 'open', ['escaped'])", "return 'escaped'"),
  },
  {
    title: "replaces a prototype",
    code: attempt("ask('set', vault._karst_id, '__proto__', [{'escaped': 1}])", "return 'escaped'"),
  },
  {
    title: "adds a member to the host's object",
    code: attempt("ask('set', vault._karst_id, 'toJSON', [5])", "return 'escaped'"),
  },
  { title: "reads a private field", code: attempt("return 'escaped ' + repr(ask('get', vault._karst_id, '#key'))") },
  {
    title: "gives a number that names the host's own objects",
    code: attempt(
      "for name in ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']:",
      "    got = ask('call', echo._karst_id, None, [[{'$': 'f', 'v': name}], {}])",
      "    if not isinstance(got, float): return 'escaped ' + repr(got)",
    ),
  },
  {
    title: "runs code in the host by a number that names its own objects",
    code: attempt(
      "found = ask('call', echo._karst_id, None, [[{'$': 'f', 'v': 'constructor'}], {}])",
      "described = found.getOwnPropertyDescriptor(found.getPrototypeOf(echo), 'constructor')",
      "return 'escaped ' + str(ask('get', described._karst_id, 'value')('return process.pid')())",
    ),
  },
  ...["constructor", "__proto__", "toString", "hasOwnProperty"].map((kind) => ({
    title: `gives an array whose kind names the host's own ${kind}`,
    code: attempt(
      `return 'escaped ' + repr(ask('call', echo._karst_id, None, [[{'$': 'a', 't': '${kind}', 'i': 0}], {}], [bytes(8)]))`,
    ),
    fatal: true,
  })),
  {
    title: "pollutes prototypes by a dict",
    code: attempt(
      "echo({'__proto__': {'escaped': True}})",
      "keep_nothing = configure(**{'__proto__': {'escaped': True}})",
      "return {}",
    ),
  },
  {
    title: "pollutes prototypes by tagged entries",
    code: attempt(
      "ask('call', configure._karst_id, None, [[], {'$': 'o', 'e': [['__proto__', {'escaped': True}], ['constructor', {'prototype': {'escaped': True}}]]}])",
    ),
  },
  {
    title: "pollutes prototypes by the columns of a table",
    code: attempt(
      "ask('call', echo._karst_id, None, [[{'$': 't', 'n': 1, 'c': [{'name': '__proto__', 'kind': 'values', 'v': [{'escaped': True}]}]}], {}])",
      "return 'given'",
    ),
  },
  {
    title: "gives the host a thenable",
    code: attempt("return echo({'then': lambda resolve, reject: resolve('escaped')})"),
  },
  { title: "gives the host a thenable made of its own function", code: attempt("return echo({'then': danger})") },
  {
    title: "lets the host call its own function as toJSON",
    code: attempt("dump({'toJSON': danger})", "dump([{'toJSON': danger}])"),
  },
  { title: "lets the host call a method as toJSON", code: attempt("return dump({'toJSON': vault.open})") },
  {
    title: "lets the host call its own function to make text",
    code: attempt("spell({'toString': danger})", "spell({'valueOf': danger})"),
  },
  { title: "lets the host call its own function as a callback", code: attempt("ring(danger)", "ring(danger.async_)") },
  {
    title: "reaches what asks for approval under another name",
    code: attempt("vault.note = danger", "vault.note()"),
  },
  {
    title: "calls a method under a name that the gate does not know",
    code: attempt("way = ask('get', vault._karst_id, 'guarded')", "return 'escaped ' + str(way())"),
  },
  { title: "calls a guarded method", code: attempt("return 'escaped ' + str(vault.guarded())") },
  { title: "calls a guarded method of a proxy", code: attempt("return 'escaped ' + str(tools.guarded())") },
  {
    title: "gives the host an object that is written as JSON",
    code: attempt("dump(object())", "dump({'deep': [lambda: 1]})", "spell(object())", "return 'written'"),
  },
  {
    title: "gives the host an object that fails when it is read",
    code: attempt(
      "class Trap:",
      "    def __getattr__(self, name): raise SystemExit('escaped')",
      "    def __reduce__(self): os.system('echo escaped'); return (print, ())",
      "dump(Trap()); spell(Trap()); echo(Trap())",
      "return 'given'",
    ),
  },
  {
    title: "lets the host unpickle what runs code",
    code: attempt(
      "class Bomb:",
      "    def __reduce__(self): return (os.system, ('echo escaped',))",
      "return dump(pickle.dumps(Bomb()))[:3]",
    ),
  },
  {
    title: "reaches the host through the globals of a proxy",
    code: attempt(
      "return [each for each in type(echo).__call__.__globals__ if 'process' in each or 'require' in each]",
    ),
  },
  ...["0", "-1", "1.5", "10**6", "2**53", "'x'", "None", "[]", "{}", "True"].map((number, at) => ({
    title: `forges the number of an object: ${number}`,
    code: attempt(
      `return 'escaped ' + repr(ask('${["get", "call", "list", "members"][at % 4]}', ${number}, 'open', [[], {}]))`,
    ),
    fatal: true,
  })),
  ...["'cell_0123456789abcdef0123'", "None", "''", "5", "{'toString': 1}", "'__proto__'"].map((id) => ({
    title: `forges the id of a cell: ${id}`,
    code: attempt(`return 'escaped ' + repr(ask('call', vault._karst_id, 'open', [[], {}], x=${id}))`),
    fatal: true,
  })),
  {
    title: "forges an object inside an argument",
    code: attempt("ask('call', keep._karst_id, None, [[{'$': 'h', 'id': 4242}], {}])", "return 'escaped'"),
    fatal: true,
  },
  {
    title: "forges a method of an argument",
    code: attempt(
      "of = {'$': 'h', 'id': vault._karst_id}",
      "ask('call', keep._karst_id, None, [[{'$': 'hm', 'of': of, 'name': 'constructor'}], {}])",
      "return 'escaped'",
    ),
  },
  ...["vault._karst_id", "None", "{'$': 'h', 'id': 4242}", "{'id': 'x'}"].map((of) => ({
    title: `forges the object of a method: ${of}`,
    code: attempt(
      `ask('call', keep._karst_id, None, [[{'$': 'hm', 'of': ${of}, 'name': 'open'}], {}])`,
      "return 'escaped'",
    ),
    fatal: true,
  })),
  ...[
    ...["None", "5", "'xx'", "{}", "[]", "[5, 5]", "[{}, {}]"],
    "[{'$': 'p', 'id': 1, 'type': 'x'}, {'$': 'p', 'id': 1, 'type': 'x'}]",
    ...["[[], None]", "[[], []]", "[[], {'$': 'm', 'e': []}]", "[[], {'$': 's', 'e': []}]"],
  ].map((given) => ({
    title: `calls with arguments that are none: ${given}`,
    code: attempt(`ask('call', keep._karst_id, None, ${given})`, "return 'escaped'"),
    fatal: true,
  })),
  {
    title: "gives back objects a billion times",
    code: "say({'k': 'release', 'ids': [[each, 10 ** 9] for each in range(1000)]})",
    fatal: true,
  },
  {
    title: "holds more objects than there may be",
    code: attempt("held = [fresh() for _ in range(101)]", "return 'escaped'"),
  },
  // The socket to the host
  { title: "sends bytes that are no frame", code: "channel.socket.sendall(b'\\xff' * 64)", fatal: true },
  {
    title: "announces a frame that never comes",
    code: "channel.socket.sendall(struct.pack('<I', 2 ** 28))",
    fatal: true,
    waits: true,
  },
  { title: "sends a frame that is no object", code: "raw(b'[]'); raw(b'5'); raw(b'null')", fatal: true },
  { title: "sends a frame that is no JSON", code: "raw(b'{\"k\": ')", fatal: true },
  {
    title: "sends texts that answer when they are read",
    code: "say({'k': 'out', 's': 'stdout', 't': {'toString': 1, 'valueOf': 1}})",
    fatal: true,
  },
  {
    title: "sends numbers that answer when they are read",
    code: "say({'k': 'op', 'op': 'get', 'x': x(), 'i': {'valueOf': 1, 'toString': 1}, 't': 1, 'p': ['x']})",
    fatal: true,
  },
  {
    title: "sends names that answer when they are read",
    code: "say({'k': 'op', 'op': 'call', 'x': x(), 'i': 5, 't': 1, 'p': [{'toString': 1}], 'v': [[], {}]})",
    fatal: true,
  },
  {
    title: "reports names that answer when they are read",
    code: "say({'k': 'cell', 'x': x(), 'changes': {'created': [{'toString': 1}]}})",
    fatal: true,
  },
  {
    title: "sends failures that answer when they are read",
    code: "say({'k': 'fail', 'i': 1, 'e': {'message': {'toString': 1}, 'name': [[]]}})",
    fatal: true,
  },
  {
    title: "reports failures that answer when they are read",
    code: "say({'k': 'cell', 'x': x(), 'changes': {}, 'error': {'message': {'toString': 1}}})",
    fatal: true,
  },
  {
    title: "reports hints that answer when they are read",
    code: "say({'k': 'cell', 'x': x(), 'changes': {}, 'hints': [{'toString': 1}]})",
    fatal: true,
  },
  {
    title: "reports the end of a cell that never was",
    code: "say({'k': 'cell', 'x': 'cell_0123456789abcdef0123', 'changes': {}, 'v': 'escaped'})",
    fatal: true,
  },
  {
    title: "sends a frame of nothing but brackets",
    code: "raw(b'{\"k\":\"reply\",\"i\":1,\"v\":' + b'[' * 3000000 + b']' * 3000000 + b'}')",
    fatal: true,
  },
  {
    title: "gives the host a value as deep as it likes",
    code: attempt(
      "deep = '[' * 100000 + ']' * 100000",
      'text = \'{"k":"op","op":"call","x":"%s","i":987654,"t":%d,"p":[],"v":[[%s],{}]}\' % (x(), dump._karst_id, deep)',
      "raw(text.encode())",
      "return 'sent'",
    ),
    fatal: true,
  },
  {
    title: "ends its cell with a value as deep as it likes",
    code: 'raw(b\'{"k":"cell","x":"\' + x().encode() + b\'","changes":{},"v":\' + b\'[\' * 100000 + b\']\' * 100000 + b\'}\')',
    fatal: true,
  },
  {
    title: "sends a frame that grows to more than the host has",
    code: 'raw(b\'{"k":"cell","x":"\' + x().encode() + b\'","changes":{},"v":[\' + b\'{},\' * 60000000 + b\'{}]}\')',
    fatal: true,
  },
  {
    title: "sends a table that grows to more than the host has",
    code: attempt("return repr(ask('call', echo._karst_id, None, [[{'$': 't', 'n': 10 ** 9, 'c': []}], {}]))"),
    fatal: true,
  },
  {
    title: "sends a table of flags that grow to more than the host has",
    code: attempt(
      "size = 90_000_000",
      "column = {'name': 'a', 'kind': 'bool', 'i': 0}",
      "return repr(ask('call', echo._karst_id, None, [[{'$': 't', 'n': size, 'c': [column]}], {}], [bytes(size)]))",
    ),
    fatal: true,
  },
  ...[
    ...["'n': -1, 'c': []", "'n': 1.5, 'c': []", "'n': 'x', 'c': []", "'n': 1, 'c': 5", "'n': 1, 'c': [5]"],
    "'n': 1, 'c': [{'name': {}, 'kind': 'values', 'v': [1]}]",
    "'n': 2, 'c': [{'name': 'a', 'kind': 'float64', 'i': 0}]",
    "'n': 1, 'c': [{'name': 'a', 'kind': 'text', 'i': 0}]",
  ].map((table) => ({
    title: `sends a table that is none: ${table}`,
    code: attempt(
      `return 'escaped ' + repr(ask('call', echo._karst_id, None, [[{'$': 't', ${table}}], {}], [b'xyz']))`,
    ),
    fatal: true,
  })),
  {
    title: "sends millions of empty buffers",
    code: "channel.socket.sendall(struct.pack('<IBII', 9 + 20_000_000 + 12, 1, 12, 5_000_000)); channel.socket.sendall(bytes(20_000_000)); channel.socket.sendall(b'{\"k\":\"nope\"}')",
    fatal: true,
  },
  {
    title: "sends a number that takes for ever to read",
    code: attempt("return len(repr(ask('call', dump._karst_id, None, [[{'$': 'n', 'v': '9' * 30_000_000}], {}])))"),
  },
  ...[
    ...["{'$': 'zzz'}", "{'$': None}", "{'$': {}}", "{'$': []}", "{'$': 'n', 'v': '0x'}", "{'$': 'n', 'v': {}}"],
    ...["{'$': 'd', 'v': 'x'}", "{'$': 'd', 'v': 1e300}", "{'$': 'b', 'i': 9}", "{'$': 'b', 'i': 'length'}"],
    ...[
      "{'$': 'm', 'e': 5}",
      "{'$': 'm', 'e': [5]}",
      "{'$': 'o', 'e': [[{'toString': 1}, 2]]}",
      "{'$': 's', 'e': None}",
    ],
    ...["{'$': 'p', 'id': {}, 'type': {}}", "{'$': 'a', 't': 'int', 'i': 0}", "{'$': 'sh', 'n': 1}"],
  ].map((value) => ({
    title: `sends a value of an unknown form: ${value}`,
    code: attempt(`ask('call', keep._karst_id, None, [[${value}], {}])`, "return 'escaped'"),
    fatal: true,
  })),
  {
    title: "answers what the host did not ask",
    code: "for number in range(1000): say({'k': 'reply', 'i': number, 'v': 'escaped'})",
    fatal: true,
  },
  {
    title: "sends a message of an unknown kind",
    code: "say({'k': 'run', 'i': 1, 'code': 'process.exit()'})",
    fatal: true,
  },
  {
    title: "says the token again on a line of its own",
    code: attempt(
      "path = os.path.dirname(os.getcwd()) + '/host'",
      "other = socket.socket(socket.AF_UNIX)",
      "other.connect(path)",
      "return 'escaped'",
    ),
  },
  {
    title: "prints without end behind the runtime's back",
    code: "while True: say({'k': 'out', 's': 'stdout', 't': 'x' * 100000})",
    fatal: true,
  },
  {
    title: "prints nothing many times",
    code: "for _ in range(30000): say({'k': 'out', 's': 'stdout', 't': ''})",
  },
  { title: "hangs up", code: "channel.socket.shutdown(2); channel.socket.close()", fatal: true },
  {
    title: "asks without waiting for answers",
    code: attempt(
      "for number in range(5000): say({'k': 'op', 'op': 'call', 'x': x(), 'i': 10 ** 7 + number, 't': echo._karst_id, 'p': [], 'v': [['x'], {}]})",
      "return 'asked'",
    ),
  },
  {
    title: "fails without end",
    code: attempt("for _ in range(300):", "    try: vault.guarded()", "    except Exception: pass"),
  },
  // The Jupyter channels
  {
    title: "publishes texts that answer when they are read",
    code: "publish('stream', {'name': 'stdout', 'text': {'toString': 1, 'valueOf': 1}})\npublish('stream', {'name': {'toString': 1}, 'text': [[[1]]]})",
  },
  {
    title: "publishes display data of wrong shapes",
    code: "for data in [None, 5, 'x', [], {'image/png': {}}, {'image/png': 5}, {'text/plain': {'toString': 1}}, {'__proto__': {'escaped': 1}}]:\n    publish('display_data', {'data': data})\n    publish('execute_result', {'data': data})",
  },
  {
    title: "publishes messages without content or with other parents",
    code: "for parent in [{}, {'header': {}}, {'header': {'msg_id': {'toString': 1}}}, {'header': {'msg_id': '__proto__'}}, {'header': {'msg_id': 5}}]:\n    publish('status', {'execution_state': 'idle'}, parent)\n    publish('stream', {'name': 'stdout', 'text': 'escaped'}, parent)",
  },
  {
    title: "publishes frames that are no message",
    code: "for frames in [[b''], [b'x'], [b'<IDS|MSG>'], [b'<IDS|MSG>', b'', b'', b'', b'', b''], [b'<IDS|MSG>'] * 9, [b'a', b'<IDS|MSG>', bytes(64), b'{}', b'{}', b'{}', b'null']]:\n    kernel.iopub_socket.send_multipart(frames)",
  },
  {
    title: "publishes signed parts that are no objects",
    code: "for part in [b'null', b'5', b'[]', b'{', b'\"x\"']:\n    parts = [part] * 4\n    kernel.iopub_socket.send_multipart([b'<IDS|MSG>', kernel.session.sign(parts), *parts])",
  },
  {
    title: "publishes a message as deep as it likes",
    code: "parts = [json.dumps(kernel.session.msg_header('stream')).encode(), json.dumps(kernel.get_parent()['header'], default=str).encode(), b'{}', b'{\"text\":' + b'[' * 100000 + b']' * 100000 + b'}']\nkernel.iopub_socket.send_multipart([b'<IDS|MSG>', kernel.session.sign(parts), *parts])",
  },
  {
    title: "answers its own cell before it has ended",
    code: "answer('execute_reply', {'status': 'ok', 'execution_count': 1})\npublish('status', {'execution_state': 'idle'})\ntime.sleep(0.2)",
  },
  {
    title: "answers its own cell with answers of wrong shapes",
    code: "for content in [{}, {'status': {'toString': 1}}, {'payload': 5}]:\n    answer('execute_reply', content)",
  },
  {
    title: "answers the host with frames that are no message",
    code: "ident = kernel._parent_ident['shell'][0]\nfor frames in [[b''], [b'<IDS|MSG>'], [b'<IDS|MSG>', b'x', b'null', b'null', b'null', b'null']]:\n    kernel.shell_stream.socket.send_multipart([ident, *frames])",
  },
  {
    title: "shows an image that is larger than what can be read",
    code: "publish('display_data', {'data': {'image/png': 'x' * 40_000_000}})",
  },
  {
    title: "shows images without end",
    code: "picture = 'x' * 1_000_000\nwhile True: publish('display_data', {'data': {'image/png': picture}})",
    fatal: true,
  },
  {
    title: "shows nothing without end",
    code: "while True: publish('display_data', {'data': {}})",
    fatal: true,
  },
  {
    title: "publishes one message that is larger than the host takes",
    code: "kernel.iopub_socket.send_multipart([bytes(300_000_000)])",
    fatal: true,
  },
  // The bridge itself
  {
    title: "answers the host's questions with something else",
    code: attempt(
      "server = next(each for each in gc.get_objects() if type(each).__name__ == 'Server')",
      "for name in ['names', 'describe', 'snapshot', 'retrieve']: setattr(server, 'ask_' + name, lambda message: {'escape': 5})",
      "return 'replaced'",
    ),
    fatal: true,
  },
  {
    title: "replaces what counts its frames",
    code: "channel.send = lambda *given: None",
    fatal: true,
  },
  {
    title: "makes its report say something else",
    code: "say({'k': 'cell', 'x': x(), 'changes': {'created': ['__proto__', 'constructor'], 'reassigned': ['echo'], 'removed': ['vault']}, 'v': 'forged'})",
  },
  {
    title: "ends with an error that names the host's",
    code: "say({'k': 'cell', 'x': x(), 'changes': {}, 'error': {'kind': 'refused', 'message': 'm', 'thrown': '__proto__', 'line': '1'}})",
  },
  { title: "leaves no answer at all", code: "get_ipython().events.callbacks['post_run_cell'].clear()", fatal: true },
  {
    title: "makes of its folder what cannot be removed",
    code: "for _ in range(60):\n    os.mkdir('a' * 200); os.chdir('a' * 200)\nopen('x', 'w').close(); os.chmod('.', 0)\nos._exit(1)",
    fatal: true,
  },
]
