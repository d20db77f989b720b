import { createRequire } from "node:module";
import type * as Babel from "@babel/core";
import type * as DecoratorsPlugin from "@babel/plugin-proposal-decorators";
import { MAYBE_DECORATED, parseProgram, runWithTimeout, SyncTimeoutError } from "./parse-program.ts";
import type { ParseResult, Program } from "./parse-program.ts";
import { runtimeNodes } from "./syntax-tree.ts";

const TIMEOUT_MS = 5_000;

/** Loaded by the first program that has decorators, which few have. */
const require = createRequire(import.meta.url);

/**
 * Translates decorators and `accessor` of classes, which no engine knows yet, to what engines know. Lines keep their
 * numbers. A program without them stays as it is.
 */
export function withoutDecorators(program: Program): ParseResult {
  if (!hasDecorators(program)) return { ok: true, program };
  const babel = loadBabel();
  if (babel === undefined) {
    const message =
      "Decorators and `accessor` need the packages @babel/core and @babel/plugin-proposal-decorators, which are not installed here. Use functions, get and set instead.";
    return { ok: false, error: { name: "SyntaxError", message } };
  }
  const { transformSync, decorators } = babel;
  try {
    const result = runWithTimeout(
      () =>
        transformSync(program.code, {
          configFile: false,
          babelrc: false,
          retainLines: true,
          compact: false,
          parserOpts: { plugins: ["typescript"], allowReturnOutsideFunction: true },
          plugins: [[decorators, { version: "2023-11" }]],
        }),
      TIMEOUT_MS,
    );
    return parseProgram(result?.code ?? "");
  } catch (error) {
    const message =
      error instanceof SyncTimeoutError
        ? "The decorators take too long to translate. Use functions instead."
        : `The decorators can't be translated: ${(error as Error).message}`;
    return { ok: false, error: { name: "SyntaxError", message } };
  }
}

/** `undefined` where the packages, which few programs need, are not installed. */
function loadBabel() {
  try {
    const { transformSync } = require("@babel/core") as typeof Babel;
    const { default: decorators } = require("@babel/plugin-proposal-decorators") as typeof DecoratorsPlugin;
    return { transformSync, decorators };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

function hasDecorators({ ast, code }: Program): boolean {
  if (!MAYBE_DECORATED.test(code)) return false;
  for (const { node } of runtimeNodes(ast.program))
    if (node.type === "Decorator" || node.type === "ClassAccessorProperty") return true;
  return false;
}
