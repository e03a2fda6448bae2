/** Attempts to escape from a runtime with OS isolation. Each is a cell. It escaped if its value contains `escaped` or
 *  it left a trace on the host. Cells have the names `secret` (a path outside), `port` and `socketPath` (servers of the
 *  host), `hostPid`, `vault` (an instance with a `#key`), `echo`, `keep` and `use` (functions), and the functions of
 *  `raw-channel.ts`, which write directly to the socket. */
export interface Attack {
  title: string
  code: string
  /** The child may end; the host must not. */
  fatal?: boolean
  /** True if the attack succeeds without isolation, which proves that the attack itself works. */
  control?: boolean
}

/** If the code throws, the defence held. */
const attempt = (body: string) =>
  `const outcome = await (async () => { ${body} })().catch((error) => "held: " + error); outcome`

const fs = "const fs = await import('node:fs');"
const req = "const require = (await import('node:module')).createRequire('/');"

export const attacks: Attack[] = [
  // Files
  {
    title: "reads a file outside",
    control: true,
    code: attempt(`${fs} return "escaped " + fs.readFileSync(secret, 'utf8')`),
  },
  {
    title: "reads a file outside through a promise",
    control: true,
    code: attempt(`return "escaped " + await (await import('node:fs/promises')).readFile(secret, 'utf8')`),
  },
  {
    title: "reads a file outside through a link in its folder",
    control: true,
    code: attempt(`${fs} fs.symlinkSync(secret, 'link'); return "escaped " + fs.readFileSync('link', 'utf8')`),
  },
  {
    title: "reads a file outside through a hard link",
    control: true,
    code: attempt(`${fs} fs.linkSync(secret, 'hard'); return "escaped " + fs.readFileSync('hard', 'utf8')`),
  },
  {
    title: "reads a file outside by going up",
    control: true,
    code: attempt(`${fs} return "escaped " + fs.readFileSync('../'.repeat(20) + secret, 'utf8')`),
  },
  {
    title: "imports a file outside",
    control: true,
    code: attempt(`return "escaped " + JSON.stringify(await import(secret, { with: { type: 'json' } }))`),
  },
  {
    title: "opens a file outside by its file URL",
    control: true,
    code: attempt(`${fs} return "escaped " + fs.readFileSync(new URL('file://' + secret), 'utf8')`),
  },
  {
    title: "copies a file outside into its folder",
    control: true,
    code: attempt(`${fs} fs.cpSync(secret, 'copy'); return "escaped " + fs.readFileSync('copy', 'utf8')`),
  },
  {
    title: "reads the list of users",
    control: true,
    code: attempt(`${fs} return "escaped " + fs.readFileSync('/etc/passwd', 'utf8')`),
  },
  {
    title: "lists the root of the host",
    control: true,
    code: attempt(
      `${fs} const seen = fs.readdirSync('/'); if (seen.includes('home') || seen.includes('root') || seen.includes('etc')) return "escaped " + seen; return seen`,
    ),
  },
  {
    title: "writes beside its folder",
    control: true,
    code: attempt(`${fs} fs.writeFileSync(secret + '.written', 'escaped'); return "escaped"`),
  },
  {
    title: "writes into the library itself",
    code: attempt(
      `${fs} const url = await import('node:url'); fs.appendFileSync(library, '// escaped'); return "escaped"`,
    ),
  },
  {
    title: "writes through SQLite, which passes by Node's permissions",
    control: true,
    code: attempt(
      `const { DatabaseSync } = await import('node:sqlite'); new DatabaseSync(secret + '.db').exec('create table t(a)'); return "escaped"`,
    ),
  },
  {
    title: "attaches a database outside",
    control: true,
    code: attempt(
      `const { DatabaseSync } = await import('node:sqlite'); const db = new DatabaseSync(':memory:'); db.exec("attach '" + secret + ".db2' as x; create table x.t(a)"); return "escaped"`,
    ),
  },
  {
    title: "changes the mode of the folder's parent",
    code: attempt(`${fs} fs.chmodSync(secret, 0o777); return "escaped"`),
  },
  {
    title: "leaves its folder by chdir",
    code: attempt(
      `${req} require('process').chdir('/'); ${fs} return "escaped " + fs.readFileSync(secret.slice(1), 'utf8')`,
    ),
  },
  {
    title: "fills the memory of the host with files",
    code: attempt(
      `const { DatabaseSync } = await import('node:sqlite'); for (const place of ['/escaped.db', '/dev/shm/escaped.db', '/dev/escaped.db']) { try { new DatabaseSync(place).exec('create table t(a)'); return 'escaped' } catch {} } return 'held'`,
    ),
  },
  {
    title: "reads through descriptors that its host holds",
    code: attempt(
      `${fs} const found = []; for (let fd = 4; fd < 1024; fd++) { try { found.push(fs.readlinkSync('/proc/self/fd/' + fd)) } catch {} }
       const own = /^(?:socket|pipe|anon_inode):|^\\/dev\\/(?:null|urandom|pts)|^\\/proc\\//
       const foreign = found.filter((path) => !own.test(path)); return foreign.length ? "escaped " + foreign : found.length`,
    ),
  },
  {
    title: "opens its host's descriptors by its parent",
    code: attempt(
      `${fs} for (const fd of fs.readdirSync('/proc/' + process.ppid + '/fd')) fs.readFileSync('/proc/' + hostPid + '/fd/' + fd)
       return "escaped"`,
    ),
  },

  // Parsing
  { title: "begins with a line of slashes", fatal: true, code: `${"/".repeat(46)} a\n1` },
  { title: "begins with comments that do not end", fatal: true, code: "/* ".repeat(30_000) },
  { title: "nests conditions in brackets", fatal: true, code: "a?(".repeat(60) },
  { title: "nests type arguments", fatal: true, code: "async<T>(".repeat(60) },
  { title: "nests lists", fatal: true, code: "[".repeat(50_000) },

  // Memory
  {
    title: "fills its temporary files beyond the limit of memory",
    fatal: true,
    code: attempt(
      `${fs} for (let at = 0; at < 56; at++) fs.appendFileSync('/tmp/' + (at % 2), Buffer.alloc(1_000_000)); return "full"`,
    ),
  },

  // Network
  {
    title: "connects to a server of the host",
    control: true,
    code: attempt(
      `const net = await import('node:net'); return await new Promise((resolve, reject) => net.connect(port, '127.0.0.1', () => resolve('escaped')).on('error', reject))`,
    ),
  },
  {
    title: "fetches from a server of the host",
    control: true,
    code: attempt(`return "escaped " + await (await fetch('http://127.0.0.1:' + port)).text()`),
  },
  {
    title: "connects to a socket file of the host",
    control: true,
    code: attempt(
      `const net = await import('node:net'); return await new Promise((resolve, reject) => net.connect(socketPath, () => resolve('escaped')).on('error', reject))`,
    ),
  },
  {
    title: "connects to an abstract socket of the host",
    control: true,
    code: attempt(
      `const net = await import('node:net'); return await new Promise((resolve, reject) => net.connect(abstractPath, () => resolve('escaped')).on('error', reject))`,
    ),
  },
  {
    title: "asks a name server",
    code: attempt(
      `const dns = await import('node:dns/promises'); const resolver = new dns.Resolver({ timeout: 200, tries: 1 }); resolver.setServers(['127.0.0.1:' + udpPort]); return "escaped " + await resolver.resolve4('karst.test')`,
    ),
  },
  {
    title: "sends a datagram to the host",
    code: attempt(
      `const dgram = await import('node:dgram'); const socket = dgram.createSocket('udp4'); await new Promise((resolve, reject) => socket.send('escaped', udpPort, '127.0.0.1', (error) => error ? reject(error) : resolve())); socket.close(); return 'sent into the void'`,
    ),
  },
  {
    title: "finds the network of the host",
    code: attempt(
      `const os = await import('node:os'); const names = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo'); return names.length ? "escaped " + names : names`,
    ),
  },
  // Processes
  {
    title: "reads the environment of the host",
    code: attempt(`${req} return Object.keys(require('process').env).includes('KARST_SECRET') ? "escaped" : "clean"`),
  },
  {
    title: "reads the environment of another process",
    code: attempt(
      `${fs} const all = fs.readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8') } catch { return '' } }).join(); return all.includes('KARST_SECRET') ? "escaped" : "clean"`,
    ),
  },
  {
    title: "signals the process of the host",
    code: attempt(`${req} require('process').kill(hostPid, 'SIGTERM'); return "signalled " + hostPid`),
  },
  {
    title: "signals its parent",
    code: attempt(`${req} require('process').kill(require('process').ppid, 'SIGTERM'); return "signalled"`),
    fatal: true,
  },
  {
    title: "signals everybody",
    code: attempt(`${req} require('process').kill(-1, 'SIGTERM'); return "signalled"`),
    fatal: true,
  },
  {
    title: "opens the memory of its parent",
    code: attempt(
      `${fs} const fd = fs.openSync('/proc/' + (await import('node:process')).ppid + '/mem', 'r+'); return "escaped " + fd`,
    ),
  },
  {
    title: "reaches the host's files through /proc",
    code: attempt(`${fs} return "escaped " + fs.readFileSync('/proc/1/root' + secret, 'utf8')`),
  },
  {
    title: "starts a program",
    control: true,
    code: attempt(
      `const { execFileSync } = await import('node:child_process'); return "escaped " + execFileSync('/bin/sh', ['-c', 'echo out'])`,
    ),
  },
  {
    title: "starts another Node",
    control: true,
    code: attempt(
      `const { execFileSync } = await import('node:child_process'); ${req} return "escaped " + execFileSync(require('process').execPath, ['-e', '1'])`,
    ),
  },
  {
    title: "starts a thread",
    control: true,
    code: attempt(
      `const { Worker } = await import('node:worker_threads'); new Worker('1', { eval: true }); return "escaped"`,
    ),
  },
  {
    title: "loads native code",
    code: attempt(`${req} require('process').dlopen({ exports: {} }, secret); return "escaped"`),
  },
  {
    title: "opens a debugger",
    control: true,
    code: attempt(
      `const inspector = await import('node:inspector'); inspector.open(0); return "escaped " + inspector.url()`,
    ),
  },
  {
    title: "uses the bindings of Node",
    code: attempt(`${req} require('process').binding('spawn_sync'); return "escaped"`),
  },
  // The host through its handles
  {
    title: "takes the constructor of a handle's constructor",
    code: attempt(`return "escaped " + await vault.constructor.constructor('return process')()`),
  },
  {
    title: "asks for the constructor as a member",
    code: attempt(
      `await ask({ t: await idOf(vault), p: ['constructor', 'constructor'], op: 'call', v: [['return process.pid'], {}] }); return "escaped"`,
    ),
  },
  {
    title: "asks for the constructor of a method",
    code: attempt(
      `await ask({ t: await idOf(vault), p: ['open', 'constructor'], op: 'call', v: [['return 1'], {}] }); return "escaped"`,
    ),
  },
  {
    title: "asks for a prototype",
    code: attempt(
      `const made = await ask({ t: await idOf(vault), p: ['__proto__'], op: 'get' }); return made === undefined ? 'nothing' : 'escaped'`,
    ),
  },
  {
    title: "replaces a method of a handle",
    code: attempt(`await ask({ t: await idOf(vault), p: ['open'], op: 'set', v: ['escaped'] }); return 'escaped'`),
  },
  {
    title: "sets the prototype of a handle",
    code: attempt(
      `await ask({ t: await idOf(vault), p: ['__proto__'], op: 'set', v: [{ escaped: 1 }] }); return 'escaped'`,
    ),
  },
  {
    title: "sets toString, which the host would call",
    code: attempt(`await ask({ t: await idOf(vault), p: ['toString'], op: 'set', v: ['escaped'] }); return 'escaped'`),
  },
  {
    title: "reads a private field",
    code: attempt(`const key = await vault['#key']; return key === undefined ? 'nothing' : 'escaped'`),
  },
  {
    title: "pollutes prototypes by an argument",
    code: attempt(
      `const back = await echo(JSON.parse('{"__proto__": {"escaped": true}}')); return back.escaped || Object.getPrototypeOf(back) !== Object.prototype ? 'escaped' : 'a key like any other'`,
    ),
  },
  {
    title: "pollutes prototypes by a forged argument",
    code: attempt(
      `const i = ++globalThis.lastSaid; sayText('{"k":"op","i":' + i + ',"x":"' + x() + '","op":"call","t":' + (await idOf(echo)) + ',"p":[],"v":[[{"__proto__":{"escaped":true}}],{"__proto__":{"escaped":true}}]}'); await pause(); return ({}).escaped`,
    ),
  },
  {
    title: "pollutes prototypes by two steps of a path",
    code: attempt(
      `await ask({ t: await idOf(vault), p: ['constructor', 'prototype', 'escaped'], op: 'set', v: [true] }); return 'escaped'`,
    ),
  },
  {
    title: "gives the host a thenable",
    code: attempt(
      `let ran = 0; await use({ then: (resolve) => resolve(ran++) }).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`,
    ),
  },
  {
    title: "gives the host an object whose then is a handle's method",
    code: attempt(`await use({ then: vault.open }); return (await vault.opened) ? 'escaped' : 'nothing ran'`),
  },
  {
    title: "gives the host a getter with an effect",
    code: attempt(
      `let ran = 0; await echo({ get x() { ran++; return 1 } }).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`,
    ),
  },
  {
    title: "gives the host an object with toJSON",
    code: attempt(
      `let ran = 0; await use({ toJSON: () => ran++ }).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`,
    ),
  },
  {
    title: "gives the host symbols that steer it",
    code: attempt(
      `let ran = 0; await use({ [Symbol.toPrimitive]: () => ran++, [Symbol.iterator]: function* () { yield ran++ } }).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`,
    ),
  },
  {
    title: "gives the host a proxy",
    code: attempt(
      `let ran = 0; await use(new Proxy({}, { get: () => ran++ })).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`,
    ),
  },
  {
    title: "gives the host a function to call",
    code: attempt(`let ran = 0; await use(() => ran++).catch(() => 0); return ran ? 'escaped' : 'nothing ran'`),
  },
  {
    title: "throws an error that answers when it is read",
    code:
      "const answer = () => 'escaped'; const told = { toString: answer, toJSON: answer, [Symbol.toPrimitive]: answer }; " +
      "const error = new Error('x'); for (const key of ['name', 'message', 'stack']) Object.defineProperty(error, key, { get: () => told }); throw error",
  },
  {
    title: "throws an error named after what it wants to be",
    code: "const error = new Error('x'); error.name = '__proto__'; throw error",
  },
  {
    title: "throws an error that never answers when it is read",
    code: "throw Object.defineProperty(new Error('x'), 'message', { get: () => { for (;;) {} } })",
    fatal: true,
  },
  // The channel
  {
    title: "writes bytes that are no message",
    code: "raw(Buffer.from([9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])); await pause(); 1",
    fatal: true,
  },
  {
    title: "announces a message of four gigabytes",
    code: "raw(Buffer.from([255, 255, 255, 255, 0])); await pause(); 1",
    fatal: true,
  },
  {
    title: "announces a message that never comes",
    code: "raw(Buffer.from([255, 255, 0, 0])); await pause(); 1",
    fatal: true,
  },
  {
    title: "sends a message of an unknown type",
    code: "say({ k: 'run', code: 'process.exit()' }); await pause(); 1",
    fatal: true,
  },
  {
    title: "pollutes a prototype by a key that its bytes do not show",
    code: String.raw`const id = await idOf(echo); sayText('{"k":"op","i":991,"x":"' + x() + '","op":"call","t":' + id + ',"p":[],"v":[[{"\u005f_proto__":{"escaped":true}}],{}]}'); await pause(); 1`,
    fatal: true,
  },
  {
    title: "sends text that is no JSON",
    code: `sayText('{"k":"release","ids":[[1,'); await pause(); 1`,
    fatal: true,
  },
  {
    title: "sends JSON that is nested without end",
    code: `sayText('{"a":'.repeat(200000) + '1' + '}'.repeat(200000)); await pause(); 1`,
    fatal: true,
  },
  { title: "sends a message that is no object", code: "sayText('5'); await pause(); 1", fatal: true },
  {
    title: "sends a message whose fields are of the wrong types",
    code: "say({ k: 'reply', i: 'x', v: 1 }); await pause(); 1",
    fatal: true,
  },
  {
    title: "answers what nobody asked",
    code: "say({ k: 'reply', i: 123456, v: 'escaped' }); await pause(); 1",
    fatal: true,
  },
  {
    title: "forges a handle that it was not given",
    code: "say({ k: 'op', i: 992, x: x(), t: 987654, p: ['open'], op: 'call', v: [[], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "forges a handle inside an argument",
    code: "say({ k: 'op', i: 993, x: x(), t: await idOf(keep), p: [], op: 'call', v: [[{ $: 'h', id: 4242 }], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "calls a function that it was not given",
    code: "say({ k: 'op', i: 994, x: x(), t: 'process', p: [], op: 'call', v: [[], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "calls a function by the name of an inherited one",
    code: "say({ k: 'op', i: 995, x: x(), t: 'constructor', p: [], op: 'call', v: [[], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "calls for an execution that it was not given",
    code: "say({ k: 'op', i: 998, x: 'cell_1', t: await idOf(keep), p: [], op: 'call', v: [['escaped'], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "asks for an operation that does not exist",
    code: "say({ k: 'op', i: 996, x: x(), t: await idOf(echo), p: [], op: 'eval', v: [['1'], {}] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "walks a path without end",
    code: "say({ k: 'op', i: 997, x: x(), t: await idOf(vault), p: new Array(100000).fill('a'), op: 'get' }); await pause(); 1",
    fatal: true,
  },
  {
    title: "gives back handles a billion times",
    code: "say({ k: 'release', ids: [[1, 1e9], [2, 1e9], [3, 1e9], [4, 1e9], [77, 5]] }); await pause(); await vault.open()",
    fatal: true,
  },
  {
    title: "forges its own success",
    code: "say({ k: 'reply', i: asking(), v: [{ clean: 'no', changes: 5 }, 'escaped'] }); await pause(); 1",
    fatal: true,
  },
  {
    title: "floods the channel with calls",
    code: attempt(`await Promise.all(Array.from({ length: 5000 }, () => echo('x'))); return 'served'`),
  },
  {
    title: "holds more handles than there may be",
    code: attempt(`const held = []; for (let i = 0; i < 20000; i++) held.push(await fresh()); return 'escaped'`),
  },
  { title: "closes the channel", code: `${fs} fs.closeSync(3); await pause(); 1`, fatal: true },
  {
    title: "swallows what the host sends by a socket of its own",
    code: "const net = await import('node:net'); const mine = new net.Socket({ fd: 3 }); mine.on('data', () => {}); await pause(); 1",
    fatal: true,
  },
]
