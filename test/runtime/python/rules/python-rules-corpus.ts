import { safePythonRules } from "../../../../src/runtime/python/rules/safe-python-rules.ts"
import { attributeRule, functionRule, importRule, type Rule, regexRule } from "../../../../src/runtime/rules/rules.ts"
import { type Cells, hiddenCalls, hiddenImports, hiddenMembers, waysInside } from "./python-rules-evasions.ts"

export interface PythonCell {
  title: string
  code: string
  rules: Rule[]
}

export interface RefusedCell extends PythonCell {
  /** The rule that must find the violation, and its line. */
  rule: string
  line: number
}

const safe = safePythonRules()
const noOs = [importRule("os")]
const onlyMath = [importRule({ only: ["math", "json", "xml.etree"] })]
const noSystem = [functionRule(["os.system", "eval"])]
const noSecret = [attributeRule("secret")]

export const refusedCells: RefusedCell[] = [
  ...refused(noOs, "import", {
    "an import": "import os",
    "an import under another name": "import os as system_tools",
    "one of several imports": "import math, os, json",
    "a submodule": "import os.path",
    "a name out of a module": "from os import getcwd",
    "a name out of a module under another name": "from os import system as s",
    "everything out of a module": "from os import *",
    "a name out of a submodule": "from os.path import join",
    "an import inside a function": [2, "def f():\n    import os\n    return os"],
    "an import in a condition": [2, "if True:\n    import os"],
    "an import in try": [2, "try:\n    import os\nexcept ImportError:\n    pass"],
    __import__: '__import__("os")',
    "__import__ of joined text": '__import__("o" + "s")',
    "__import__ of an f-string": "__import__(f\"{'o'}s\")",
    "__import__ of text backwards": '__import__("so"[::-1])',
    "__import__ of letters": "__import__(chr(111) + chr(115))",
    "__import__ of joined pieces": '__import__("".join(["o", "s"]))',
    "__import__ of a formatted text": '__import__("%s%s" % ("o", "s"))',
    "__import__ of bytes": '__import__(b"os".decode())',
    "__import__ of capitals": '__import__("OS".lower())',
    "__import__ of a constant": [2, 'name = "os"\n__import__(name)'],
    "__import__ of an unknown name": "__import__(names[0])",
    "__import__ under another name": [2, 'load = __import__\nload("os")'],
    "__import__ handed on": 'list(map(__import__, ["os"]))',
    "__import__ in a list": '[__import__][0]("os")',
    "__import__ out of builtins": 'import builtins\nbuiltins.__import__("os")'.replace("\n", "; "),
    "__import__ by getattr": 'getattr(__builtins__, "__imp" + "ort__")("os")',
    "__import__ out of the dictionary of builtins": '__builtins__["__import__"]("os")',
    "__import__ out of globals": 'globals()["__builtins__"].__import__("os")',
    "importlib.import_module": [2, 'import importlib\nimportlib.import_module("os")'],
    "import_module under another name": [2, 'from importlib import import_module as load\nload("os")'],
    "importlib under another name": [2, 'import importlib as i\ni.import_module("o" "s")'],
    "importlib handed on": [2, "import importlib\nuse(importlib)"],
    "sys.modules": [2, 'import sys\nsys.modules["os"].getcwd()'],
    "sys.modules by get": [2, 'import sys\nsys.modules.get("os")'],
    "an unknown module of sys.modules": [2, "import sys\nsys.modules[name]"],
    "a module that another carries": [2, "import shutil\nshutil.os.getcwd()"],
    "a module that another carries, hidden": "from random import _os as o",
    "an import as an argument": 'print(__import__("os").getcwd())',
    "an import in a lambda": 'f = lambda: __import__("os")',
    "an import in a default": [1, 'def f(m=__import__("os")): pass'],
  }),
  ...refused(noOs, "import", hiddenImports),
  ...refused(noSystem, "function", hiddenCalls),
  ...refused(noSecret, "attribute", hiddenMembers),
  ...refused(safe, "attribute", waysInside),
  ...refused(onlyMath, "import", {
    "what an allow list does not name": "import random",
    "a longer name than the allow list's": "import mathematics",
    "a module beside the allowed one": "from xml import dom",
    "a relative import": "from . import secrets",
  }),
  ...refused(noSystem, "function", {
    "a call": 'eval("1")',
    "a call of an imported function": [2, 'from os import system\nsystem("ls")'],
    "a call through an alias of the module": [2, 'import os as o\no.system("ls")'],
    "an alias": [1, 'run = eval\nrun("1")'],
    "a function in a list": 'funcs = [eval]\nfuncs[0]("1")',
    "a function in a dictionary": 'table = {"e": eval}',
    "a function as a default": "def f(run=eval): pass",
    "a function as a decorator": "@eval\ndef f(): pass",
    "a function handed on": 'list(map(eval, ["1"]))',
    "a function in a lambda": "f = lambda text: eval(text)",
    "a function by assignment expression": '(run := eval)("1")',
    "a function of builtins": [2, 'import builtins\nbuiltins.eval("1")'],
    "a function of builtins by getattr": [2, 'import builtins\ngetattr(builtins, "ev" + "al")("1")'],
    "a function in the dictionary of builtins": [2, 'import builtins\nbuiltins.__dict__["eval"]("1")'],
    "a function in vars of builtins": [2, 'import builtins\nvars(builtins)["eval"]("1")'],
    "an unknown member of builtins": [2, "import builtins\ngetattr(builtins, name)"],
    "builtins handed on": [2, "import builtins\nuse(builtins)"],
    "an unknown name of globals": "globals()[name]()",
    "globals handed on": "use(globals())",
    "a name of globals": 'globals()["os"].system("ls")',
    "a name of globals by get": 'globals().get("__builtins__").eval("1")',
    "a name of locals": 'locals()["os"].system("ls")',
    "a function by attrgetter": [3, 'import os\nimport operator\noperator.attrgetter("system")(os)("ls")'],
    "a function by getattr of a module": [2, 'import os\ngetattr(os, "sys" + "tem")("ls")'],
    "an unknown function of a module": [2, "import os\ngetattr(os, name)()"],
    "a module handed on": [2, "import os\nrun(os)"],
    "everything out of a module that holds it": "from os import *",
    "a function of a module that was imported by a call": '__import__("os").system("ls")',
    "a name in capitals of another alphabet": 'ｅｖａｌ("1")',
    "a name that is bound only sometimes": [3, 'if False:\n    eval = print\neval("1")'],
    "a name that is deleted again": [3, 'eval = print\ndel eval\neval("1")'],
    "a name inside an f-string": "f\"{eval('1')}\"",
    "a name in a comprehension": '[eval(text) for text in ["1"]]',
    "a name in a class": [2, "class A:\n    run = eval"],
    "a name in an annotation": "def f(x: eval('1')): pass",
    "a conditional alias": [2, 'run = eval if True else print\nrun("1")'.replace("\n", "\n")],
  }),
  ...refused(noSecret, "attribute", {
    "a member": "user.secret",
    "a member that is written": "user.secret = 1",
    "a member that is deleted": "del user.secret",
    "a member by getattr": 'getattr(user, "secret")',
    "a member by getattr of joined text": 'getattr(user, "sec" + "ret")',
    "a member by setattr": 'setattr(user, "secret", 1)',
    "a member by __getattribute__": 'user.__getattribute__("secret")',
    "a member by object.__getattribute__": 'object.__getattribute__(user, "secret")',
    "a member by attrgetter": [2, 'from operator import attrgetter\nattrgetter("name.secret")(user)'],
    "a member by methodcaller": [2, 'import operator\noperator.methodcaller("secret")(user)'],
    "a member in the dictionary of an object": 'user.__dict__["secret"]',
    "a member in vars of an object": 'vars(user)["secret"]',
    "a member in a format text": '"{0.secret}".format(user)',
    "a member in a format text by name": '"{user.secret}".format_map({"user": user})',
    "a member in a pattern": [2, "match user:\n    case User(secret=s):\n        pass"],
    "a member taken out of a module": "from users import secret",
  }),
  ...refused([functionRule(["__import__", "importlib.import_module"])], "function", {
    "a loader itself, whatever it loads": '__import__("math")',
    "a loader of a module": [2, 'import importlib as i\ni.import_module("math")'],
  }),
  ...refused([regexRule(/drop\s+table/i)], "regex", {
    "text in a string": 'db.execute("DROP TABLE users")',
    "text in a comment": [2, "x = 1\n# drop table users"],
  }),
  ...refused(safe, "attribute", {
    "a walk to all classes": "().__class__.__base__.__subclasses__()",
    "a walk over the order of classes": "[].__class__.__mro__[1]",
    "the globals of a function": "(lambda: 0).__globals__",
    "the module of a built-in": "print.__self__",
    "the frame of a generator": "(x for x in []).gi_frame.f_back",
    "a walk by getattr with pieces": 'getattr((), "__cl" + part + "__")',
    "the globals of a method in a format text": '"{0.__init__.__globals__}".format(user)',
  }),
  ...refused(safe, "import", {
    "a process": "import subprocess",
    "a file by path": "from pathlib import Path",
    "machine code": "import ctypes",
    "text that becomes objects": "import pickle",
    "what starts a process below subprocess": "import _posixsubprocess",
    "files below open": "import _io",
    "the importer itself": "import _frozen_importlib",
    "the lines of any file": "import linecache",
    "a pager, which is a command": "import pydoc",
  }),
  ...refused(safe, "function", {
    "the loader of modules": "__loader__.load_module('os')",
    "the specification of the program": "__spec__.loader",
    "a function made of code": "import types; types.FunctionType(code, {})",
    "code made of text, timed": "import timeit; timeit.timeit('1')",
    "code made of text, profiled": "import cProfile as p; p.run('1')",
    "code made of text, as an annotation": "import typing; typing.get_type_hints(f)",
    "a file that is compressed": "import gzip; gzip.open('x', 'w')",
    "a file of a log": "import logging; logging.FileHandler('x')",
    "a file that is unpickled": "import pandas as pd; pd.read_pickle('data')",
    "open under the name that a module has for it": "import tarfile; tarfile.bltn_open('x')",
    "a file": 'open("/etc/passwd").read()',
    "a file by io": [2, 'import io\nio.open("x")'],
    "code made of text": 'exec("import os")',
    "code compiled": 'compile("1", "x", "eval")',
    "the shell of IPython": 'get_ipython().system("ls")',
  }),
  ...refused(safe, "syntax", {
    "a shell command": "!ls -la",
    "a shell command that is kept": "files = !ls",
    "a magic": "%run other.py",
    "a magic of the whole cell": "%%bash\nls",
    "a question": "open?",
    "text that is no Python": "x = (1",
    "a zero byte": "x = 1\0",
  }),
]

export const allowedCells: PythonCell[] = [
  ...allowed(safe, {
    arithmetic: "sum(x ** 2 for x in range(10)) / 3",
    pandas: 'import pandas as pd\ndf = pd.DataFrame({"a": [1, 2]})\ndf.groupby("a").agg(["mean"]).reset_index()',
    numpy: "import numpy as np\nnp.random.default_rng(0).normal(size=3).mean()",
    matplotlib: "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()",
    "scipy's signal": "from scipy import signal\nsignal.find_peaks([0, 1, 0])",
    "a function": "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)\nmean([1, 2])",
    "a class":
      "class Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n    def __repr__(self):\n        return f'Point({self.x})'\nPoint(1, 2)",
    "columns that are named as inner attributes":
      'df["__class__"].value_counts()\n[r["__globals__"] for r in rows]\ndf.groupby("mro")["__subclasses__"].sum()\nrow.get("__code__")\ndf.loc[:, "gi_frame"]',
    "the name of a class": "type(3).__name__ + (3).__class__.__name__",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 0\nA(1)",
    "top-level await": "import asyncio\nawait asyncio.sleep(0)",
    "a comprehension": "{k: v for k, v in zip('ab', [1, 2]) if v}",
    "a lambda": "sorted([3, 1], key=lambda x: -x)",
    "a generator": "def up(n):\n    for i in range(n):\n        yield i\nlist(up(3))",
    json: "import json\njson.loads('{\"a\": 1}')['a']",
    dates: "from datetime import datetime, timedelta\ndatetime(2024, 1, 1) + timedelta(days=1)",
    "regular expressions": "import re\nre.findall(r'\\d+', 'a1b22')",
    collections: "from collections import Counter, defaultdict\nCounter('abc').most_common(1)",
    itertools: "import itertools as it\nlist(it.chain([1], [2]))",
    "text in memory": "from io import StringIO\nimport csv\nlist(csv.reader(StringIO('a,b')))",
    "a format text": '"{:>10.2f} {name}".format(3.14159, name="x")',
    "an f-string": "x = 3\nf'{x!r:>5} {x + 1}'",
    "getattr with a plain name": "getattr(obj, 'name', None)",
    "getattr with a name known later": "[getattr(row, column) for column in columns]",
    "a network client": "import urllib.request\nurllib.request.urlopen('http://example.com').read()",
    requests: "import requests\nrequests.get('http://example.com').json()",
    "try and with":
      "try:\n    with lock:\n        x = 1\nexcept (ValueError, KeyError) as error:\n    print(error)\nfinally:\n    x = 2",
    "a match": "match point:\n    case {'x': x}:\n        print(x)\n    case _:\n        pass",
    "a decorator of the cell's own":
      "def twice(f):\n    return lambda *a: f(*a) * 2\n@twice\ndef one():\n    return 1\none()",
    "globals that are only read by name": "globals()['df']",
    statistics: "import statistics\nstatistics.median([1, 2, 3])",
    "a method called eval": "df.eval('a + b')",
    "a method called open": "image.open('x')",
    "a parameter called input": "def shout(input):\n    return input.upper()\nshout('a')",
    "a variable called input": "input = [1, 2]\nlen(input)",
    "a loop variable called exit": "[exit for exit in ['left', 'right']]",
    "a keyword called compile": "run(compile=True, open=False)",
    "an attribute called system": "machine.system",
    "text about open and eval": "print('open eval os.system')",
    "type hints": "from typing import Optional\ndef f(x: Optional[int] = None) -> 'list[int]':\n    return [x]",
    "decimal and fractions":
      "from decimal import Decimal\nfrom fractions import Fraction\nDecimal('1.1') + Decimal(Fraction(1, 2).numerator)",
  }),
  ...allowed(safe, {
    "bytes in memory that are compressed": "import gzip\ngzip.compress(b'x')",
    "a log": "import logging\nlogging.getLogger('x').info('done')",
    "how long it took": "import time\nstart = time.perf_counter()\ntime.perf_counter() - start",
    "a sum over names": "from functools import reduce\nreduce(lambda a, b: a + b, [1, 2])",
    "getattr handed on with plain names": "[*map(getattr, [row, row], ['name', 'size'])]",
    "a class that inherits": "class B(A):\n    def __init__(self):\n        super().__init__()\n        self.x = 1",
    "an f-string with a format": "f'{total:>{width}.2f}'",
    "a walrus": "if (n := len(rows)) > 3:\n    print(n)",
    "members by unpacking": "first, *rest = sorted(rows)\nrest",
    "a method called get": "settings.get('modules')",
  }),
  ...allowed(noOs, {
    "a module with a longer name": "import ossaudio",
    "a variable of that name": "os = 3\nos + 1",
    "a member of that name of an object": "machine.os",
    "another module": "import sys",
  }),
  ...allowed(onlyMath, {
    "an allowed module": "import math\nmath.pi",
    "an allowed module under another name": "import json as j\nj.dumps(1)",
    "an allowed submodule": "import xml.etree.ElementTree as tree",
    "an allowed module taken out of its package": "from xml import etree",
  }),
  ...allowed(noSystem, {
    "another function of the module": "import os\nos.getcwd()",
    "an alias of the module": "import os\no = os\no.getcwd()",
    "a function of its own under that name": "def eval(x):\n    return x\neval(1)",
    "a function of that name in another module": "import numexpr\nnumexpr.eval('1')",
    "a comparison": "f == eval",
  }),
  ...allowed(noSecret, {
    "a key of that name": "user['secret']",
    "a variable of that name": "secret = 1\nsecret",
    "an argument of that name": "f(secret=1)",
    "a format text without it": "'{0.name} {secret}'.format(user, secret=1)".replace(" {secret}", ""),
  }),
]

function refused(rules: Rule[], rule: string, cells: Cells): RefusedCell[] {
  return Object.entries(cells).map(([title, cell]) => {
    const [line, code] = typeof cell === "string" ? [1, cell] : cell
    return { title: `${title} (${rule})`, code, rules, rule, line }
  })
}

function allowed(rules: Rule[], cells: Record<string, string>): PythonCell[] {
  return Object.entries(cells).map(([title, code]) => ({ title, code, rules }))
}
