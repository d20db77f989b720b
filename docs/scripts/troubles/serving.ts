import type { Troubles } from "./trouble.ts";

/** Errors of serving. */
export const SERVING_TROUBLES = {
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
} satisfies Troubles;
