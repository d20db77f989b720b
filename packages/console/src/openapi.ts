import type * as z from "zod";
import { createDocument } from "zod-openapi";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import packageJson from "../package.json" with { type: "json" };
import { ROUTES } from "./api.ts";
import type { ApiRoute } from "./api-route.ts";
import { ErrorAnswer } from "./schemas.ts";

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
      description: "Tasks, runs, tools and state of an agent. Values of persons are tokens in all answers.",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: ".." }],
    // A server without authorization takes requests without a token.
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
        description: answer.description,
        content: { [answer.type]: { schema: answer.schema } },
      },
      default: { description: "An error.", content: json(ErrorAnswer) },
    },
  };
}

function json(schema: z.ZodType) {
  return { "application/json": { schema } };
}
