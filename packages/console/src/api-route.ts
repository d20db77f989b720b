import type { Context, Hono } from "hono";
import type * as z from "zod";
import type { ConsoleClient, ConsoleParts } from "./ports.ts";
import type { RunBoard } from "./run-board.ts";

/** What the handlers of one request use. */
export interface ApiScope {
  client: ConsoleClient;
  board: RunBoard;
  parts: ConsoleParts;
}

export interface ApiEnv {
  Bindings: ApiScope;
}

/** What is checked of a request. */
interface Input {
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
}

type Checked<Given extends Input> = {
  [Part in keyof Given]: Given[Part] extends z.ZodType ? z.output<Given[Part]> : undefined;
};

/** One operation of the API: its description and what carries it out. */
export interface ApiRoute {
  method: "get" | "post" | "put" | "delete";
  /** As OpenAPI writes it: `/runs/{id}`. */
  path: string;
  operationId: string;
  summary: string;
  input: Input;
  status: 200 | 202;
  answer: { schema: z.ZodType; description: string; type: "application/json" | "text/event-stream" };
  register(api: Hono<ApiEnv>): void;
}

interface Declaration<Given extends Input, Answer extends z.ZodType> extends Pick<
  ApiRoute,
  "method" | "path" | "operationId" | "summary"
> {
  input: Given;
  /** Default: 200. */
  status?: 200 | 202;
  answer: Answer;
  answerDescription: string;
  /** Default: JSON. */
  type?: ApiRoute["answer"]["type"];
  handle: (
    input: Checked<Given>,
    scope: ApiScope,
    signal: AbortSignal,
  ) => Promise<z.input<Answer> | Response> | z.input<Answer> | Response;
}

/** Declares an operation. What a request carries is checked by the schemas that describe it. */
export function declareRoute<Given extends Input, Answer extends z.ZodType>({
  handle,
  answer,
  answerDescription,
  type = "application/json",
  status = 200,
  ...rest
}: Declaration<Given, Answer>): ApiRoute {
  const { input, method, path } = rest;
  return {
    ...rest,
    status,
    answer: { schema: answer, description: answerDescription, type },
    register(api) {
      api.on(method.toUpperCase(), path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
        const answered = await handle(await check(input, context), context.env, context.req.raw.signal);
        return answered instanceof Response ? answered : Response.json(answered, { status });
      });
    },
  };
}

/** @throws ZodError, or SyntaxError for a body that is not JSON. */
async function check<Given extends Input>(
  { params, query, body }: Given,
  { req }: Context<ApiEnv>,
): Promise<Checked<Given>> {
  return {
    params: params?.parse(req.param()),
    query: query?.parse(req.query()),
    body: body?.parse(body === undefined ? undefined : await req.json()),
  } as Checked<Given>;
}
