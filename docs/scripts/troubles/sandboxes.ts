import type { Troubles } from "./trouble.ts";

/** Errors of sandboxes and the workspace. */
export const SANDBOX_TROUBLES = {
  DISK_FULL: { cause: "The disk is full.", wayOut: "Make room, or put the workspace on another disk." },
  FILES_DAMAGED: {
    cause: "A piece of a file that machines share is missing or was changed in the storage.",
    wayOut: "Put back a backup of the storage and the store of one time. Local copies are unchanged.",
  },
  FILES_UNAVAILABLE: {
    cause: "The storage of files can't be reached, refuses the key, or has no such bucket.",
    wayOut:
      "Check the endpoint, the bucket and the key. What a run wrote meanwhile is kept and shared later.",
  },
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
} satisfies Troubles;
