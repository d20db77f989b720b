/** The text below the options in each command's help. */
export const PROGRAM = `
Examples:
  cem init                                    make a project here, with a first tool
  cem run "Calculate 5 + 3"                   do a task
  cem run "Calculate 5 + 3" --json            the same, for a program to read
  cem tools                                   list the tools
  cem serve                                   be an MCP server for Claude, Cursor, VS Code, …
  cem doctor                                  check that everything works
  cem plugins                                 commands and more that plugins add

Exit codes: 0 success, 1 the task failed, was refused or ran out of time, 2 wrong use, 130 Ctrl-C.`;

export const RUN = `
Examples:
  cem run "Calculate 5 + 3 and get weather for San Francisco"
  cem run --quiet "Calculate 5 + 3"           the value alone
  cem run --timeout 10 --json "Calculate 5 + 3"
  cem run --dry-run "Write a report to report.txt"   what it would change
  cat task.txt | cem run -
  cem run -- "-5 + 3"                         a task that begins with "-"`;

export const EXEC = `
The code imports tools as "./servers/<server>/index.ts" and skills as "./skills/<name>/index.ts".
Its result is what it returns at the top level, or exports as default.

Examples:
  cem exec report.ts
  echo 'return 6 * 7' | cem exec -
  cem exec --min-isolation namespaces --json report.ts
  cem exec --dry-run --json report.ts > plan.json
  cem exec --plan plan.json report.ts         the changes of that plan and no others`;

export const CALL = `
Values are read as the tool's parameters want them: days=3 is a number where it takes one.

Examples:
  cem call weather.get_weather location=Oslo
  cem call calculator.add a=5 b=3 --quiet
  cem call crm.update id=7 tags:='["new"]'
  cem call crm.update '{"id":7,"tags":["new"]}'`;

export const KEEP_WARM = `
A process in the background keeps agents, guests, the catalog and MCP servers of this folder ready, so that cem exec,
cem run and cem call answer sooner, with the same answers. Each command has an agent of its own. It is yours alone, and
is passed over when the configuration, the tools, the environment or cem itself have changed since.

Examples:
  cem keep-warm
  cem keep-warm --idle 60
  cem keep-warm status
  cem keep-warm stop`;

export const EMIT = `
The file needs the package @modelcontextprotocol/client and nothing else. Values that may be secret are read from the
environment.

Examples:
  cem emit client crm --out src/crm.ts`;

export const COMPLETION = `
Examples:
  source <(cem completion bash)               in ~/.bashrc
  source <(cem completion zsh)                in ~/.zshrc, after compinit
  cem completion fish > ~/.config/fish/completions/cem.fish`;

export const TRUST = `
MCP servers, host tools (*.host.ts), folders outside of this one and keys for addresses that its files name are held
back until you say yes. The yes is for exactly what is shown: what changes later is held back again. For CI and
containers: CEM_TRUST_FOLDER=1, or a list of folders, in the environment.

Examples:
  cem trust                                   show what this folder asks for, and ask
  cem trust ../project --yes
  cem trust --list
  cem trust --remove`;

export const TOOLS = `
Examples:
  cem tools
  cem tools weather
  cem tools --json`;

export const SEARCH = `
Examples:
  cem search "read a file"
  cem search weather --detail full --max 3
  cem search weather --json`;

export const SERVE = `
stdio serves one client, which starts this command itself:
  { "mcpServers": { "code-execution": { "command": "npx", "args": ["-y", "@cem/cli", "serve"] } } }
http serves many at http://127.0.0.1:3000/mcp, sse older ones at /sse. Listening on an address that other machines
can reach needs server.auth_token (CEM_SERVER_TOKEN) or server.auth_issuer.
The log goes to stderr.

Examples:
  cem serve
  cem serve http --port 8080
  cem serve --profile code
  cem serve --cost                            how many tokens the tools of each profile take`;

export const DOCTOR = `
--config alone lists every setting with its value and where that comes from; --config FILE lists those of
that file. Secrets are never shown. --security shows what protects this host and what does not, and connects to nothing.

Examples:
  cem doctor
  cem doctor --config
  cem doctor --security
  cem doctor --json`;

export const INIT = `
Files and folders that exist are not changed.

Examples:
  cem init
  cem init my-project`;

export const SKILLS = `
A skill is a folder with a SKILL.md and code that programs import as "./skills/<name>/index.ts". What a model wrote is a
proposal: nothing can import it before it is promoted. Before a skill is added or promoted it is reviewed, its types are
checked, and its index.test.ts is run in the sandbox.

Examples:
  cem skills
  cem skills show double_number
  cem skills add ../their-skills/report
  cem skills learn last                       propose skills from runs that worked
  cem skills promote monthly_report`;

export const RUNS = `
Runs of cem and of servers are recorded in .cem/runs, or in the store of store.url: code, calls, times, what was printed.
Values of persons and secrets are tokens there. A replay runs the code again, and its calls are made for real; with
--recorded they are answered as they were, and nothing is changed. runs.records: false switches records off.

Examples:
  cem runs
  cem runs --status error --since 2d
  cem runs show last
  cem runs replay run-tbE6NbkVYnPd --recorded`;

export const SESSIONS = `
Each run is kept in the log of its session: files sessions/session_001.json and so on in the workspace, while
execution.state.auto_save is true. A task that resumes a session is told what its earlier tasks did.

Examples:
  cem sessions
  cem sessions show last
  cem sessions resume 3 "Continue from step 2"
  cem sessions export last --out session.json`;

export const VERIFY = `
Starts the server that cem serve would be, over stdio and over HTTP, and asks it as clients of both generations of the
protocol do. Each tool that a server has by itself is called with something harmless; what that leaves is removed.
Tools of your own are only looked at. With a language model switched on, four short tasks are asked of it.

Examples:
  cem verify
  cem verify --profile code --json`;

export const CUSTOMERS = `
Each customer has a folder in customers.dir, which nobody else's code can see. Removing one leaves nothing of it.

Examples:
  cem customers
  cem customers usage user_12345
  cem customers clean --inactive 30d --dry-run
  cem customers delete user_12345
  cem run --customer user_12345 "Calculate 5 + 3"`;

export const EXAMPLES = `
Each runs in a folder of its own with the sample servers and skills, which is removed afterwards. MCP_MODE=true runs
05, 06, 08, 12 and 14 against a server: the one that MCP_SERVER_URL names, else one that is started for them.

Examples:
  cem examples
  cem examples run 05
  MCP_MODE=true cem examples run 05 08`;

export const PLUGINS = `
Plugins are named under plugins in config.yaml: a path (./my-plugin.ts), or a package that is installed there. They add
tools, detectors, guards, generators, selectors, sandboxes, steps of workflows, transports, listeners and commands: a
command of a plugin is called as  cem <name>. They run on this host, so those of a folder need its trust: cem trust.

Examples:
  cem plugins list
  cem plugins list --json`;

export const WORKFLOW = `
A workflow is named by its name in the configuration or by the path of its file. Its runs are kept in the workspace, and
one that was ended goes on where it stood. A step that may have been executed is not repeated unless it is marked
idempotent, or you say so.

Examples:
  cem workflow run report.yaml --var city=Oslo --var 'days=[1,2]'
  cem workflow run report.yaml --dry-run      what it would call
  cem workflow validate report.yaml
  cem workflow list                           workflows and runs
  cem workflow show report-1f0c2a9b3d
  cem workflow resume report-1f0c2a9b3d --done send
  cem workflow graph report.yaml --mermaid
  cem workflow from-run last > report.yaml    of the last task that worked`;

export const MODEL = `
The files go into the user's cache folder (optimizations.model_cache_dir, CEM_MODELS_DIR), with the revision and the
digest of each, which are checked whenever the model is loaded. Nothing is downloaded at any other time. A mirror is
set by optimizations.model_mirror or HF_ENDPOINT. It runs with the package @huggingface/transformers.

Examples:
  cem model pull                              a small model for English
  cem model pull Xenova/bge-base-en-v1.5      another; set optimizations.embedding_model to use it
  HF_ENDPOINT=https://hub.example cem model pull`;

export const AUDIT = `
Each line has the hash of the line before: a line that is missing or was changed is found, and by the file .head beside
the log a tail that was cut off. Who can write both can cut the log unseen: keep the printed hash elsewhere, and give it
with --expect the next time.

Examples:
  cem audit verify
  cem audit verify logs/audit.jsonl --expect 9f86d081884c7d65…`;

export const FORM = `
A form fills a web page in the system's Chromium, which takes the package playwright-core, or a PDF file, which takes
@cantoo/pdf-lib. What is missing is asked for at the terminal. Files are read from the workspace and written there.

Examples:
  cem form show registration.yaml
  cem form validate registration.yaml --data ada.yaml
  cem form fill registration.yaml --data ada.yaml --trial
  cem form fill registration.yaml --data ada.yaml --workspace papers`;

export const BENCH = `
Examples:
  cem bench pooling                           first and later runs, with and without a pool
  cem bench pooling --sequence 01,03,01,07    these programs in this order
  cem bench pooling --example 01 -n 5 --svg pooling.svg`;

export const MIGRATE = `
Reads config.yaml, .env, servers/, skills/ and workspace/ of a project in Python (AgentKernel, code_execution_mcp,
mcpruntime) and shows what it would make of them. Tools and skills in Python become skeletons in TypeScript, with their
signatures and comments, whose bodies are yours to write. Files that are there are never changed.

Examples:
  cem migrate                    look, and make nothing
  cem migrate ../old --write     make the files beside the old ones`;
