// safePythonRules(): the default rules for Python cells.
import { attributeRule, functionRule, importRule, type Rule } from "../../rules/rules.ts"

/** Rules for Python code that a model wrote. They refuse processes, `open()` and the modules for files, servers,
 *  threads, evaluated strings, and access from objects to the interpreter. They allow computing, packages and network
 *  clients, and so what packages do with files, as `pandas.read_csv(path)`. They prevent accidents, not attacks: code
 *  that tries to escape is stopped only by isolation. */
export function safePythonRules(): Rule[] {
  return [
    importRule(harmfulModules, { description: "it reaches beyond this cell; use what you were given" }),
    functionRule(textEvaluators, { description: "code made of text cannot be checked" }),
    functionRule(["__loader__", "__spec__", "types.FunctionType", "types.CodeType"], {
      description: "it leads into the interpreter itself",
    }),
    functionRule(["pandas.read_pickle", "pandas.io.pickle.read_pickle"], {
      description: "what is unpickled may run any code",
    }),
    functionRule(fileFunctions, {
      description: "files are out of bounds; use what you were given",
    }),
    functionRule(["input", "breakpoint", "exit", "quit", "help", "get_ipython"], {
      description: "it belongs to the program around this cell",
    }),
    functionRule(["asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "asyncio.start_server"], {
      description: "it reaches beyond this cell; use what you were given",
    }),
    attributeRule(interpreterAttributes, { description: "it leads into the interpreter itself" }),
  ]
}

const textEvaluators =
  `eval exec compile timeit.timeit timeit.repeat timeit.Timer cProfile.run cProfile.runctx profile.run
  profile.runctx typing.get_type_hints typing.ForwardRef`.split(/\s+/)

const fileFunctions =
  `open io.open io.open_code io.FileIO codecs.open tarfile.bltn_open tarfile.open gzip.open bz2.open lzma.open
  logging.FileHandler logging.handlers`.split(/\s+/)

const harmfulModules =
  `os sys subprocess shutil pathlib glob fileinput tempfile posix nt pwd grp pty tty fcntl resource mmap
  ctypes cffi _ctypes multiprocessing threading _thread concurrent signal socket _socket socketserver http.server
  xmlrpc.server importlib imp pkgutil runpy zipimport builtins code codeop gc inspect atexit faulthandler pickle _pickle
  cloudpickle dill joblib marshal shelve dbm sqlite3 site sysconfig venv ensurepip pip setuptools distutils webbrowser
  IPython ipykernel jupyter_client zmq pdb bdb trace readline sh pexpect plumbum invoke fabric psutil karst_kernel
  _posixsubprocess _io _pyio _imp _frozen_importlib _frozen_importlib_external linecache pydoc doctest`.split(/\s+/)

const interpreterAttributes =
  `__subclasses__ __bases__ __base__ __mro__ mro __globals__ __builtins__ __code__ __closure__
  __self__ __func__ __wrapped__ __loader__ __spec__ __import__ __reduce__ __reduce_ex__ __getattribute__ f_globals
  f_builtins f_locals f_back f_code tb_frame gi_frame cr_frame ag_frame gi_code cr_code`.split(/\s+/)
