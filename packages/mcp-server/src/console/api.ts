import { CemError } from "@cem/core";
import { Hono } from "hono";
import * as z from "zod";
import { createDocument, type ZodOpenApiPathsObject } from "zod-openapi";
import packageJson from "../../package.json" with { type: "json" };
import { answerError, errorAnswer, type ApiEnv, type ApiRoute } from "./api-route.ts";
import { HISTORY_ROUTES } from "./history-routes.ts";
import { RESOURCE_ROUTES } from "./resource-routes.ts";
import { RUN_ROUTES } from "./run-routes.ts";
import { ErrorAnswer } from "./schemas.ts";

const ROUTES: readonly ApiRoute[] = [...RUN_ROUTES, ...RESOURCE_ROUTES, ...HISTORY_ROUTES];
const NOT_JSON = "The request has to be JSON, with the header Content-Type: application/json.";

/** The REST API below `/api/v1`. */
export function createApi(): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>().basePath("/api/v1");
  api.use(async ({ req }, next) => {
    // A web page of another origin can't send this type without a CORS preflight.
    const isJson = /^application\/json(?:;|$)/i.test(req.header("content-type") ?? "");
    if (req.method !== "GET" && !isJson) return errorAnswer(415, "OPTION_INVALID", NOT_JSON);
    await next();
    return undefined;
  });
  for (const route of ROUTES) route.register(api);
  api.onError((error) => {
    if (CemError.isInstance(error)) return answerError(error);
    if (!(error instanceof z.ZodError)) throw error;
    const issues = error.issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
    return errorAnswer(400, "OPTION_INVALID", `${issues.join("; ")}.`);
  });
  api.notFound(({ req }) =>
    errorAnswer(
      404,
      "OPTION_INVALID",
      `There is nothing at ${req.method} ${req.path}. See /api/openapi.json.`,
    ),
  );
  return api;
}

/** The OpenAPI 3.1 document of the API, made from the schemas that check its requests. */
export function describeApi(): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of ROUTES) {
    const path = `/api/v1${route.path}`;
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Code Execution MCP",
      version: packageJson.version,
      description:
        "Tasks, runs, tools and state of an agent. Personal data is shown as tokens in all answers.",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: ".." }],
    // A server without authorization accepts requests without a token.
    security: [{ bearer: [] }, {}],
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    paths,
  });
}

function operationOf({ operationId, summary, input, status, answer }: ApiRoute) {
  const { params, query, body } = input;
  return {
    operationId,
    summary,
    ...((params !== undefined || query !== undefined) && {
      requestParams: { ...(params && { path: params }), ...(query && { query }) },
    }),
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [`${status}`]: {
        description: summary,
        content: { [answer.type]: { schema: answer.schema } },
      },
      default: { description: "An error.", content: json(ErrorAnswer) },
    },
  };
}

function json(schema: z.ZodType) {
  return { "application/json": { schema } };
}
