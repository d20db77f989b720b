import { textOr, withServer, type ErrorEntries } from "./entry.ts";

/** Errors of MCP servers, and of serving. */
export const SERVER_ERRORS = {
  AUTH_FAILED: {
    meaning: "The sign-in to the server was refused or not finished.",
    fix: "Try again with `cem auth <server>`, or correct the setting that the message names.",
    hint: ({ redirectUrl, ...details }) =>
      redirectUrl === undefined
        ? withServer((server) => `Try again with  cem auth ${server}`)(details)
        : `Register an app there by hand, with the redirect URL ${textOr(redirectUrl, "")}, and set auth.client_id and auth.callback_port of ${textOr(details["server"], "it")} under mcp_servers, and auth.client_secret if you get one.`,
  },
  AUTH_REQUIRED: {
    meaning: "The server wants a sign-in or a header that is missing, or refused the one it got.",
    fix: "Sign in with `cem auth <server>`, or set `headers` on its entry.",
    hint: withServer((server) => `Sign in with  cem auth ${server}`),
  },
  PROTOCOL_ERROR: {
    meaning: "The server answered in a way the protocol does not allow.",
    cause:
      "What the server sent is not MCP, or not allowed at that point. Text on a stdio server's stdout is a common reason.",
    fix: "Start the server by hand and look at its output; set `protocol: legacy` for an old one.",
  },
  SERVER_BUSY: {
    meaning:
      "Too many calls or clients wait for the server already, or it answered with HTTP status 429 (too many requests).",
    fix: "Wait, as long as `Retry-After` in the message says, or raise `max_connections`, or set `connections: shared` for a server without state.",
    hint: ({ server, maxConnections }) =>
      maxConnections === undefined
        ? undefined
        : `Raise max_connections for ${textOr(server, "it")} under mcp_servers, or set connections: shared if it keeps no state.`,
  },
  SERVER_CLOSED: {
    meaning: "The connection to the server was closed.",
    cause: "The connection ended while a call was under way, so its outcome is unknown.",
    fix: "See whether the call did its work, then run again: the next call connects anew.",
  },
  SERVER_DISABLED: {
    meaning: "The server's entry has `enabled: false`.",
    fix: "Set `enabled: true`.",
    hint: ({ server }) => `Set enabled: true for ${textOr(server, "it")} under mcp_servers.`,
  },
  SERVER_DOWN: {
    meaning: "The URL does not answer, or with a status of 5xx, or the command does not start or ended.",
    cause:
      "It may happen while a call is under way: then the message says that the call may have been executed.",
    fix: "See how it stands now with `cem servers`.",
    hint: "fix",
  },
  SERVER_EXISTS: {
    meaning: "The configuration has a server of this name already.",
    fix: "Choose another name, or take the old one out with `cem remove <server>`.",
    hint: withServer((server) => `Take it out first with  cem remove ${server}  or choose another name.`),
  },
  SERVER_FOLDER_TAKEN: {
    meaning: "The folder `servers/<name>` has files of your own, which are not overwritten.",
    fix: "Add the server under another name.",
    hint: withServer((server) => `Take it out with  cem remove ${server}  and add it under another name.`),
  },
  SERVER_NOT_FOUND: {
    meaning: "There is no server of this name.",
    fix: "Look with `cem servers` and `cem tools`.",
    hint: ({ known, nearest }) =>
      known === undefined && nearest === undefined
        ? "See which there are with  cem tools  and  cem servers"
        : undefined,
  },
  TOOL_FILES_BUSY: {
    meaning: "Another process is writing the same generated files.",
    fix: "Wait until it has ended, then try again.",
  },
  TOOL_FILES_UNSAFE_FOLDER: {
    meaning: "The folder for generated files is a link or lies outside the servers folder.",
    fix: "Replace the link by a folder.",
  },
  TOOL_LOCK_INVALID: {
    meaning: "The lock file beside generated tools was edited or cut, or another version of cem wrote it.",
    fix: "Restore it from version control, or use the version that wrote it. Without it, `cem generate` takes every definition as it is now, unseen.",
  },
  TOOL_REMOVED: {
    meaning: "The server no longer has a tool that a generated file calls.",
    fix: "Run `cem generate <server>`, and change the code that used the tool.",
    hint: withServer((server) => `Bring its files up to date with  cem generate ${server}`),
  },
  VARIABLE_MISSING: {
    meaning: "An entry of `mcp_servers` refers to `${NAME}`, and no such variable is set.",
    fix: "Set it in the environment or in `.env`, or give a default: `${NAME:-default}`.",
    hint: ({ variable }) => {
      const name = textOr(variable, "it");
      return `Set ${name} in the environment or in .env, or write \${${textOr(variable, "NAME")}:-default} in its place.`;
    },
  },
  ADDRESS_REFUSED: {
    meaning: "The address can be reached by other machines, and there is no authorization.",
    fix: "Set `CEM_SERVER_TOKEN` or `server.auth_issuer`, or listen on 127.0.0.1.",
    hint: ({ host }) =>
      host === undefined
        ? undefined
        : "Set server.auth_token (CEM_SERVER_TOKEN) or server.auth_issuer, or listen on 127.0.0.1.",
  },
  ADDRESS_UNUSABLE: {
    meaning: "The port is taken, or the address is not one of this machine.",
    fix: "Choose another with `--host` and `--port`, or `server.host` and `server.port`.",
    hint: "fix",
  },
  AUTH_INVALID: {
    meaning: "Token and issuer are both set, or one of them can't be used.",
    fix: "Set one of `server.auth_token` (`CEM_SERVER_TOKEN`) and `server.auth_issuer`. A token is made by: openssl rand -hex 32.",
    hint: "fix",
  },
  SERVER_CLOSING: {
    meaning: "The server is shutting down and takes no new work.",
    fix: "Ask again when it is back.",
  },
} satisfies ErrorEntries;
