import { CemError } from "@cem/core";

/** Reasons why a store can't be used, each with what its library or server says of it. */
const PROBLEMS: readonly (readonly [name: string, says: RegExp])[] = [
  ["damaged", /not a database|disk image is malformed/iu],
  ["full", /^OOM |ENOSPC|no space left|database or disk is full|disk full|out of memory/iu],
  ["password", /WRONGPASS|NOAUTH|invalid password|password authentication failed|no password|SCRAM/iu],
  ["tls", /EPROTO|wrong version number|SSL|TLS|certificate/iu],
];

/** A store does not answer, or answers with an error. `details.problem` names the reason where it is known. */
export function storeUnavailable(location: string, cause: unknown): CemError {
  const { code, message } = cause as { code?: string; message?: string };
  // Redis's client notes the command that failed, which may be the one with the password.
  if (cause instanceof Error) delete (cause as { command?: unknown }).command;
  const why = (message || code || String(cause)).replace(/(?<!\.)\.+$/u, "");
  const said = `${code ?? ""} ${message ?? ""}`.trim();
  // One side waits for the other, or hangs up, where only one of them speaks TLS.
  const isOtherProtocol =
    /ECONNRESET/u.test(said) || (location.startsWith("rediss:") && /ETIMEDOUT/u.test(said));
  const problem = PROBLEMS.find(([, says]) => says.test(said))?.[0] ?? (isOtherProtocol ? "tls" : undefined);
  return new CemError("STORE_UNAVAILABLE", `The store at ${location} can't be used: ${why}.`, {
    cause,
    details: { location, ...(problem !== undefined && { problem }) },
  });
}
