import { isJSONRPCRequest } from "@modelcontextprotocol/server";
import { isObject } from "./is-object.ts";

/** Between a copy's name and the rest of an id. */
const MARK = ".";
const RUN = "run-";
const COPY = /^[\da-z]{1,64}$/u;

/** An id that says which copy of the server holds what it names. */
export function heldId(copy: string | undefined, id: string): string {
  return copy === undefined ? id : `${copy}${MARK}${id}`;
}

/** The id of a run. */
export function runId(copy: string | undefined, id: string): string {
  return `${RUN}${heldId(copy, id)}`;
}

/** What all copies of the server know a run by. */
export function keyOfRun(id: string): string {
  const held = id.startsWith(RUN) ? id.slice(RUN.length) : id;
  const copy = copyOf(held);
  return copy === undefined ? held : held.slice(copy.length + MARK.length);
}

/** An id without the copy's name. */
export function withoutCopy(copy: string | undefined, id: string): string {
  return copy !== undefined && id.startsWith(`${copy}${MARK}`) ? id.slice(copy.length + MARK.length) : id;
}

/** The copy of the server that holds what a request is about: its session, its state, or the run whose result it reads. */
export function holderOf(session: string | null, body: unknown): string | undefined {
  if (session !== null) return copyOf(session);
  if (!isJSONRPCRequest(body)) return undefined;
  const { requestState, arguments: given } = (body.params ?? {}) as Record<string, unknown>;
  if (typeof requestState === "string") return copyOf(requestState);
  const handle = isObject(given) ? given["handle"] : undefined;
  return typeof handle === "string" && handle.startsWith(RUN) ? copyOf(handle.slice(RUN.length)) : undefined;
}

function copyOf(id: string): string | undefined {
  const [copy = "", rest] = id.split(MARK, 2);
  return rest !== undefined && COPY.test(copy) ? copy : undefined;
}
