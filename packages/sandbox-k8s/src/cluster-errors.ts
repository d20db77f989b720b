import { CemError, isObject, parseJson } from "@cem/core";

const FORBIDDEN = 403;
const NOT_FOUND = 404;
const MAX_SHOWN_CHARACTERS = 300;

/** The HTTP status of the API server's answer; `undefined` when there was none. */
function statusOf(error: unknown): number | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "number" ? code : undefined;
}

export function isNotFound(error: unknown): boolean {
  return statusOf(error) === NOT_FOUND;
}

/** @param what - The action that failed: `create a Sandbox`. */
export function clusterError(error: unknown, what: string, server: string): CemError {
  if (CemError.isInstance(error)) return error;
  const status = statusOf(error);
  const said = messageOf(error);
  const details = { server, status, reason: said };
  const because =
    status === undefined
      ? `The API server at ${server} can't be reached (${said}).`
      : `The API server at ${server} answered ${status}: ${said}${/[.!]$/.test(said) ? "" : "."}`;
  return new CemError("SANDBOX_UNAVAILABLE", `Can't ${what}. ${because}${advice(status)}`, {
    details,
    cause: error,
  });
}

function advice(status: number | undefined): string {
  if (status === FORBIDDEN)
    return " The service account needs the role that the Helm chart creates with guests.enabled.";
  if (status === NOT_FOUND)
    return " Install agent-sandbox with its extensions, and the SandboxTemplate in the namespace of the guests.";
  return "";
}

/** The message of the cluster's Status object, else that of the error's cause or of the error itself, cut to length. */
function messageOf(error: unknown): string {
  const body = error instanceof Error && "body" in error ? error.body : undefined;
  const text = typeof body === "string" ? readMessage(body) : undefined;
  if (text !== undefined) return text.slice(0, MAX_SHOWN_CHARACTERS);
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return (cause || error.message || error.name).slice(0, MAX_SHOWN_CHARACTERS);
}

function readMessage(body: string): string | undefined {
  const status = parseJson(body);
  if (status === undefined) return body.trim() || undefined;
  return isObject(status) && typeof status["message"] === "string" ? status["message"] : undefined;
}
