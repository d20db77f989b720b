import type { Troubles } from "./trouble.ts";

/** Errors of MCP servers. */
export const SERVER_TROUBLES = {
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
} satisfies Troubles;
