//! The runtimes that hosts are known for. A new one is a folder beside this file and an entry here.

use super::{Hosts, Recipe, Runtime, Source};

macro_rules! sources {
    ($folder:literal: $($name:literal),+) => {
        &[$(Source { name: $name, text: include_str!(concat!($folder, "/", $name)) }),+]
    };
}

macro_rules! clocks {
    ($folder:literal) => {
        Some(include_str!(concat!($folder, "/clocks.json")))
    };
}

/// Java 11 and later. `HighResCounter.java` needs a package that the platform does not export.
const JAVA: &[Source] = sources!(
    "java": "Agent.java", "Clock.java", "Clocks.java", "HighResCounter.java", "Json.java", "Loops.java", "NotHere.java",
    "Pairs.java", "Questions.java", "Together.java", "Waiter.java", "Waits.java"
);
/// C# 6, for Mono and for .NET.
const DOTNET: &[Source] =
    sources!("dotnet": "Agent.cs", "Clocks.cs", "Json.cs", "Loops.cs", "Waits.cs");
/// Python 3.8 and later.
const PYTHON: &[Source] = sources!("python": "agent.py", "waits.py");
/// Node 16 and later.
const NODE: &[Source] = sources!("node": "agent.js", "waits.js");
const CPP: &[Source] = sources!("cpp": "agent.cpp");
const ERLANG: &[Source] = sources!("erlang": "agent.erl");
/// Deno and Bun.
const JS: &[Source] = sources!("js": "main.mjs", "agent.js");

/// A script that its runtime reads as it is.
const SCRIPT: Recipe = Recipe {
    prefix: "",
    programs: &[],
    sources: &[],
    clocks: None,
    steps: &[],
    run: &[],
};

/// What is on the path may be a script that looks for the interpreter at each start; this asks for
/// itself.
const PYTHON_ITSELF: &str = "import sys; assert sys.version_info >= (3, 8), 'it is ' + sys.version.split()[0]; print(sys.executable)";
/// What Node has from 16.9 on.
const HAS_OWN: &str = "Object.hasOwn({}, 'a')";

/// A compiler of C++, with what it has beside the language: MPI and OpenMP, one of them, or none.
const fn cpp(
    programs: &'static [&'static [&'static str]],
    steps: &'static [&'static [&'static str]],
) -> Recipe {
    Recipe {
        prefix: "cpp",
        programs,
        sources: CPP,
        clocks: clocks!("cpp"),
        steps,
        run: &["$here/agent"],
    }
}

/// Erlang, with a mode of its time.
const fn erlang(prefix: &'static str, run: &'static [&'static str]) -> Recipe {
    Recipe {
        prefix,
        programs: &[&["erl"], &["erlc"]],
        sources: ERLANG,
        clocks: clocks!("erlang"),
        steps: &[&["$1", "-o", "$here", "$here/agent.erl"]],
        run,
    }
}

/// Loops in WebAssembly, and who runs them.
const fn wasi(
    prefix: &'static str,
    programs: &'static [&'static [&'static str]],
    sources: &'static [Source],
    steps: &'static [&'static [&'static str]],
    run: &'static [&'static str],
) -> Recipe {
    Recipe {
        prefix,
        programs,
        sources,
        clocks: clocks!("wasi"),
        steps,
        run,
    }
}

/// What is on the path may be a script that looks for the interpreter at each start; this asks for
/// itself, and for the module.
const PYTHON_WITH_WASMTIME: &str = "import sys, wasmtime; print(sys.executable)";

/// A place in a browser.
const fn browser(
    prefix: &'static str,
    programs: &'static [&'static [&'static str]],
    run: &'static [&'static str],
) -> Recipe {
    Recipe {
        prefix,
        programs,
        sources: sources!("js": "agent.js"),
        clocks: clocks!("browser"),
        steps: &[],
        run,
    }
}

const CHROMIUM: &[&[&str]] = &[&[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
]];
const FIREFOX: &[&[&str]] = &[&["firefox-esr", "firefox"]];
/// A folder with a file that is not Go is built where it is. What is compiled on the way is kept
/// beside it.
const GO_BUILD: &str =
    "cd \"$1\" && GO111MODULE=off GOFLAGS= GOCACHE=\"$1/cache\" exec \"$2\" build -o agent .";

const GXX: &[&str] = &["g++", "c++", "clang++"];

/// All of them.
pub const RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "java",
        called: &["openjdk"],
        about: "The Java platform",
        remedy: "install a JDK, 11 or later, as in `apt install openjdk-17-jdk-headless`",
        hosts: Hosts::Java(JAVA),
    },
    Runtime {
        name: "dotnet",
        called: &[".net"],
        about: ".NET, or Mono",
        remedy: "install Mono, as in `apt install mono-mcs mono-runtime`, or the .NET SDK",
        hosts: Hosts::Dotnet(DOTNET),
    },
    Runtime {
        name: "python",
        called: &["cpython"],
        about: "Python",
        remedy: "install Python 3.8 or later, as in `apt install python3`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "python",
            programs: &[&["python3", "python"]],
            sources: PYTHON,
            steps: &[&["$0", "-I", "-S", "-c", PYTHON_ITSELF]],
            run: &["$said", "-I", "-S", "-B", "$here/agent.py"],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "node",
        called: &["node.js", "nodejs"],
        about: "Node",
        remedy: "install Node 16.9 or later, as in `apt install nodejs`",
        // Flags of its engine let the host say when to compile and when to collect. Engines change
        // them; one that refuses those that keep compilers and collectors out of the way does
        // without.
        hosts: Hosts::Made(&[&[
            Recipe {
                prefix: "node",
                programs: &[&["node", "nodejs"]],
                sources: NODE,
                steps: &[&[
                    "$0",
                    "--allow-natives-syntax",
                    "--expose-gc",
                    "--no-concurrent-recompilation",
                    "--single-threaded-gc",
                    "--min-semi-space-size=64",
                    "--max-semi-space-size=64",
                    "-e",
                    HAS_OWN,
                ]],
                run: &[
                    "$0",
                    "--allow-natives-syntax",
                    "--expose-gc",
                    "--no-concurrent-recompilation",
                    "--single-threaded-gc",
                    "--min-semi-space-size=64",
                    "--max-semi-space-size=64",
                    "$here/agent.js",
                ],
                ..SCRIPT
            },
            Recipe {
                prefix: "node",
                programs: &[&["node", "nodejs"]],
                sources: NODE,
                steps: &[&["$0", "--allow-natives-syntax", "-e", HAS_OWN]],
                run: &["$0", "--allow-natives-syntax", "$here/agent.js"],
                ..SCRIPT
            },
        ]]),
    },
    Runtime {
        name: "cpp",
        called: &["c++", "gcc", "clang", "libstdc++", "libc++"],
        about: "C and C++, by the compiler that is there",
        remedy: "install a compiler, as in `apt install g++`; `libopenmpi-dev` brings MPI_Wtime",
        hosts: Hosts::Made(&[&[
            cpp(
                &[&["mpicxx"]],
                &[&[
                    "$0",
                    "-std=c++17",
                    "-O2",
                    "-pthread",
                    "-fopenmp",
                    "-DWITH_MPI",
                    "-o",
                    "$here/agent",
                    "$here/agent.cpp",
                ]],
            ),
            cpp(
                &[GXX],
                &[&[
                    "$0",
                    "-std=c++17",
                    "-O2",
                    "-pthread",
                    "-fopenmp",
                    "-o",
                    "$here/agent",
                    "$here/agent.cpp",
                ]],
            ),
            cpp(
                &[GXX],
                &[&[
                    "$0",
                    "-std=c++17",
                    "-O2",
                    "-pthread",
                    "-o",
                    "$here/agent",
                    "$here/agent.cpp",
                ]],
            ),
        ]]),
    },
    Runtime {
        name: "go",
        called: &["golang"],
        about: "Go",
        remedy: "install Go, as in `apt install golang-go`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "go",
            programs: &[&["go"]],
            sources: sources!("go": "agent.go", "nanotime.s"),
            clocks: clocks!("go"),
            steps: &[&["sh", "-c", GO_BUILD, "sh", "$here", "$0"]],
            run: &["$here/agent"],
        }]]),
    },
    Runtime {
        name: "ruby",
        called: &[],
        about: "Ruby",
        remedy: "install Ruby 3.0 or later, as in `apt install ruby`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "ruby",
            programs: &[&["ruby"]],
            sources: sources!("ruby": "agent.rb"),
            clocks: clocks!("ruby"),
            steps: &[&["$0", "--disable-gems", "-c", "$here/agent.rb"]],
            run: &["$0", "--disable-gems", "$here/agent.rb"],
        }]]),
    },
    Runtime {
        name: "php",
        called: &[],
        about: "PHP",
        remedy: "install PHP 8.0 or later, as in `apt install php-cli`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "php",
            programs: &[&["php"]],
            sources: sources!("php": "agent.php"),
            clocks: clocks!("php"),
            steps: &[&["$0", "-n", "-l", "$here/agent.php"]],
            run: &["$0", "-n", "$here/agent.php"],
        }]]),
    },
    Runtime {
        name: "perl",
        called: &[],
        about: "Perl",
        remedy: "install Perl with Time::HiRes, as in `apt install perl`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "perl",
            programs: &[&["perl"]],
            sources: sources!("perl": "agent.pl"),
            clocks: clocks!("perl"),
            steps: &[&["$0", "-c", "$here/agent.pl"]],
            run: &["$0", "$here/agent.pl"],
        }]]),
    },
    Runtime {
        name: "luajit",
        called: &["lua"],
        about: "LuaJIT",
        remedy: "install LuaJIT, as in `apt install luajit`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "luajit",
            programs: &[&["luajit"]],
            sources: sources!("luajit": "agent.lua"),
            clocks: clocks!("luajit"),
            run: &["$0", "$here/agent.lua"],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "r",
        called: &["gnu r"],
        about: "R, with the packages microbenchmark and bench where these are there",
        remedy: "install R, as in `apt install r-base-core`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "r",
            programs: &[&["Rscript"]],
            sources: sources!("r": "agent.R"),
            clocks: clocks!("r"),
            run: &["$0", "--vanilla", "$here/agent.R"],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "erlang",
        called: &["beam", "otp"],
        about: "Erlang, with the time that it smooths and with the one that it warps",
        remedy: "install Erlang, as in `apt install erlang-base`",
        hosts: Hosts::Made(&[
            &[erlang(
                "erlang",
                &[
                    "$0", "-noinput", "-noshell", "-pa", "$here", "-s", "agent", "main",
                ],
            )],
            &[erlang(
                "erlang-warp",
                &[
                    "$0",
                    "+C",
                    "multi_time_warp",
                    "-noinput",
                    "-noshell",
                    "-pa",
                    "$here",
                    "-s",
                    "agent",
                    "main",
                ],
            )],
        ]),
    },
    Runtime {
        name: "ocaml",
        called: &[],
        about: "OCaml",
        remedy: "install OCaml 4.12 or later, as in `apt install ocaml-nox`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "ocaml",
            programs: &[&["ocamlopt.opt", "ocamlopt"]],
            sources: sources!("ocaml": "agent.ml"),
            clocks: clocks!("ocaml"),
            steps: &[&[
                "$0",
                "-w",
                "-a",
                "-I",
                "+unix",
                "unix.cmxa",
                "$here/agent.ml",
                "-o",
                "$here/agent",
            ]],
            run: &["$here/agent"],
        }]]),
    },
    Runtime {
        name: "haskell",
        called: &["ghc"],
        about: "Haskell, by GHC",
        remedy: "install GHC, as in `apt install ghc`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "haskell",
            programs: &[&["ghc"]],
            sources: sources!("haskell": "agent.hs"),
            clocks: clocks!("haskell"),
            // A young generation that holds more than an answer needs.
            steps: &[&[
                "$0",
                "-v0",
                "-O1",
                "-threaded",
                "-with-rtsopts=-A64m",
                "$here/agent.hs",
                "-o",
                "$here/agent",
            ]],
            run: &["$here/agent"],
        }]]),
    },
    Runtime {
        name: "sbcl",
        called: &["common lisp", "lisp"],
        about: "Common Lisp, by SBCL",
        remedy: "install SBCL, as in `apt install sbcl`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "sbcl",
            programs: &[&["sbcl"]],
            sources: sources!("sbcl": "agent.lisp"),
            clocks: clocks!("sbcl"),
            run: &["$0", "--noinform", "--script", "$here/agent.lisp"],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "deno",
        called: &[],
        about: "Deno",
        remedy: "install Deno 2 or later, as in `npm install -g deno`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "deno",
            programs: &[&["deno"]],
            sources: JS,
            clocks: clocks!("deno"),
            run: &[
                "$0",
                "run",
                "--quiet",
                "--no-config",
                "--no-lock",
                "--no-remote",
                "$here/main.mjs",
            ],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "bun",
        called: &[],
        about: "Bun",
        remedy: "install Bun, as in `npm install -g bun`",
        hosts: Hosts::Made(&[&[Recipe {
            prefix: "bun",
            programs: &[&["bun"]],
            sources: JS,
            clocks: clocks!("bun"),
            run: &["$0", "run", "$here/main.mjs"],
            ..SCRIPT
        }]]),
    },
    Runtime {
        name: "wasi",
        called: &[
            "webassembly",
            "wasm",
            "wasmtime",
            "wasi of node",
            "wasi of wasmtime",
        ],
        about: "WASI of WebAssembly, by Node and by wasmtime",
        remedy: "install Node 20 or later and wabt, as in `apt install nodejs wabt`, or wasmtime for Python, as in `pip install wasmtime`",
        hosts: Hosts::Made(&[
            &[wasi(
                "wasi-node",
                &[&["node", "nodejs"], &["wat2wasm"]],
                sources!("wasi": "agent.wat", "main.mjs"),
                &[&["$1", "$here/agent.wat", "-o", "$here/agent.wasm"]],
                &["$0", "--no-warnings", "$here/main.mjs", "$here/agent.wasm"],
            )],
            &[wasi(
                "wasi-wasmtime",
                &[&["python3", "python"]],
                sources!("wasi": "agent.wat", "main.py"),
                &[&["$0", "-I", "-c", PYTHON_WITH_WASMTIME]],
                &["$said", "-I", "-B", "$here/main.py", "$here/agent.wat"],
            )],
        ]),
    },
    Runtime {
        name: "chromium",
        called: &["chrome"],
        about: "Chromium: a page, one that is isolated from other origins, and a worker",
        remedy: "install Chromium, as in `apt install chromium`",
        hosts: Hosts::Made(&[
            &[browser(
                "chromium",
                CHROMIUM,
                &["$self", "browser", "chromium", "plain", "$0", "$here"],
            )],
            &[browser(
                "chromium-isolated",
                CHROMIUM,
                &["$self", "browser", "chromium", "isolated", "$0", "$here"],
            )],
            &[browser(
                "chromium-worker",
                CHROMIUM,
                &["$self", "browser", "chromium", "worker", "$0", "$here"],
            )],
        ]),
    },
    Runtime {
        name: "firefox",
        called: &["mozilla firefox"],
        about: "Firefox: a page, one that is isolated from other origins, and a worker",
        remedy: "install Firefox, as in `apt install firefox-esr`",
        hosts: Hosts::Made(&[
            &[browser(
                "firefox",
                FIREFOX,
                &[
                    "$self",
                    "browser",
                    "firefox",
                    "plain",
                    "$0",
                    "$here",
                    "$settings",
                ],
            )],
            &[browser(
                "firefox-isolated",
                FIREFOX,
                &[
                    "$self",
                    "browser",
                    "firefox",
                    "isolated",
                    "$0",
                    "$here",
                    "$settings",
                ],
            )],
            &[browser(
                "firefox-worker",
                FIREFOX,
                &[
                    "$self",
                    "browser",
                    "firefox",
                    "worker",
                    "$0",
                    "$here",
                    "$settings",
                ],
            )],
        ]),
    },
];
