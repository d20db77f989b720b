import { CemError } from "@cem/core";
import { Hono } from "hono";
import * as z from "zod";
import type { ApiEnv, ApiRoute } from "./api-route.ts";
import { answerError, errorAnswer } from "./api-status.ts";
import { CATALOG_ROUTES } from "./catalog-routes.ts";
import { HISTORY_ROUTES } from "./history-routes.ts";
import { KEEPING_ROUTES } from "./keeping-routes.ts";
import { RUN_ROUTES } from "./run-routes.ts";

export const ROUTES: readonly ApiRoute[] = [
  ...RUN_ROUTES,
  ...CATALOG_ROUTES,
  ...KEEPING_ROUTES,
  ...HISTORY_ROUTES,
];
const NOT_JSON = "The request has to be JSON, with the header Content-Type: application/json.";

/** The REST API below `/api/v1`. */
export function createApi(): Hono<ApiEnv> {
  const api = new Hono<ApiEnv>().basePath("/api/v1");
  api.use(async ({ req }, next) => {
    // A web page of another origin can't send this type without being asked first whether it may.
    const isJson = /^application\/json(?:;|$)/i.test(req.header("content-type") ?? "");
    if (req.method !== "GET" && !isJson) return errorAnswer(415, "OPTION_INVALID", NOT_JSON);
    await next();
    return undefined;
  });
  for (const route of ROUTES) route.register(api);
  api.onError((error) => {
    if (CemError.isInstance(error)) return answerError(error);
    if (error instanceof SyntaxError) return errorAnswer(400, "OPTION_INVALID", NOT_JSON);
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
