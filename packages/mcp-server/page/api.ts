import type { RunSummary } from "../src/console/schemas.ts";

const TOKEN_KEY = "cem-console-token";
/** The page is at `…/console/`, and the API beside it. */
const BASE = new URL("../api/v1/", document.baseURI);

/** An answer that is not what was asked for. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The token stays in this tab and goes into a header: no other page can have a request carry it. */
export function setToken(token: string): void {
  if (token === "") sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, token);
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

async function request(path: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  const answer = await fetch(new URL(path, BASE), { ...init, headers }).catch(() => {
    throw new Error("The server can't be reached.");
  });
  if (answer.ok) return answer;
  const told = (await answer.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  throw new ApiError(answer.status, told?.error?.message ?? `The server answered ${answer.status}.`);
}

export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const answer = await request(path, signal === undefined ? {} : { signal });
  return (await answer.json()) as Answer;
}

export async function send<Answer>(path: string, body: unknown, method = "POST"): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const answer = await request(path, { method, headers, body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

/** Starts a run and leads to it. */
export async function startRun(kind: RunSummary["kind"], input: string): Promise<void> {
  const { id } = await send<{ id: string }>(kind === "task" ? "tasks" : "runs", { [kind]: input });
  location.hash = `runs/${id}`;
}

/** Follows runs until the signal aborts. */
export async function follow(
  onOpen: () => void,
  onRun: (run: RunSummary) => void,
  signal: AbortSignal,
): Promise<void> {
  const { body } = await request("events", { signal });
  if (body === null) return;
  onOpen();
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const events = `${rest}${text}`.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) onRun(JSON.parse(data) as RunSummary);
    }
  }
}
