import type { KnownErrorCode } from "@cem/core";

/** What a reader needs to know of an error, beside what its message says. */
export interface Trouble {
  /** When it happens. */
  cause: string;
  /** What to do about it. */
  wayOut: string;
}

/** Every error of this project, with its cause and the way out. The page of error codes is made from it. */
export const TROUBLES: Readonly<Record<KnownErrorCode, Trouble>> = {
  ABORTED: {
    cause: "The signal of the request was aborted, the client cancelled, or Ctrl-C was pressed.",
    wayOut: "Nothing, where that was meant. Calls that had been made are in the result's `toolCalls`.",
  },
  AGENT_DISPOSED: {
    cause: "A request came after `agent.dispose()`.",
    wayOut: "Make a new agent, or dispose it after the last request.",
  },
  ARGUMENT_MISSING: {
    cause: "The rules found the tool, and the task does not say a value that it requires. Nothing ran.",
    wayOut: "Say the value in the task. `details.steps` names the step and the arguments.",
  },
  TASK_NOT_UNDERSTOOD: {
    cause: "The rules found a tool but could not read all words of a step, and do not guess.",
    wayOut: "Say that step in plainer words, bring code with `cem exec`, or set `llm.enabled: true`.",
  },
  CODE_EMPTY: { cause: "The code is empty or blank.", wayOut: "Send code." },
  CODE_INVALID: {
    cause: "The code does not parse as TypeScript.",
    wayOut: "Mend the line and column that the message names.",
  },
  CODE_MISTYPED: {
    cause: "A call does not fit the types of its tool, so the code was not run.",
    wayOut:
      "Mend what the findings name. `execution.type_check: off` runs code unchecked; arguments are still checked at the call.",
  },
  CODE_REFUSED: {
    cause: "The review found an import, a pattern or a tool that is not allowed.",
    wayOut:
      "Mend the findings, which have lines, or change `guardrails.blocked_patterns` and `allowed_tools`.",
  },
  CODE_THREW: {
    cause: "The code ran and threw.",
    wayOut: "Look at the message and the line. Where a tool failed, its own error is in `details.toolError`.",
  },
  NO_TOOL: {
    cause: "No tool is near enough to a step of the task. Nothing ran.",
    wayOut: "See what there is with `cem tools`, and add a server that can do it with `cem add`.",
  },
  QUERY_EMPTY: { cause: "The search has no words.", wayOut: "Say what the tool should do." },
  RUN_KILLED: {
    cause: "The guest crossed a limit that ends the process, such as calls or bytes written, or was killed.",
    wayOut: "`details.reason` names the limit; each has a setting in `execution.limits`.",
  },
  RUN_NOT_FOUND: {
    cause: "The handle is wrong, or nobody asked for the run within ten minutes.",
    wayOut: "Run it again, and read the result sooner.",
  },
  RUN_OUT_OF_MEMORY: {
    cause: "The program needed more memory than `guardrails.max_memory_mb`.",
    wayOut: "Work in smaller parts, or allow more.",
  },
  RUN_TIMED_OUT: {
    cause: "The run took longer than `guardrails.max_execution_time`. Waiting for a person does not count.",
    wayOut: "Do less at once, or allow more.",
  },
  TASK_EMPTY: { cause: "The task has no words.", wayOut: "Say what is to be done." },
  UNEXPECTED: {
    cause: "Something threw an error that nothing here foresaw.",
    wayOut: "Run it again with `--verbose`. If it comes back, report it with that log.",
  },
  ARGUMENTS_INVALID: {
    cause: "The arguments of a call do not fit the tool's schema. The tool was not called.",
    wayOut: "Mend the arguments that the message lists. `cem tools <server>` shows the signature.",
  },
  FLOW_DENIED: {
    cause: "`privacy.rules` keep a personal value of one server from going to another.",
    wayOut: "Where that is meant, add a rule that allows it, as the hint shows.",
  },
  BUDGET_EXCEEDED: {
    cause: "`guardrails.budgets` are used up for the run or the session.",
    wayOut: "Do less, wait for the next session, or raise the budget.",
  },
  NOT_APPROVED: {
    cause: "The call needs a person's yes, and a person said no or nobody could be asked.",
    wayOut: "Answer the question, use a client that can ask, or exempt the tool in `guardrails.approvals`.",
  },
  NOT_RECORDED: {
    cause: "With `--replay`, the code made a call that the recording does not have.",
    wayOut: "Record again with `--record`.",
  },
  RATE_LIMITED: {
    cause: "`guardrails.rate_limits` or the number of waiting runs is reached.",
    wayOut: "Wait as long as the message says.",
  },
  RESULT_INVALID: {
    cause: "The tool answered, and the answer does not fit its own output schema.",
    wayOut: "Tell the server's author. Code that catches the error finds the answer in its details.",
  },
  RESULT_NOT_FOUND: {
    cause: "No result is kept under this path, or it was removed since.",
    wayOut: "Run again; results are kept under `/workspace/results`.",
  },
  RESULT_NOT_JSON: {
    cause: "A tool or the code returned something that JSON has no form for, such as a function or a cycle.",
    wayOut: "Return plain data.",
  },
  RESULT_TOO_LARGE: {
    cause: "A value is larger than what may be passed at once and can't be kept as a handle.",
    wayOut: "Ask the tool for less, or raise `execution.limits.max_payload_mb`.",
  },
  TOKEN_UNKNOWN: {
    cause: "An argument has a token such as `[[EMAIL:…]]` of another session, or one that was made up.",
    wayOut: "Get the value anew in this session, and pass its token as it is.",
  },
  TOOL_CHANGED: {
    cause: "The server's definition of the tool is not the one that you accepted.",
    wayOut: "Look at the difference with `cem generate <server>`, then accept it with `--accept`.",
  },
  TOOL_FAILED: {
    cause: "The tool ran and reported an error of its own.",
    wayOut: "The message is the tool's. Code can catch it.",
  },
  TOOL_INVALID: {
    cause: "A tool file or a tool given in code has a shape that can't be called.",
    wayOut: "Mend what the message names: the function, its input schema or its name.",
  },
  TOOL_NAME_TAKEN: {
    cause: "Two tools would have the same name on one server.",
    wayOut: "Rename one of them.",
  },
  TOOL_NOT_ALLOWED: {
    cause: "`guardrails.allowed_tools`, `blocked_tools` or the run's own `allowedTools` leave the tool out.",
    wayOut: "Use another tool, or change that list.",
  },
  TOOL_NOT_GENERATED: {
    cause: "The server has the tool, and no file was written for it here.",
    wayOut: "Run `cem generate <server>`.",
  },
  TOOL_NOT_FOUND: {
    cause: "The server has no tool of this name.",
    wayOut: "Take the name that the message suggests, or look with `cem tools <server>`.",
  },
  TOOL_TIMEOUT: {
    cause: "The tool did not answer within the server's `timeout`.",
    wayOut: "See whether the call did its work before you repeat it. Raise `timeout` on the server's entry.",
  },
  AUTH_FAILED: {
    cause: "The sign-in to the server was refused or not finished.",
    wayOut: "Try again with `cem auth <server>`.",
  },
  AUTH_REQUIRED: {
    cause: "The server wants a sign-in or a header that is missing.",
    wayOut: "Sign in with `cem auth <server>`, or set `headers` on its entry.",
  },
  PROTOCOL_ERROR: {
    cause:
      "What the server sent is no MCP, or not allowed at that point. Text on a stdio server's stdout is a common reason.",
    wayOut: "Start the server by hand and look at its output; set `protocol: legacy` for an old one.",
  },
  SERVER_BUSY: {
    cause: "Too many calls or clients wait for the server already.",
    wayOut: "Wait, or raise `max_connections`, or set `connections: shared` for a server without state.",
  },
  SERVER_CLOSED: {
    cause: "The connection ended while a call was under way, so its outcome is unknown.",
    wayOut: "See whether the call did its work, then run again: the next call connects anew.",
  },
  SERVER_DISABLED: {
    cause: "The server's entry has `enabled: false`.",
    wayOut: "Set `enabled: true`.",
  },
  SERVER_DOWN: {
    cause: "The URL does not answer, or the command does not start or ended.",
    wayOut: "`cem servers` tries each one and shows the reason; run its command by hand.",
  },
  SERVER_EXISTS: {
    cause: "`cem add` was given a name that is in use.",
    wayOut: "Choose another name, or take the old one out with `cem remove <server>`.",
  },
  SERVER_FOLDER_TAKEN: {
    cause: "The folder `servers/<name>` has files of your own, which are not overwritten.",
    wayOut: "Add the server under another name.",
  },
  SERVER_NOT_FOUND: {
    cause: "No server of this name is set up.",
    wayOut: "Look with `cem servers` and `cem tools`.",
  },
  TOOL_FILES_BUSY: {
    cause: "Another process writes the same generated files just now.",
    wayOut: "Wait until it has ended, then try again.",
  },
  TOOL_FILES_UNSAFE_FOLDER: {
    cause: "The folder for generated files is a link, or lies elsewhere than in the servers folder.",
    wayOut: "Replace the link by a folder.",
  },
  TOOL_LOCK_INVALID: {
    cause: "The lock file beside generated tools was edited or cut.",
    wayOut:
      "Restore it from version control, or delete it and run `cem generate`, which takes what the servers say now.",
  },
  TOOL_REMOVED: {
    cause: "A file calls a tool that its server no longer has.",
    wayOut: "Run `cem generate <server>`, and change the code that used the tool.",
  },
  VARIABLE_MISSING: {
    cause: "An entry of `mcp_servers` refers to `${NAME}`, and no such variable is set.",
    wayOut: "Set it in the environment or in `.env`, or give a default: `${NAME:-default}`.",
  },
  DISK_FULL: { cause: "The disk is full.", wayOut: "Make room, or put the workspace on another disk." },
  GUEST_START_FAILED: {
    cause: "The sandbox process ended before it was ready.",
    wayOut: "`cem doctor` tries each sandbox and says why it does not start.",
  },
  ISOLATION_TOO_WEAK: {
    cause: "`execution.min_isolation` asks for more than this host gives.",
    wayOut: "Install bubblewrap or microsandbox (`cem doctor` says which helps), or ask for less.",
  },
  LIMIT_INVALID: {
    cause: "A limit of a run is no number, not above 0, or too large.",
    wayOut: "Give a number in the range that the message has.",
  },
  RESULTS_UNUSABLE: {
    cause: "`results` in the workspace is a link, a file, or can't be written.",
    wayOut: "Move it away; the folder is made anew.",
  },
  SANDBOX_BUSY: {
    cause: "All guests were busy for as long as a run may wait.",
    wayOut: "Run less at once, or raise `optimizations.sandbox_pool_size`.",
  },
  SANDBOX_DISPOSED: {
    cause: "A run was asked of a sandbox that was disposed.",
    wayOut: "Create another one.",
  },
  SANDBOX_IMAGE_UNUSABLE: {
    cause: "The microVM's image has no glibc, or is none.",
    wayOut: "Set `execution.sandbox_image` to `auto` or to an image with glibc.",
  },
  SANDBOX_SERVER_FAILED: {
    cause: "The server of microsandbox 0.2 could not do what it was asked.",
    wayOut: "Look at that server's log.",
  },
  SANDBOX_SERVER_REFUSED: {
    cause: "The server of microsandbox 0.2 refused the key.",
    wayOut: "Set `execution.msb_api_key` (`MSB_API_KEY`).",
  },
  SANDBOX_SERVER_UNREACHABLE: {
    cause: "Nothing answers at `execution.msb_server_url`.",
    wayOut: "Start that server, or remove the setting to use microVMs without one.",
  },
  SANDBOX_SPEC_INVALID: {
    cause: "A mount, a path or a host of the sandbox's settings is not possible or not safe.",
    wayOut: "Mend the setting that the message names.",
  },
  SANDBOX_UNAVAILABLE: {
    cause: "A sandbox was asked for by name, and it can't start on this host.",
    wayOut: "`cem doctor` says what is missing. `execution.sandbox_type: auto` takes another one.",
  },
  SESSION_NOT_FOUND: { cause: "No session of this name was logged.", wayOut: "Look with `cem sessions`." },
  SESSIONS_DISABLED: {
    cause: "Sessions are kept only with state and auto-save on.",
    wayOut: "Set `execution.state.enabled` and `execution.state.auto_save` to `true`.",
  },
  STATE_BUSY: {
    cause: "Another process has held the state file's lock for long.",
    wayOut: "End that process, or try again when it is done.",
  },
  STATE_CONFLICT: {
    cause: "Somebody else wrote the state between your reading and writing it.",
    wayOut: "Read it again, then save.",
  },
  STATE_DISABLED: {
    cause: "`execution.state.enabled` is `false`.",
    wayOut: "Switch it on, or keep data in files of `/workspace`.",
  },
  STATE_PATH_INVALID: {
    cause: "The state file's path leads out of the workspace.",
    wayOut: "Name a file in it, such as `report.json`.",
  },
  STATE_TOO_LARGE: {
    cause: "The state would be larger than it may be.",
    wayOut: "Keep large data in files of `/workspace` and their names in the state.",
  },
  STATE_UNREADABLE: {
    cause: "The state file is damaged or was edited.",
    wayOut: "Mend it as JSON or YAML, or move it away.",
  },
  QUEUE_FULL: {
    cause: "As many runs wait as may, or as many of one customer as they leave room for others.",
    wayOut: "Wait as long as `retryAfterMs` says, or start more workers.",
  },
  QUEUE_KEY_REUSED: {
    cause: "An `idempotencyKey`, or a `runId`, came with another run than the first time.",
    wayOut: "Use a new key for each run.",
  },
  RUN_INTERRUPTED: {
    cause: "The worker was lost after it had called tools that change something.",
    wayOut: "Look at the calls in the details, then decide whether to run again.",
  },
  STORE_CONFLICT: {
    cause: "Another host wrote the value since it was read.",
    wayOut: "Read it again, then write with its new version.",
  },
  STORE_KEY_INVALID: {
    cause: "A key of the store is empty, too long or no text.",
    wayOut: "Use one or more parts, 1,024 bytes in all.",
  },
  STORE_SEALED: {
    cause: "None of the keys in `CEM_STORE_KEYS` opens the value.",
    wayOut: "Give the key it was written with as well.",
  },
  FILES_DAMAGED: {
    cause: "A piece of a file that machines share is missing or was changed in the storage.",
    wayOut: "Put back a backup of the storage and the store of one time. Local copies are unchanged.",
  },
  FILES_UNAVAILABLE: {
    cause: "The storage of files can't be reached, refuses the key, or has no such bucket.",
    wayOut:
      "Check the endpoint, the bucket and the key. What a run wrote meanwhile is kept and shared later.",
  },
  STORE_UNAVAILABLE: {
    cause: "Redis, PostgreSQL or the folder can't be reached, or refused.",
    wayOut: "Check that it runs and that the URL, the user and the password are right.",
  },
  STORE_VALUE_TOO_LARGE: {
    cause: "A value is larger than 64 MiB.",
    wayOut: "Split it, or keep it in a file.",
  },
  WORKSPACE_FULL: {
    cause: "The workspace is far beyond `execution.limits.max_workspace_mb` or `max_workspace_entries`.",
    wayOut: "Delete what is not needed, or allow more.",
  },
  WORKSPACE_LINK_REFUSED: {
    cause: "A symbolic link in the workspace leads out of it, where the sandbox could not hold it.",
    wayOut: "Remove the link. To let code see a folder, use `execution.mount_directories`.",
  },
  WORKSPACE_UNUSABLE: {
    cause: "The workspace folder can't be made or written.",
    wayOut: "Set `execution.workspace_dir` to a folder that can.",
  },
  CUSTOMER_INVALID: {
    cause: "The id is empty, too long or no text.",
    wayOut: "Use the id that your sign-in gives.",
  },
  CUSTOMER_NOT_FOUND: { cause: "No customer has this id.", wayOut: "Look with `cem customers`." },
  CUSTOMER_GONE: {
    cause:
      "The customer was deleted while a run waited or was under way or an agent was open, or is being deleted.",
    wayOut: "Make a new agent, or ask again two seconds later, if the customer is to be there again.",
  },
  CUSTOMER_UNKNOWN: {
    cause: "A request has neither the claim nor the header that names its customer.",
    wayOut: "Check `customers.claim`, `customers.header` and `customers.trusted_proxies`.",
  },
  QUOTA_EXCEEDED: {
    cause: "The customer used up `customers.quotas` for this time.",
    wayOut: "Wait as long as the message says, or raise the quota.",
  },
  SKILLS_DISABLED: { cause: "There is no folder for skills.", wayOut: "Set `execution.skills_dir`." },
  SKILL_INVALID: {
    cause: "Name, description, code or test of a skill break a rule.",
    wayOut: "Mend what the message names.",
  },
  SKILL_NOT_FOUND: { cause: "No skill has this name.", wayOut: "Look with `cem skills`." },
  SKILL_REFUSED: {
    cause: "The skill's code did not pass the review, its types or its own test.",
    wayOut: "Mend what was found, then save it again.",
  },
  EXPRESSION_FAILED: {
    cause: "An expression `${{ … }}` refers to something that is not there, or takes too long.",
    wayOut: 'For a key that may be missing write `a.?key.orValue("none")`.',
  },
  EXPRESSION_INVALID: {
    cause: "An expression of a workflow is not valid CEL.",
    wayOut: "Mend it at the line that the message names.",
  },
  WORKFLOW_INVALID: {
    cause: "The file of a workflow has unknown keys, wrong values or steps that wait for each other.",
    wayOut: "`cem workflow validate <file>` lists all problems with their lines.",
  },
  WORKFLOW_NOT_FOUND: {
    cause: "No workflow has this name.",
    wayOut: "Look with `cem workflow list`, or name a file.",
  },
  WORKFLOW_RUN_BUSY: {
    cause: "Another process carries out this run.",
    wayOut: "Wait for it, or end that process first.",
  },
  WORKFLOW_RUN_NOT_FOUND: { cause: "No run has this id.", wayOut: "Look with `cem workflow list`." },
  WORKFLOW_RUN_UNREADABLE: {
    cause: "The run's files are damaged, were edited, or come from a newer version.",
    wayOut: "Start the workflow anew; what had been done is still in the journal.",
  },
  WORKFLOW_RUN_UNWRITABLE: {
    cause: "The journal can't be written, so no further step is begun.",
    wayOut: "Make room or mend the rights, then `cem workflow resume <run>`.",
  },
  WORKFLOW_STEP_TIMED_OUT: {
    cause: "A step took longer than its `timeout`.",
    wayOut: "Raise it, or set `on_error: retry` for a step that may be repeated.",
  },
  WORKFLOW_STEP_UNCERTAIN: {
    cause:
      "A step had begun when the run was killed or its connection broke; nobody knows whether it did its work.",
    wayOut:
      "Look, then resume with `--done <step>` or `--repeat <step>`. Mark steps that may be repeated `idempotent: true`.",
  },
  WORKFLOW_TIMED_OUT: {
    cause: "The workflow took longer than its `timeout`.",
    wayOut: "Raise it, then `cem workflow resume <run>`.",
  },
  WORKFLOW_VARIABLES_INVALID: {
    cause: "A variable is missing, unknown or of the wrong type.",
    wayOut: "Give it with `--var name=value`.",
  },
  EMBEDDER_FAILED: {
    cause: "The model that compares tools by meaning failed; tools are searched by words.",
    wayOut: "Check the model's folder, or the provider's key and URL.",
  },
  EMBEDDER_MODEL_CHANGED: {
    cause: "A file of the model differs from the one that was pulled or that is known.",
    wayOut: "Check the mirror, then `cem model pull` again.",
  },
  EMBEDDER_MODEL_NOT_FOUND: {
    cause: "There is no model in that folder or under that name.",
    wayOut: "Correct `optimizations.embedding_model_dir`, or run `cem model pull`.",
  },
  EMBEDDER_PULL_FAILED: {
    cause: "The model could not be downloaded or kept.",
    wayOut: "Name a mirror in `optimizations.model_mirror`, or a folder that can be written.",
  },
  LLM_ANSWER_UNUSABLE: {
    cause: "The model answered with neither code nor a call, or its answer was cut.",
    wayOut: "Raise `llm.max_tokens`, or take a stronger model.",
  },
  LLM_BUDGET_EXCEEDED: {
    cause: "The next request would go beyond the task's budget.",
    wayOut: "Raise `llm.budget_tokens` or `llm.budget_usd`.",
  },
  LLM_ENDPOINT_MISSING: {
    cause: "The provider is Azure, and no endpoint is set.",
    wayOut: "Set `llm.azure_endpoint` (`AZURE_OPENAI_ENDPOINT`).",
  },
  LLM_FAILED: { cause: "The model's API answered with an error of its own.", wayOut: "Try again later." },
  LLM_KEY_MISSING: {
    cause: "`llm.enabled` is on, and the provider's key is not set.",
    wayOut: "Set `OPENAI_API_KEY` or `AZURE_OPENAI_API_KEY`.",
  },
  LLM_KEY_REFUSED: {
    cause: "The API refused the key.",
    wayOut: "`cem doctor --config` shows where the key comes from.",
  },
  LLM_PACKAGE_MISSING: {
    cause: "The optional package `openai` is not installed.",
    wayOut: "Run `npm install openai@7`.",
  },
  LLM_RATE_LIMITED: {
    cause: "The API's rate limit held after all retries.",
    wayOut: "Wait, or raise `llm.max_retries`.",
  },
  LLM_REQUEST_REFUSED: {
    cause: "The API does not take the request: an unknown model, deployment or parameter.",
    wayOut: "Check `llm.model`, or on Azure `llm.azure_deployment_name` and `llm.azure_api_version`.",
  },
  LLM_TIMED_OUT: { cause: "The API did not answer in time.", wayOut: "Raise `llm.timeout`." },
  LLM_UNREACHABLE: {
    cause: "The API's address does not answer.",
    wayOut: "Check `llm.base_url` or `llm.azure_endpoint`, and that the service runs.",
  },
  TYPE_CHECKER_DISPOSED: {
    cause: "A check was asked of a type checker that was disposed.",
    wayOut: "Create another one.",
  },
  BROWSER_FAILED: {
    cause: "The browser did not start or went away.",
    wayOut: "Start it by hand to see why. As root it needs `--no-sandbox`, which is set then.",
  },
  BROWSER_NOT_FOUND: {
    cause: "No Chromium was found.",
    wayOut: "Install Chromium, or name it in `CHROMIUM_PATH`.",
  },
  FORM_INVALID: {
    cause: "The definition of the form is not valid.",
    wayOut: "Mend the lines that the message names.",
  },
  FORM_NOT_FILLED: {
    cause: "Values are missing, do not fit, or the target refused them. Nothing was sent.",
    wayOut: "`missing` and `problems` of the result name the fields.",
  },
  FORM_TARGET_FAILED: {
    cause: "The page or the file can't be opened, or led to an origin that is not allowed.",
    wayOut: "Check the target; add origins to `allowed_origins`.",
  },
  PACKAGE_MISSING: {
    cause: "A feature needs an optional package.",
    wayOut: "Install the package that the message names.",
  },
  ADDRESS_REFUSED: {
    cause: "The address can be reached by other machines, and there is no authorization.",
    wayOut: "Set `CEM_SERVER_TOKEN` or `server.auth_issuer`, or listen on 127.0.0.1.",
  },
  ADDRESS_UNUSABLE: {
    cause: "The port is taken, or the address is none of this machine.",
    wayOut: "Choose another with `--port` and `--host`.",
  },
  AUTH_INVALID: {
    cause: "Token and issuer are both set, or one of them can't be used.",
    wayOut: "Set one of `server.auth_token` and `server.auth_issuer`.",
  },
  SERVER_CLOSING: { cause: "The server is shutting down.", wayOut: "Ask again when it is back." },
  VAULT_UNREADABLE: {
    cause: "The file of a session's values was written with another key, or is damaged.",
    wayOut: "Set `CEM_VAULT_KEY` to that key, or delete the file.",
  },
  VAULT_KEY_INVALID: {
    cause: "Values are to be kept on disk, and the key is missing or has the wrong length.",
    wayOut: "Set `CEM_VAULT_KEY` to 32 bytes in hex: `openssl rand -hex 32` makes some.",
  },
  RECOGNIZER_FAILED: {
    cause: "The model that finds names is not there, or its package is missing.",
    wayOut: "Install `@huggingface/transformers`, and set `privacy.names_model` to the model's folder.",
  },
  AUDIT_BROKEN: {
    cause: "The chain of hashes of the audit log is broken: lines are missing or were changed.",
    wayOut:
      "Take the log for tampered with from that line on. Keep the last hash elsewhere, and check with `--expect`.",
  },
  AUDIT_UNWRITABLE: {
    cause: "The audit log can't be opened or written.",
    wayOut: "Set `logging.audit_file` to a file that can be written.",
  },
  CONFIG_INVALID: {
    cause: "`config.yaml`, `.env` or a variable has an unknown setting or a value that is not allowed.",
    wayOut: "Mend each line that the message names.",
  },
  CONFIG_NOT_FOUND: {
    cause: "`--config` or `CEM_CONFIG` names a file that is not there.",
    wayOut: "Correct the name, or make one with `cem init`.",
  },
  FOLDER_UNTRUSTED: {
    cause: "Files of a folder that you have not trusted want to do something on this host.",
    wayOut: "Look at it with `cem trust`, and say yes if you would run it by hand.",
  },
  LOG_UNWRITABLE: { cause: "The log file can't be written.", wayOut: "Set `logging.file` to one that can." },
  OPTION_INVALID: {
    cause: "A function was given an option that it does not have, or a value of the wrong kind.",
    wayOut: "Take the name that the message suggests.",
  },
  PLUGIN_FAILED: {
    cause: "A plugin threw, or gave something that can't be used. It was left out.",
    wayOut: "`cem plugins list` shows how each one stands.",
  },
  PLUGIN_INCOMPATIBLE: {
    cause: "The plugin is made for another version of the ports.",
    wayOut: "Update the plugin or cem.",
  },
  PLUGIN_INVALID: {
    cause: "The plugin's file or package is not there, is no plugin, or refuses its options.",
    wayOut: "Correct its entry under `plugins`.",
  },
  PLUGIN_TIMEOUT: {
    cause: "A part of a plugin took longer than it may.",
    wayOut: "Tell its author. After two in a row the part is used no more.",
  },
  RECORDING_INVALID: {
    cause: "The file is no recording.",
    wayOut: "Name a file that `--record` wrote.",
  },
  RECORDING_UNREADABLE: { cause: "The recording can't be read.", wayOut: "Check its name and its rights." },
  RECORDING_UNWRITABLE: {
    cause: "The recording can't be written.",
    wayOut: "Name a file in a folder that can be written.",
  },
  BENCH_RUN_FAILED: {
    cause: "A program of the benchmark failed, so no time is reported.",
    wayOut: "Run that program alone, or `cem doctor`.",
  },
  DOCTOR_FOUND_BROKEN: {
    cause: "`cem doctor` found something that is set up and does not work.",
    wayOut: "Each line that it prints has the way out.",
  },
  FILE_NOT_FOUND: { cause: "There is no such file.", wayOut: "Check the name and the folder you are in." },
  FILE_UNREADABLE: {
    cause: "The file is a folder, or you may not read it.",
    wayOut: "Check the name and its rights.",
  },
  INPUT_EMPTY: { cause: "Nothing came on stdin, or the file is empty.", wayOut: "Give some input." },
  INPUT_NOT_UTF8: { cause: "The input is no UTF-8.", wayOut: "Convert it to UTF-8." },
  INPUT_TOO_LARGE: {
    cause: "Code, a task or another input is longer than it may be.",
    wayOut: "Shorten it, or put the data into a file of the workspace.",
  },
  INTERRUPTED: {
    cause: "Ctrl-C, or a signal of the system. Nothing is left running.",
    wayOut: "Start it again when you like.",
  },
  NODE_TOO_OLD: { cause: "This Node.js is older than 22.19.", wayOut: "Install a newer one." },
  NOT_WRITABLE: {
    cause: "A file or folder can't be written.",
    wayOut: "Check its rights, or work in another folder.",
  },
  USAGE: {
    cause: "A command, an option or an argument is unknown or missing.",
    wayOut: "`cem help <command>` shows all of them, with examples.",
  },
};
