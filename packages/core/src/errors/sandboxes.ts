import { MORE_ROOM } from "./runs.ts";
import { textOr, type ErrorEntries } from "./entry.ts";

/** Hints by the reason that a store gives for its refusal. */
const STORE_HINTS: Readonly<Record<string, string>> = {
  busy: "Raise its limit (of PostgreSQL: max_connections; of Redis: maxclients): each process opens up to 10 connections.",
  database:
    "Create it ( createdb NAME ; Redis numbers its own, mostly from 0 to 15), or correct its name in store.url (CEM_STORE_URL) or queue.url (CEM_QUEUE_URL).",
  evicts:
    "Set it with  redis-cli config set maxmemory-policy noeviction  and in redis.conf, or name a server of its own in queue.url (CEM_QUEUE_URL).",
  damaged: "Move the file aside to begin with an empty store, or put a copy of it back.",
  newer: "Update this program to the version of the others that use the store.",
  full: "Make room there, or raise its limit (of Redis: maxmemory), then try again.",
  password: "Correct the user and the password in store.url (CEM_STORE_URL) or queue.url (CEM_QUEUE_URL).",
  readonly:
    "Name its primary in store.url (CEM_STORE_URL) or queue.url (CEM_QUEUE_URL), or end its read-only mode.",
  rights:
    "Let the user write there: of PostgreSQL  grant create, usage on schema public to NAME  ; of Redis, all keys and commands by its ACL.",
  tls: "Use rediss:// for a port with TLS and redis:// for one without; for PostgreSQL set sslmode; NODE_EXTRA_CA_CERTS names a certificate authority of your own.",
};

/** Errors of sandboxes, the workspace, the store and customers. */
export const SANDBOX_ERRORS = {
  DISK_FULL: {
    meaning: "The disk has no room left for what is to be written.",
    fix: "Make room on that disk. `execution.workspace_dir`, `customers.dir` and `privacy.vault_dir` can name folders on another one.",
    hint: "fix",
  },
  FILES_DAMAGED: {
    meaning: "A piece of a file that machines share is missing or was changed in the storage.",
    fix: "Set `store.files` back if it was changed. Else put a backup of the storage and of `store.url` back, both of one time; or delete the customer with `cem customers delete <id>` and begin anew.",
    hint: "fix",
  },
  FILES_UNAVAILABLE: {
    meaning: "The storage of files can't be reached, refuses the key, or has no such bucket.",
    fix: "Correct `store.files` (`CEM_STORE_FILES`) and the access key of AWS in the environment; the bucket has to be there.",
    hint: "fix",
  },
  GUEST_START_FAILED: {
    meaning: "The sandbox process ended before it was ready.",
    fix: "See what this host can run with `cem doctor`.",
    hint: "fix",
  },
  ISOLATION_TOO_WEAK: {
    meaning: "The host can't give the isolation level that is required.",
    fix: "Set `execution.min_isolation` to a level that this host has, or install what gives it: bubblewrap for `namespaces`, microsandbox for `microvm`. See which with `cem doctor`.",
    hint: "fix",
  },
  LIMIT_INVALID: {
    meaning: "A limit of a run is not a number above 0, or is too large.",
    fix: "Give a number in the range that the message has.",
  },
  RESULTS_UNUSABLE: {
    meaning: "`results` in the workspace is a link, a file, or can't be written.",
    fix: "Move it away; the folder is made anew.",
  },
  SANDBOX_BUSY: {
    meaning: "All guests were busy for as long as a run may wait.",
    fix: "Run less at once, or raise `optimizations.sandbox_pool_size`.",
  },
  SANDBOX_DISPOSED: { meaning: "The sandbox was disposed before the run.", fix: "Create another one." },
  SANDBOX_IMAGE_UNUSABLE: {
    meaning: "The microVM's image has no glibc, or is not an image.",
    fix: "Set `execution.sandbox_image` to another image, or to auto.",
    hint: "fix",
  },
  SANDBOX_SERVER_FAILED: {
    meaning: "The server of microsandbox 0.2 failed to execute a request.",
    fix: "Look at that server's log.",
  },
  SANDBOX_SERVER_REFUSED: {
    meaning: "The server of microsandbox 0.2 refused the API key.",
    fix: "Set `execution.msb_api_key` (`MSB_API_KEY`) to a key of that server.",
    hint: "fix",
  },
  SANDBOX_SERVER_UNREACHABLE: {
    meaning: "Nothing answers at `execution.msb_server_url`.",
    fix: "Start the server, or correct `execution.msb_server_url` (`MSB_SERVER_URL`).",
    hint: "fix",
  },
  SANDBOX_SPEC_INVALID: {
    meaning: "A mount, a path or a host of the sandbox's settings is not possible or not safe.",
    fix: "Correct the setting that the message names.",
  },
  SANDBOX_UNAVAILABLE: {
    meaning: "A sandbox was asked for by name, and it can't start on this host.",
    fix: "`cem doctor` says what is missing. `execution.sandbox_type: auto` takes another one.",
    hint: ({ sandbox, chosenBy }) => {
      const where =
        sandbox === undefined ? "" : `${textOr(chosenBy, "It")} asks for ${textOr(sandbox, "it")} by name. `;
      return `${where}With execution.sandbox_type: auto another sandbox is taken where there is one. See which with  cem doctor`;
    },
  },
  SESSION_NOT_FOUND: {
    meaning: "There is no log of this session.",
    fix: "Give the number of one in `sessions` of the workspace, or `last`.",
    hint: "fix",
  },
  SESSIONS_DISABLED: {
    meaning: "Sessions are not logged.",
    fix: "Set `execution.state.enabled` and `execution.state.auto_save` to true.",
    hint: "fix",
  },
  STATE_BUSY: {
    meaning:
      "Another process has been writing the same file of state, a session or the configuration for long.",
    fix: "End that process, or try again when it is done.",
  },
  STATE_CONFLICT: {
    meaning: "The state was changed by someone else since it was read.",
    fix: "Read it again, then save.",
  },
  STATE_DISABLED: {
    meaning: "`execution.state.enabled` is `false`.",
    fix: "Set `execution.state.enabled` to true, or keep data in files of /workspace.",
    hint: "fix",
  },
  STATE_PATH_INVALID: {
    meaning: "The path of a state file leads out of the workspace.",
    fix: "Name a file in it, such as `report.json`.",
  },
  STATE_TOO_LARGE: {
    meaning: "The state is larger than its limit.",
    fix: "Keep large data in files of `/workspace` and their names in the state.",
  },
  STATE_UNREADABLE: {
    meaning: "A state file can't be read or parsed: it is damaged or was edited.",
    fix: "Correct it as JSON or YAML, or move it away.",
  },
  QUEUE_FULL: {
    meaning: "The queue is full.",
    cause: "As many runs wait as may, or as many of one customer as they leave room for others.",
    fix: "Wait as long as `retryAfterMs` says, or start more workers.",
  },
  QUEUE_KEY_REUSED: {
    meaning: "The `runId` of a run was used for another run.",
    fix: "Use a new one for each run.",
  },
  RUN_INTERRUPTED: {
    meaning: "The worker was lost after it had called tools that change something.",
    fix: "Look at the calls in the details, then decide whether to run again.",
  },
  STORE_CONFLICT: {
    meaning: "A value in the store was changed by someone else since it was read.",
    fix: "Read it again, then write with its new version.",
  },
  STORE_KEY_INVALID: {
    meaning: "A key of the store has no part, too many, or a part that is empty, too long or no text.",
    fix: "Use one or more parts, 1,024 bytes in all.",
  },
  STORE_SEALED: {
    meaning: "None of the keys in `CEM_STORE_KEYS` opens the value.",
    fix: "Give the key it was written with as well, in `store.keys` (`CEM_STORE_KEYS`). Keys can't be added to a store that has values without: begin with an empty one.",
    hint: "fix",
  },
  STORE_UNAVAILABLE: {
    meaning: "Redis, PostgreSQL or the folder can't be reached, or refused.",
    fix: "Check that it runs and that the URL, the user and the password are right.",
    hint: ({ location, problem }) => {
      const known = STORE_HINTS[textOr(problem, "")];
      if (known !== undefined) return known;
      const place = textOr(location, "");
      if (place.includes("://") && problem !== "silent")
        return "The server answers, and refuses: its log says more. store.url (CEM_STORE_URL) or queue.url (CEM_QUEUE_URL) names it.";
      if (/^rediss?:/u.test(place))
        return "Start one with  docker run -d -p 6379:6379 valkey/valkey:8  or  apt install redis-server  , or correct queue.url (CEM_QUEUE_URL) or store.url (CEM_STORE_URL).";
      return /^postgres(?:ql)?:/u.test(place)
        ? "Start one with  docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres:17  or  apt install postgresql  , or correct store.url (CEM_STORE_URL)."
        : "Set store.url (CEM_STORE_URL) or, for records of runs, runs.dir to a folder that can be written.";
    },
  },
  STORE_VALUE_TOO_LARGE: {
    meaning: "A value is larger than 64 MiB.",
    fix: "Split it, or keep it in a file.",
  },
  WORKSPACE_FULL: {
    meaning: "The workspace is far beyond `execution.limits.max_workspace_mb` or `max_workspace_entries`.",
    fix: MORE_ROOM,
    hint: "fix",
  },
  WORKSPACE_LINK_REFUSED: {
    meaning:
      "A symbolic link in the workspace leads out of it, or up and so out of it once it is moved, where the sandbox could not hold it.",
    fix: "Remove the link. To let code see a folder, use `execution.mount_directories`.",
  },
  WORKSPACE_UNUSABLE: {
    meaning: "The workspace folder can't be made or written.",
    fix: "Set `execution.workspace_dir` to a folder that can be written, or name your project's configuration with `--config`.",
    hint: "fix",
  },
  CUSTOMER_INVALID: {
    meaning: "The id can't be a customer's: it is empty, too long or no text.",
    fix: "Use the id that your sign-in gives.",
  },
  CUSTOMER_NOT_FOUND: {
    meaning: "There is no customer of this id.",
    fix: "See which there are with `cem customers`.",
    hint: "fix",
  },
  OWNER_GONE: {
    meaning:
      "The customer was deleted while a run waited or was under way or an agent was open, or is being deleted.",
    fix: "Make a new agent, or ask again two seconds later, if the customer is to be there again.",
  },
  CUSTOMER_UNKNOWN: {
    meaning: "A request has neither the claim nor the header that names its customer.",
    fix: "Check `customers.claim`, `customers.header` and `server.trusted_proxies`.",
  },
  QUOTA_EXCEEDED: {
    meaning: "The customer used up `customers.quotas` for this time.",
    fix: "Wait as long as the message says, or raise the quota.",
  },
} satisfies ErrorEntries;
