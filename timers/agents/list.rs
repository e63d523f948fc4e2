//! Lists the runtimes with known agents. A new runtime needs a folder next to this file and an entry
//! in [`RUNTIMES`].

use super::{Build, Runtime, RuntimeAgent, SourceFile};

/// Defines an agent: the prefix of the ids of its timers, its folder and files, and its recipes.
macro_rules! agent {
    ($prefix:literal, $folder:literal: [$($file:literal),+], $clocks:expr, [$($recipe:expr),+]) => {
        RuntimeAgent {
            prefix: $prefix,
            sources: &[$(SourceFile { name: $file, text: include_str!(concat!($folder, "/", $file)) }),+],
            clocks: $clocks,
            recipes: &[$($recipe),+],
        }
    };
    ($prefix:literal, $folder:literal: [$($file:literal),+], [$($recipe:expr),+]) => {
        agent!($prefix, $folder: [$($file),+], clocks!($folder), [$($recipe),+])
    };
}

macro_rules! clocks {
    ($folder:literal) => {
        Some(include_str!(concat!($folder, "/clocks.json")))
    };
}

const fn recipe(
    programs: &'static [&'static str],
    steps: &'static [&'static str],
    run: &'static str,
) -> Build {
    Build {
        programs,
        steps,
        run,
    }
}

/// Compiles Java 11 and later; `HighResCounter.java` needs a package that the platform does not
/// export and may remove.
macro_rules! javac {
    ($files:literal) => {
        concat!(
            "$0 -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -m jdk.compiler/com.sun.tools.javac.Main -proc:none ",
            "-encoding UTF-8 -XDstringConcat=inline --add-exports java.base/jdk.internal.perf=ALL-UNNAMED -sourcepath $here -d $here ",
            $files
        )
    };
}
/// Java flags: one thread collects garbage, in a heap that is touched before the measurement and is
/// large enough to collect rarely. A thread that enters a loop waits for the loop's compilation. No
/// file in a shared folder is mapped (`UsePerfData`), which a JVM that is killed would leave.
const JAVA: &str = "$0 -XX:+UseSerialGC -XX:-UsePerfData -Xms64m -Xmn48m -XX:+AlwaysPreTouch -Xbatch -XX:CompileCommand=quiet \
    -XX:CompileCommand=option,Loops::*,double,CompileThresholdScaling,0.1 --add-exports \
    java.base/jdk.internal.perf=ALL-UNNAMED -cp $here -Xlog:gc,jit+compilation=debug:file=$log Agent";
const JAVA_PROGRAMS: &[&str] = &["java"];

/// Builds a project of .NET from the files in its folder alone: without the files of that name in
/// the folders above, and without servers that outlive the build.
const MSBUILD: &str = "$0 build $here/agent.csproj --configuration Release --nologo --output $here/out -p:SdkVersion=$said \
    -noAutoResponse -nodeReuse:false -p:UseSharedCompilation=false -p:ImportDirectoryBuildProps=false \
    -p:ImportDirectoryBuildTargets=false -p:ImportDirectoryPackagesProps=false -p:DiscoverEditorConfigFiles=false \
    -p:DiscoverGlobalAnalyzerConfigFiles=false -p:RestoreConfigFile=$here/NuGet.config";

/// Flags of Node's engine with which the agent controls compilation and garbage collection. Engines
/// change these flags; the second recipe omits the flags that an engine may reject.
macro_rules! node {
    ($flags:literal) => {
        recipe(
            &["node|nodejs"],
            // Flags that Node accepts since 16.9.
            &[concat!(
                "$0 --allow-natives-syntax ",
                $flags,
                " -e \"Object.hasOwn({}, 'a')\""
            )],
            concat!("$0 --allow-natives-syntax ", $flags, " $here/agent.js"),
        )
    };
}

/// Compiles C++, with the given flags and libraries.
macro_rules! cpp {
    ($programs:literal, $flags:literal) => {
        recipe(
            &[$programs],
            &[concat!(
                "$0 -std=c++17 -O2 -pthread ",
                $flags,
                " -o $here/agent $here/agent.cpp"
            )],
            "$here/agent",
        )
    };
}
/// Runs Erlang with a given time warp mode.
macro_rules! erlang {
    ($flags:literal) => {
        recipe(
            &["erl", "erlc"],
            &["$1 -o $here $here/agent.erl"],
            concat!(
                "$0 ",
                $flags,
                " -boot no_dot_erlang -noinput -noshell -pa $here -s agent main"
            ),
        )
    };
}
/// Runs an agent in a page of a browser.
macro_rules! browser {
    ($prefix:literal, [$($recipe:expr),+]) => {
        agent!($prefix, "js": ["agent.js", "../browser/plain.html", "../browser/serve.js", "../browser/user.js"], clocks!("browser"), [$($recipe),+])
    };
}

/// Chromium, headless, without downloads and first-run questions, and with timers that behave as in a
/// visible page. The first step fails where it cannot start: it refuses to run as root with its
/// sandbox.
macro_rules! chromium {
    ($sandbox:literal, $what:literal) => {
        concat!(
            "$0 --headless=new ", $sandbox, " --no-first-run --no-default-browser-check --no-proxy-server \
             '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' --disable-background-networking \
             --disable-background-timer-throttling --disable-breakpad --disable-component-update --disable-default-apps \
             --disable-dev-shm-usage --disable-extensions --disable-gpu --disable-renderer-backgrounding --disable-sync \
             --mute-audio ", $what
        )
    };
    ($sandbox:literal) => {
        recipe(
            &["chromium|chromium-browser|google-chrome|google-chrome-stable"],
            &[chromium!($sandbox, "--user-data-dir=$here/tried --dump-dom about:blank"), "$0 --version"],
            chromium!($sandbox, "--user-data-dir=$profile $page"),
        )
    };
}

/// The folders in which browsers keep settings.
const BROWSER: &str =
    "HOME=$here/. XDG_CONFIG_HOME=$here/. XDG_CACHE_HOME=$here/. XDG_RUNTIME_DIR=$here/.";

const JVM: &str = "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH";
const DOTNET: &str = "DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE CORECLR_ENABLE_PROFILING \
    MSBUILDSDKSPATH MONO_ENV_OPTIONS MONO_OPTIONS MONO_PATH MONO_CONFIG \
    DOTNET_CLI_TELEMETRY_OPTOUT=1";
const PYTHON: &str = "PYTHONSTARTUP PYTHONPATH PYTHONHOME";
const NODE: &str = "NODE_OPTIONS NODE_PATH NODE_V8_COVERAGE";
const DENO: &str = "DENO_V8_FLAGS DENO_NO_PACKAGE_JSON=1";
const BUN: &str = "BUN_OPTIONS BUN_INSPECT BUN_INSPECT_PRELOAD";
/// Also of compilers that call that of C to assemble and link.
const C: &str =
    "CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX CCC_OVERRIDE_OPTIONS";
const GO: &str = "GOFLAGS GODEBUG GO111MODULE=off GOENV=off GOWORK=off GOTOOLCHAIN=local \
    GOCACHE=$here/cache";
const ERLANG: &str = "ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ERL_COMPILER_OPTIONS ERL_INETRC";

/// Defines all known runtimes, a row each: its name, its aliases, what it is, how to install it, the
/// environment variables that change how it runs, and its agents.
macro_rules! runtimes {
    ($($name:literal, $aliases:expr, $about:literal, $remedy:literal, $variables:expr, [$($agent:expr),+ $(,)?];)*) => {
        /// All known runtimes.
        pub const RUNTIMES: &[Runtime] = &[$(Runtime {
            name: $name,
            aliases: &$aliases,
            about: $about,
            remedy: $remedy,
            variables: &$variables,
            agents: &[$($agent),+],
        }),*];
    };
}

runtimes! {
    "java", ["openjdk"], "The Java platform",
        "install a JDK, 11 or later, as in `apt install openjdk-17-jdk-headless`", [JVM], [agent!(
            "java",
            "java": ["Agent.java", "Clock.java", "Clocks.java", "HighResCounter.java", "Json.java", "Loops.java",
                "ClockUnavailable.java", "Pairs.java", "Questions.java", "TwoThreads.java", "Waiter.java", "Waits.java"],
            None,
            [
                recipe(
                    JAVA_PROGRAMS,
                    &[javac!("$here/Agent.java $here/Loops.java $here/HighResCounter.java")],
                    JAVA
                ),
                recipe(
                    JAVA_PROGRAMS,
                    &[javac!("$here/Agent.java $here/Loops.java")],
                    JAVA
                )
            ]
        )];
    "dotnet", [".net", "c#", "csharp", "cs"], ".NET, or Mono",
        "install Mono, as in `apt install mono-mcs mono-runtime`, or the .NET SDK", [DOTNET], [
            agent!(
                "dotnet",
                "dotnet": ["Agent.cs", "Clocks.cs", "Json.cs", "Loops.cs", "Waits.cs", "agent.csproj", "global.json", "NuGet.config"],
                None,
                [recipe(
                    &["dotnet"],
                    &[
                        "$0 --version",
                        MSBUILD
                    ],
                    "$0 $here/out/agent.dll"
                )]
            ),
            // The language level is C# 6.
            agent!(
                "dotnet",
                "dotnet": ["Agent.cs", "Clocks.cs", "Json.cs", "Loops.cs", "Waits.cs"],
                None,
                [recipe(
                    &["mono", "mcs"],
                    &["$1 -optimize+ -out:$here/agent.exe -recurse:$here/*.cs"],
                    "$0 $here/agent.exe"
                )]
            ),
        ];
    "python", ["cpython", "python3", "py"], "Python",
        "install Python 3.8 or later, as in `apt install python3`", [PYTHON], [
            agent!("python", "python": ["agent.py", "waits.py"], None, [recipe(
                &["python3|python"],
                // The command on the path may be a script that searches for the interpreter at each
                // start.
                &["$0 -I -S -c \"import sys; assert sys.version_info >= (3, 8), 'this is ' + sys.version.split()[0]; print(sys.executable)\""],
                "$said -I -S -B $here/agent.py"
            )]),
        ];
    "node", ["node.js", "nodejs", "javascript", "js"], "Node",
        "install Node 16.9 or later, as in `apt install nodejs`", [NODE], [
            agent!("node", "node": ["agent.js", "waits.js", "package.json"], None, [
                node!("--expose-gc --no-concurrent-recompilation --single-threaded-gc --min-semi-space-size=64 --max-semi-space-size=64"),
                node!("")
            ]),
        ];
    "cpp", ["c++", "c", "gcc", "g++", "clang", "libstdc++", "libc++"], "C and C++, with the installed compiler",
        "install a compiler, as in `apt install g++`; `libopenmpi-dev` brings MPI_Wtime", [C], [agent!("cpp", "cpp": ["agent.cpp"], [
            cpp!("mpicxx", "-fopenmp -DWITH_MPI"),
            cpp!("g++|c++|clang++", "-fopenmp"),
            cpp!("g++|c++|clang++", "")
        ])];
    "go", ["golang"], "Go",
        "install Go, as in `apt install golang-go`", [GO], [
        // Go builds a folder that contains a file in another language only from within that folder.
agent!("go", "go": ["agent.go", "nanotime.s"], [recipe(
            &["go"],
            &["$0 build -o agent ."],
            "$here/agent"
        )])];
    "ruby", [], "Ruby",
        "install Ruby 3.0 or later, as in `apt install ruby`", ["RUBYOPT RUBYLIB"], [agent!("ruby", "ruby": ["agent.rb"], [recipe(
            &["ruby"],
            &["$0 --disable-gems -c $here/agent.rb"],
            "$0 --disable-gems $here/agent.rb"
        )])];
    "php", [], "PHP",
        "install PHP 8.0 or later, as in `apt install php-cli`", ["PHPRC PHP_INI_SCAN_DIR"], [agent!("php", "php": ["agent.php"], [recipe(
            &["php"],
            &["$0 -n -l $here/agent.php"],
            "$0 -n $here/agent.php"
        )])];
    "perl", [], "Perl",
        "install Perl with Time::HiRes, as in `apt install perl`", ["PERL5OPT PERL5LIB PERLLIB PERL5DB PERL_UNICODE"], [agent!("perl", "perl": ["agent.pl"], [recipe(
            &["perl"],
            &["$0 -c $here/agent.pl"],
            "$0 $here/agent.pl"
        )])];
    "erlang", ["beam", "otp"], "Erlang, in the default time warp mode and with multi-time warp",
        "install Erlang, as in `apt install erlang-base`", [ERLANG], [
            agent!("erlang", "erlang": ["agent.erl"], [erlang!("")]),
            agent!("erlang-warp", "erlang": ["agent.erl"], [erlang!("+C multi_time_warp")]),
        ];
    "deno", [], "Deno",
        "install Deno 2 or later, as in `npm install -g deno`", [NODE, DENO], [
            agent!("deno", "js": ["main.mjs", "agent.js", "package.json"], clocks!("deno"), [recipe(
                &["deno"],
                &[],
                "$0 run --quiet --no-config --no-lock --no-remote $here/main.mjs"
            )]),
        ];
    "bun", [], "Bun",
        "install Bun, as in `npm install -g bun`", [NODE, BUN], [
            agent!("bun", "js": ["main.mjs", "agent.js", "package.json", "tsconfig.json", "bunfig.toml"], clocks!("bun"), [recipe(
                &["bun"],
                &[],
                "$0 run $here/main.mjs"
            )]),
        ];
    "chromium", ["chrome"], "Chromium",
        "install Chromium, as in `apt install chromium`", [BROWSER, "CHROMIUM_FLAGS"], [browser!("chromium", [chromium!(""), chromium!("--no-sandbox")])];
    "firefox", ["mozilla firefox"], "Firefox",
        "install Firefox, as in `apt install firefox-esr`", [BROWSER], [browser!("firefox", [recipe(
            &["firefox-esr|firefox"],
            &["$0 --version"],
            "$0 --headless --no-remote --profile $profile $page"
        )])];
}
