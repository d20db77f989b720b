import { forClients, toErrorInfo, type CemError, type RunRecords, type SessionRecord } from "@cem/core";
import type { Hono } from "hono";
import type * as z from "zod";
import type { ServedClient } from "../served-client.ts";
import type { RunBoard } from "./run-board.ts";
import type * as schemas from "./schemas.ts";

/** HTTP statuses of errors, by code. Any other is 400. */
const STATUSES: Readonly<Record<string, number>> = {
  CUSTOMER_UNKNOWN: 403,
  OWNER_GONE: 404,
  CUSTOMER_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  WORKFLOW_RUN_NOT_FOUND: 404,
  SESSIONS_DISABLED: 404,
  SKILL_NOT_FOUND: 404,
  STATE_DISABLED: 404,
  SKILLS_DISABLED: 404,
  STATE_BUSY: 409,
  STATE_CONFLICT: 409,
  INPUT_TOO_LARGE: 413,
  STATE_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  FILES_UNAVAILABLE: 503,
  SERVER_BUSY: 503,
  SERVER_CLOSING: 503,
  STORE_UNAVAILABLE: 503,
  AGENT_DISPOSED: 503,
};

export interface ApiScope {
  client: ServedClient;
  board: RunBoard;
  parts: ConsoleParts;
  body: unknown;
}

export interface ApiEnv {
  Bindings: ApiScope;
}

/** The schemas that check a request. */
interface Input {
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
}

type Checked<Given extends Input> = {
  [Part in keyof Given]: Given[Part] extends z.ZodType ? z.output<Given[Part]> : undefined;
};

export interface ApiRoute {
  method: "get" | "post" | "put" | "delete";
  /** In OpenAPI syntax: `/runs/{id}`. */
  path: string;
  operationId: string;
  summary: string;
  input: Input;
  status: 200 | 202;
  answer: { schema: z.ZodType; type: "application/json" | "text/event-stream" };
  register(api: Hono<ApiEnv>): void;
}

interface Declaration<Given extends Input, Answer extends z.ZodType> extends Pick<
  ApiRoute,
  "operationId" | "summary"
> {
  /** Default: the request has no input. */
  input?: Given;
  /** Default: 200. */
  status?: 200 | 202;
  answer: Answer;
  /** Default: JSON. */
  type?: ApiRoute["answer"]["type"];
  handle: (
    input: Checked<Given>,
    scope: ApiScope,
    signal: AbortSignal,
  ) => Promise<Frozen<z.input<Answer>> | Response> | Frozen<z.input<Answer>> | Response;
}

/**
 * Declares an operation. Requests are checked by the schemas that describe them.
 *
 * @param route - Its method, and its path in OpenAPI syntax.
 */
export function declareRoute<Answer extends z.ZodType, Given extends Input = Input>(
  route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`,
  { handle, answer, type = "application/json", status = 200, input, ...rest }: Declaration<Given, Answer>,
): ApiRoute {
  const [method = "", path = ""] = route.split(" ");
  return {
    ...rest,
    method: method.toLowerCase() as ApiRoute["method"],
    path,
    input: input ?? {},
    status,
    answer: { schema: answer, type },
    register(api) {
      api.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), async ({ req, env }) => {
        const checked = {
          params: input?.params?.parse(req.param()),
          query: input?.query?.parse(req.query()),
          body: input?.body?.parse(env.body),
        } as Checked<Given>;
        const answered = await handle(checked, env, req.raw.signal);
        return answered instanceof Response ? answered : Response.json(answered, { status });
      });
    },
  };
}

export function answerError(error: CemError): Response {
  const { code, message } = forClients(toErrorInfo(error));
  return errorAnswer(STATUSES[code] ?? 400, code, message);
}

export function errorAnswer(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}

/** Deeply read-only data. */
export type Frozen<Data> = Data extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Data extends object
    ? { readonly [Key in keyof Data]: Frozen<Data[Key]> }
    : Data;

/** The stored records that a client may see. Absent ones are hidden from it. */
export interface ConsoleParts {
  records?: Pick<RunRecords, "list" | "read"> | undefined;
  /** The owner of the records to show, if there are records of several clients. */
  owner?: string | undefined;
  /** The logs of sessions. */
  sessions?:
    | {
        list(): Promise<Frozen<schemas.SessionList["sessions"]>>;
        /** @throws CemError `SESSION_NOT_FOUND` */
        read(id: string): Promise<{ session: SessionRecord; recap: string }>;
      }
    | undefined;
  /** Workflows and their runs. */
  workflows?:
    | {
        list(): Promise<Frozen<schemas.WorkflowList["workflows"]>>;
        /** @throws CemError `WORKFLOW_NOT_FOUND` or `WORKFLOW_INVALID` */
        draw(name: string): Promise<Frozen<schemas.WorkflowGraph["steps"]>>;
        runs(): Promise<Frozen<schemas.WorkflowRunList["runs"]>>;
        /** @throws CemError `WORKFLOW_RUN_NOT_FOUND` or `WORKFLOW_RUN_UNREADABLE` */
        run(id: string): Promise<Frozen<Omit<schemas.WorkflowRun, "canResume">>>;
      }
    | undefined;
  /** The customers that a client may see: only itself on a server with customers, all on a server with a single client. */
  customers?:
    | {
        /** Whether the client is itself the only visible customer. */
        isOwn: boolean;
        list(): Promise<Frozen<schemas.CustomerList["customers"]>>;
        /** Removes all data of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
        remove(id: string): Promise<void>;
      }
    | undefined;
  /** The queue with the runs of all customers. */
  queue?: { read(): Promise<Frozen<schemas.QueueFigures>> } | undefined;
  /** Memory limit of a guest, in MiB. */
  guestMemoryMb?: number | undefined;
}
